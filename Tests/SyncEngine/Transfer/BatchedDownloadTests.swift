import Connection
import Database
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import LocalTree
@testable import SyncEngine

/// Downloads in batches beside the same downloads one by one: both must end alike.
struct BatchedDownloadTests {
    /// What happens while a file is being fetched.
    enum Event: CaseIterable {
        case nothing, itemRemoved, itemMoved, newVersionListed, recordTakenAway, fileInPlace, folderInPlace,
            equalFileInPlace
        case joined, nothingCovers, stillCovered, uncovered, syncFails, paused
        case removedCopyInPlace, removedCopyAbove, removedCopyBelow, removedCopyElsewhere

        /// The path of a removed item whose copy is still here.
        func removedCopy(_ path: ItemPath) -> ItemPath? {
            switch self {
            case .removedCopyInPlace: path
            case .removedCopyAbove: path.parent
            case .removedCopyBelow: ItemPath(unchecked: "\(path)/x")
            case .removedCopyElsewhere: ItemPath(unchecked: "/gone")
            default: nil
            }
        }
    }

    /// What is left when all is done.
    private struct End: Equatable, CustomStringConvertible {
        var items: [String] = []
        var texts: [String?] = []
        var records: [String] = []
        var issues: [String] = []
        var incoming: Int
        var uncovered: Int
        var done: Int

        var description: String { "\(items) \(texts) \(records) \(issues) \(incoming) \(uncovered) \(done)" }
    }

    private func end(_ fixture: EngineFixture, _ names: [String]) async throws -> End {
        var end = End(
            incoming: try fixture.incoming().count, uncovered: fixture.coverage.uncovered,
            done: fixture.engine.progress.filesDone)
        end.items = try await fixture.database.read { reads in
            var items: [String] = []
            try reads.items.each(ItemListing(folder: .root, isRecursive: true, includesRemoved: true)) { item in
                items.append(
                    "\(item.path) \(item.cloudStatus) \(item.etag?.opaque ?? "-") \(item.copy?.etag.opaque ?? "-") "
                        + "\(item.copy?.digest.count ?? 0) \(item.downloadTrigger?.text ?? "-") "
                        + "\(item.formerTrigger?.text ?? "-") \(item.syncActivity.rawValue) \(item.lastUsed == nil) "
                        + "\(item.isRemoved)")
                return true
            }
            return items.sorted()
        }
        end.texts = try names.map { try fixture.text($0) }
        end.records = try await fixture.records().map { "\($0.path) \($0.action.kind) \($0.state) \($0.wait != nil)" }
        end.issues = try await fixture.issues().map { "\($0.code) \($0.subject)" }
        return end
    }

    /// Runs a course, in which something happens at the first request for `/d/1`.
    /// - Parameter isBefore: Whether it happens before anything is asked for.
    private func course(
        _ event: Event, isBefore: Bool = false, inBatches: Bool
    ) async throws -> (end: End, batched: Int) {
        try await withTemporaryFolder { folder in
            let syncs = Counter()
            let fails = Counter()
            let source = ScriptedSource(takesBatches: inBatches)
            var sync: (@Sendable () -> Int32)?
            if event == .syncFails { sync = { syncs.next() == 1 ? -1 : 0 } }
            // One after the other, so that both courses do the same before and after what happens.
            let fixture = try EngineFixture(
                folder: folder, source: source, limits: Limits(downloads: 1), sync: sync)
            let names = (0..<5).map { "/d/\($0)" }
            var items: [Item] = []
            for name in names { items.append(try await fixture.addFile(name, "text of \(name)")) }
            let second = items[1]
            let requests = Counter()
            source.each { [fixture] request in
                guard !isBefore, request.path == second.path, requests.next() == 1 else { return }
                Self.happen(event, to: second, fixture, fails)
            }
            if isBefore { Self.happen(event, to: second, fixture, fails) }
            for item in items { try await fixture.ask(.download, item, for: .availableOffline, whileCovered: true) }
            _ = try await fixture.drain()
            fixture.engine.setOnline(true)
            _ = try await fixture.drain()
            #expect(fails.count == 0)
            let end = try await self.end(fixture, names + ["/d/moved"])
            let batched = source.batchedCount
            try fixture.vault.close()
            return (end, batched)
        }
    }

    private final class Counter: Sendable {
        private let state = Mutex(0)
        func next() -> Int {
            state.withLock { count in
                count += 1
                return count
            }
        }
        var count: Int { state.withLock(\.self) }
    }

