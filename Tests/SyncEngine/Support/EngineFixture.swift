import Connection
import Glibc
import Logging
import Model
import SyncEngine
import Synchronization
import TestSupport

@testable import Database
@testable import LocalTree
@testable import Vault

/// A vault in a temporary folder, a server in memory, and an engine that connects the two.
struct EngineFixture: Sendable {
    let folder: String
    let vault: Vault
    let tree: Tree
    let source: ScriptedSource
    let clock: TestClock
    let engine: SyncEngine
    /// The folders that the engine asked to have listed again.
    let relisted: Listings
    /// The items that the policies cover.
    let coverage: Coverage

    final class Coverage: Sendable {
        private let isCovered = Mutex<@Sendable (Item, DownloadTrigger) -> Bool?>({ _, _ in true })
        private let taken = Mutex<[DroppedAction]>([])
        private let late = Mutex(0)
        private let changes = Mutex(0)
        /// The actions that were requested and then dropped.
        var dropped: [DroppedAction] { taken.withLock { $0 } }
        /// How often the engine told of downloads that came although nothing covers them any more.
        var uncovered: Int { late.withLock { $0 } }
        func noteUncovered() { late.withLock { $0 += 1 } }
        func drop(_ action: DroppedAction) { taken.withLock { $0.append(action) } }
        func set(_ isCovered: @escaping @Sendable (Item, DownloadTrigger) -> Bool?) {
            self.isCovered.withLock { $0 = isCovered }
            noteChange()
        }
        /// Notes that what the function says has changed.
        func noteChange() { changes.withLock { $0 += 1 } }
        /// The number of times that what is covered was set.
        var version: Int { changes.withLock(\.self) }
        func covers(_ item: Item, _ trigger: DownloadTrigger) -> Bool? { isCovered.withLock { $0 }(item, trigger) }
    }

    final class Listings: Sendable {
        private let state = Mutex<(folders: [ItemPath], then: (@Sendable (ItemPath) async throws -> Void)?)>(([], nil))
        var folders: [ItemPath] { state.withLock { $0.folders } }
        /// Sets the function that carries out each later listing.
        func then(_ body: @escaping @Sendable (ItemPath) async throws -> Void) { state.withLock { $0.then = body } }

        func list(_ folder: ItemPath) async {
            let body = state.withLock { state in
                state.folders.append(folder)
                return state.then
            }
            do { try await body?(folder) } catch { preconditionFailure("\(error)") }
        }
    }

    var database: Database { vault.database }

    struct Partners: EnginePartners {
        let relisted: Listings
        let coverage: Coverage
        var maximums: [DownloadTrigger: Int] = [:]

        func relist(_ folder: ItemPath) async { await relisted.list(folder) }
        func covers(_ item: Item, for requester: DownloadTrigger) -> Bool? { coverage.covers(item, requester) }
        var coverageVersion: Int? { coverage.version }
        func cameUncovered() { coverage.noteUncovered() }
    }

    var partners: Partners { Partners(relisted: relisted, coverage: coverage) }

    /// Runs the engine until the task is cancelled.
    func run() async throws { try await engine.run(with: partners) }

    /// Runs the engine as ``drain(only:)`` does, while moves of the tree are still to come.
    func drainBeforeMoves() async throws -> DrainOutcome { try await engine.drain(only: nil, with: partners) }

    /// Runs the engine until no work is left that can continue soon. The tree follows the moves, as in an account.
    func drain(only records: Set<SyncRecordID>? = nil) async throws -> DrainOutcome {
        while true {
            try await mover.carryOut()
            let outcome = try await engine.drain(only: records, with: partners)
            let before = try await database.read { try $0.moves.all() }
            if before.isEmpty { return outcome }
            try await mover.carryOut()
            if try await database.read({ try $0.moves.all() }) == before { return outcome }
        }
    }

    /// Numbers that no measurement changes.
    static let limits = Limits(connections: 8, downloads: 6, uploads: 3)

