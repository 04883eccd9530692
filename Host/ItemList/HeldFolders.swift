import Connection
import Database
import Model
import Synchronization

/// The folders of a scan that hold entries. An entry whose item was elsewhere is held until the place where the item was
/// has been listed: the item has moved only if it is gone from there. Some servers list one id at several places.
struct HeldFolders: Sendable {
    private(set) var merges: [FolderMerge] = []
    /// The folders that were listed for this reason alone, so that none is listed twice.
    private var asked: Set<ItemPath> = []

    var isEmpty: Bool { merges.isEmpty }

    mutating func add(_ result: FolderMerge.Result) {
        if let held = result.held { merges.append(held) }
    }

    /// Tells whether a folder is listed only because an item may still be in it.
    func waits(for folder: ItemPath) -> Bool { asked.contains(folder) }

    /// Takes the result of the decision about all entries, as far as there is one.
    /// - Returns: The folders to list before the others are decided about.
    mutating func decided(_ results: [FolderMerge.Result]) -> [ScanJob] {
        merges = []
        var places: Set<ItemPath> = []
        for result in results {
            add(result)
            places.formUnion(result.unknownPlaces)
        }
        let new = places.subtracting(asked)
        asked.formUnion(new)
        return new.sorted().map { ScanJob(path: $0, isWhole: false) }
    }
}

extension ItemListUpdate {
    /// Decides about the entries that are held, after all other folders were listed.
    /// - Returns: The folders to list now: below what was found, and where an item may still be.
    func decide(
        _ held: inout HeldFolders, _ writer: MergeWriter, _ outcome: inout Outcome
    ) async throws -> [ScanJob] {
        guard !held.isEmpty else { return [] }
        let results = Mutex<[FolderMerge.Result]>([])
        try await writer.write { [merges = held.merges] tx in
            let decided = try merges.map { try $0.decideHeld(in: tx) }
            results.withLock { $0 = decided }
        }
        let decided = results.withLock { $0 }
        if decided.contains(where: \.movesTree) { try await carryOutMoves() }
        if decided.contains(where: \.changed) { outcome.changed = true }
        return decided.flatMap(\.jobs) + held.decided(decided)
    }
}

/// The folders that a scan has listed completely.
final class ListedFolders: Sendable {
    private let paths = Mutex<Set<ItemPath>>([])
    private let wantedPaths = Mutex<Set<ItemPath>>([])

    /// The folders that a reader wanted, and that were listed or are not there.
    var wanted: Set<ItemPath> { wantedPaths.withLock { $0 } }

    func noteWanted(_ path: ItemPath) { wantedPaths.withLock { _ = $0.insert(path) } }
    func insert(_ path: ItemPath) { paths.withLock { _ = $0.insert(path) } }
    func contains(_ path: ItemPath) -> Bool { paths.withLock { $0.contains(path) } }
}