    private static func insertRemovedCopy(_ event: Event, _ path: ItemPath, in tx: Transaction) throws {
        guard let path = event.removedCopy(path) else { return }
        var other = Item(localID: .random(), fileID: FileID("gone"), path: path, kind: .file)
        other.removedAt = Timestamp(seconds: 1_600_000_001)
        other.cloudStatus = .localCopy
        try tx.items.insert(other)
    }

    private static func happen(_ event: Event, to item: Item, _ fixture: EngineFixture, _ fails: Counter) {
        let place = fixture.tree.localPath(of: item.path)
        do {
            switch event {
            case .nothing, .syncFails: break
            case .itemRemoved:
                try fixture.database.writeBlocking { tx in
                    guard var item = try tx.items.item(localID: item.localID) else { return }
                    item.removedAt = Timestamp(seconds: 1_600_000_001)
                    try tx.items.update(item)
                }
            case .itemMoved:
                let path = ItemPath(unchecked: "/d/moved")
                fixture.source[path] = fixture.source[item.path]
                try fixture.database.writeBlocking { tx in
                    guard let item = try tx.items.item(localID: item.localID) else { return }
                    _ = try tx.items.move(item, to: path)
                }
            case .newVersionListed:
                let etag = ETag(opaque: "v2", strength: .strong)
                fixture.source[item.path] = .init(bytes: Array("newer".utf8), version: etag)
                try fixture.database.writeBlocking { tx in
                    guard var item = try tx.items.item(localID: item.localID) else { return }
                    (item.etag, item.size) = (etag, 5)
                    try tx.items.update(item)
                }
            case .recordTakenAway:
                let record = try fixture.database.readBlocking { try $0.journal.records(of: item.localID).first }
                guard let record else {
                    _ = fails.next()
                    return
                }
                try fixture.database.writeBlocking { [engine = fixture.engine] tx in
                    try engine.context.records.deschedule(record, in: tx)
                }
            case .fileInPlace:
                try Files.makeFolder(fixture.tree.localPath(of: item.path.parent))
                try Files.write("a person's", to: place, mode: 0o600)
            case .equalFileInPlace:
                try Files.makeFolder(fixture.tree.localPath(of: item.path.parent))
                try Files.write("text of \(item.path)", to: place, mode: 0o600)
            case .folderInPlace: try Files.makeFolder(place)
            case .joined:
                try fixture.database.writeBlocking { [engine = fixture.engine] tx in
                    let request = ActionRequest(.download, item: item.localID, reason: .user)
                    _ = try engine.enqueue([request], in: tx)
                }
            case .nothingCovers:
                fixture.coverage.set { _, _ in false }
                fixture.engine.policiesChanged()
            // The engine hears of the policies only when the files are in place.
            case .stillCovered: fixture.coverage.noteChange()
            case .uncovered: fixture.coverage.set { other, _ in other.localID != item.localID }
            case .removedCopyInPlace, .removedCopyAbove, .removedCopyBelow, .removedCopyElsewhere:
                try fixture.database.writeBlocking { try insertRemovedCopy(event, item.path, in: $0) }
            case .paused: fixture.engine.setOnline(false)
            }
        } catch {
            _ = fails.next()
        }
    }

    @Test(
        "S53: whatever happens while small files are fetched in a batch, all ends as for single files",
        arguments: Event.allCases)
    func alike(_ event: Event) async throws {
        let (alone, none) = try await course(event, inBatches: false)
        let (together, some) = try await course(event, inBatches: true)
        #expect(none == 0 && some > 0)
        if event == .nothingCovers {
            // What had arrived may be in place before the engine takes back what nothing covers. Then it is told.
            for end in [alone, together] {
                #expect(end.records == [] && end.issues == [] && end.incoming == 0)
                #expect(end.texts.allSatisfy { $0 == nil } || end.uncovered > 0, "\(end)")
            }
        } else {
            #expect(alone == together)
        }
    }

    @Test(
        "S53: a copy of a removed item keeps from a batch what is at, above or below its place, and nothing else",
        arguments: Event.allCases.filter { $0.removedCopy(.root) != nil })
    func removedCopies(_ event: Event) async throws {
        let (alone, none) = try await course(event, isBefore: true, inBatches: false)
        let (together, some) = try await course(event, isBefore: true, inBatches: true)
        #expect(none == 0 && alone == together)
        #expect(some == (event == .removedCopyElsewhere ? 5 : event == .removedCopyAbove ? 0 : 4))
    }
}