    /// Calls `body` with a fixture on a new vault.
    static func with(
        limits: Limits = Self.limits, onConflict: ConflictRules = ConflictRules(),
        _ body: (EngineFixture) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let fixture = try EngineFixture(
                folder: folder, source: ScriptedSource(), limits: limits, onConflict: onConflict)
            try await body(fixture)
            // The vault is already closed if the test opened it again.
            try? fixture.vault.close()
        }
    }

    /// Creates a fixture.
    /// - Parameters:
    ///   - server: The server that the engine uses; nil for the scripted one.
    ///   - time: The engine's clock; nil for the clock on which nothing waits.
    ///   - files: The folder of the copies; nil for the folder in the vault.
    ///   - keepFree: The bytes that downloads leave free.
    ///   - account: The account's name.
    ///   - rooms: The rooms, which engines may share.
    ///   - onConflict: The rules for uploads that meet another version.
    ///   - space: A function that replaces what the system tells of the file system; nil for the system's own answer.
    ///   - sync: A function that replaces the kernel's syncs and returns their result; nil to leave the syncs as they
    ///     are.
    init(
        folder: String, source: ScriptedSource = ScriptedSource(), server: Connection? = nil,
        limits: Limits = Self.limits, time: HostClock? = nil, files: String? = nil, keepFree: Int64? = nil,
        account: String = "home", rooms: DownloadRooms = DownloadRooms(),
        onConflict: ConflictRules = ConflictRules(),
        space: (@Sendable () -> FileSystemSpace?)? = nil, sync: (@Sendable () -> Int32)? = nil
    ) throws {
        self.folder = folder
        self.source = source
        vault = try Vault.open(at: folder + "/vault", files: files)
        tree =
            sync == nil && space == nil
            ? vault.tree : Tree(of: folder + "/vault", hooks: TreeHooks(sync: sync, space: space))
        clock = TestClock.jumping()
        let listings = Listings()
        relisted = listings
        let coverage = Coverage()
        self.coverage = coverage
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let (downloads, changes): (any FileSource, any ChangeServer) =
            if let server { (server.downloads, server.writes) } else { (source, source) }
        engine = SyncEngine(
            account: account, database: vault.database, tree: tree, source: downloads, server: changes,
            isFirstSinceBoot: vault.isFirstSinceBoot, limits: limits, keepFree: keepFree,
            rooms: rooms, onConflict: onConflict, clock: time ?? clock.host,
            callbacks: .init(tell: { if case .dropped(let action) = $0 { coverage.drop(action) } }),
            logger: logger)
        vault.database.setCommitObserver { [weak engine] summary in
            if summary.recordsChanged || summary.changesItems { engine?.wake() }
            engine?.rest(summary.restingRecords)
        }
    }

    /// Opens the other fixture's vault as the next start of the host does. The other fixture's engine is never used
    /// again.
    init(reopening other: EngineFixture) throws {
        try other.vault.close()
        try self.init(folder: other.folder, source: other.source)
    }

    /// Adds a file that the server has. The file is listed and has no local copy.
    @discardableResult
    func addFile(_ path: String, _ text: String = "content", version: String = "v1") async throws -> Item {
        try await addFiles(1, version: version) { _ in (path, text) }[0]
    }

    /// Adds `count` files that the server has. The files are listed and have no local copies.
    func addFiles(
        _ count: Int, version: String = "v1", _ file: (Int) -> (path: String, text: String)
    ) async throws -> [Item] {
        let etag = ETag(opaque: version, strength: .strong)
        let items = try (0..<count).map { number in
            let (name, text) = file(number)
            let path = try ItemPath(name)
            source[path] = .init(bytes: Array(text.utf8), version: etag)
            return Item(
                localID: .random(), fileID: .substitute(for: path), path: path, kind: .file,
                size: Int64(text.utf8.count), etag: etag, lastModified: Timestamp(seconds: 1_600_000_000))
        }
        return try await database.write { tx in try items.map { try tx.items.insert($0) } }
    }

    @discardableResult
    func addFolder(_ path: String) async throws -> Item {
        let path = try ItemPath(path)
        source.changing.addFolder(path)
        return try await database.write { tx in
            try tx.items.insert(Item(localID: .random(), fileID: .substitute(for: path), path: path, kind: .folder))
        }
    }

    /// Requests a change of the server.
    @discardableResult
    func change(_ change: ChangeRequest) async throws -> EnqueueOutcome {
        try await database.write { [engine] tx in try engine.enqueue(.change(change), in: tx) }
    }

    /// Takes a snapshot of a new file with this text, and requests its upload.
    @discardableResult
    func put(_ text: String, _ path: String, replaces: Bool = false) async throws -> EnqueueOutcome {
        let file = folder + "/mine"
        try Files.write(text, to: file, mode: 0o600)
        let snapshot = try TakenSnapshot.take(of: file, into: folder + "/vault/outgoing").0
        return try await change(.put(snapshot, try ItemPath(path), replaces: replaces))
    }

    /// Returns the paths of the items that are not removed, without the root.
    func listed() async throws -> [String] {
        try await database.read { reads in
            var paths: [String] = []
            try reads.items.each(ItemListing(folder: .root, isRecursive: true)) { item in
                paths.append(item.path.text)
                return true
            }
            return paths.sorted()
        }
    }

    /// Returns the names of the snapshots in `outgoing/`.
    func outgoing() throws -> [String] { try Files.names(in: folder + "/vault/outgoing") }

    /// Puts another version of a file on the server. If `isListed` is true, the item records the new version too.
    func change(_ item: Item, _ text: String, version: String, isListed: Bool = true) async throws {
        let etag = ETag(opaque: version, strength: .strong)
        source[item.path] = .init(bytes: Array(text.utf8), version: etag)
        guard isListed else { return }
        try await list(item, size: text.utf8.count, version: etag)
    }

    func list(_ item: Item, size: Int, version: ETag) async throws {
        try await database.write { tx in
            guard var item = try tx.items.item(localID: item.localID) else { return }
            item.etag = version
            item.size = Int64(size)
            try tx.items.update(item)
        }
    }

    @discardableResult
    func ask(
        _ action: ItemAction, _ item: Item, for reason: DownloadTrigger = .user, key: String? = nil,
        whileCovered: Bool = false
    ) async throws -> EnqueueOutcome {
        let outcomes = try await database.write { [engine] tx in
            let request = ActionRequest(
                action, item: item.localID, reason: reason, key: key, whileCovered: whileCovered)
            return try engine.enqueue([request], in: tx)
        }
        return outcomes[0]
    }

    func now(_ item: Item) async throws -> Item {
        let found = try await database.read { try $0.items.item(localID: item.localID) }
        guard let found else { throw SetupError("The item \(item.path) is gone") }
        return found
    }

    /// Returns the item at a path.
    func item(_ path: String) async throws -> Item {
        let path = try ItemPath(path)
        guard let item = try await database.read({ try $0.items.item(at: path) }) else {
            throw SetupError("There is no item at \(path)")
        }
        return item
    }

    /// Carries out the journalled moves of the tree.
    var mover: TreeMover {
        TreeMover(database: database, tree: tree, engine: engine, logger: Logger(label: "test"))
    }

    func records() async throws -> [SyncRecord] {
        try await database.read { reads in
            var records: [SyncRecord] = []
            try reads.journal.each { record in
                records.append(record)
                return true
            }
            return records
        }
    }

    func issues() async throws -> [Issue] { try await database.read { try $0.issues.all() } }

    /// Returns the text of the file at a path in the tree; nil if there is no file.
    func text(_ path: String) throws -> String? {
        let place = tree.localPath(of: ItemPath(unchecked: path))
        return Files.exists(place) && !Files.isFolder(place) ? try Files.text(place) : nil
    }

    func write(_ text: String, to path: String) throws {
        try Files.write(text, to: tree.localPath(of: ItemPath(unchecked: path)), mode: 0o600)
    }

    /// Returns the names of the files in `incoming/`.
    func incoming() throws -> [String] { try Files.names(in: folder + "/vault/incoming") }
}

extension Tree {
    /// Creates a second tree on a vault's folders.
    fileprivate convenience init(of vault: String, hooks: TreeHooks) {
        func folder(_ path: String) -> OpenFolder {
            OpenFolder(Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
        }
        self.init(
            root: vault + "/files", folder: folder(vault + "/files"),
            staging: StagingFolders(below: folder(vault), in: ""), reservesDotLarder: false,
            clock: { .now() }, hooks: hooks)
    }
}

extension SyncEngine {
    /// Takes in requests for actions on items.
    @discardableResult
    func enqueue(_ requests: [ActionRequest], in tx: Transaction) throws -> [EnqueueOutcome] {
        try requests.map { try enqueue(.action($0), in: tx) }
    }
}

extension TestClock {
    /// Makes a clock on which a sleep of at most 10 s ends at once, at the time that the sleeper asked for. Nothing
    /// waits, and the clock records every sleep. A sleep of more than 10 s, which a single run does not wait for, ends
    /// when the test has moved the clock that far.
    static func jumping() -> TestClock { TestClock { $0 > .seconds(10) ? .untilDue : .passes } }
}
