import Core
import Database
import DemoServer
import FoundationEssentials
import ItemList
import LocalTree
import Model
import SyncEngine
import Synchronization
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

/// A running account in this process: a server, the host, the built plugins, and the folder of the local copies.
final class AccountFixture {
    let server: TestServer
    let log = CollectedLog()
    let clock: TestClock
    /// The credentials that the host logs in with. The host asks for them whenever it needs them.
    let secret: Secret
    var bookmark: Bookmark
    var settings: Settings
    private(set) var host: AccountHost
    private var process: HostProcess
    private var hasRun = false

    /// The account's credentials, and the number of times that the host asked for them.
    final class Secret: Sendable {
        private let values: Mutex<(credentials: Credentials, writing: Int, asked: Int)>

        init(_ credentials: Credentials) { values = Mutex((credentials, 0, 0)) }

        var asked: Int { values.withLock { $0.asked } }
        /// Writes the credentials to their source, possibly unchanged.
        func set(_ credentials: Credentials) {
            values.withLock { values in
                values.credentials = credentials
                values.writing += 1
            }
        }

        fileprivate func get() -> AccountSecret {
            values.withLock { values in
                values.asked += 1
                return AccountSecret(values.credentials, writing: "\(values.writing)")
            }
        }
    }

    private init(server: TestServer, folder: String, settings: Settings, clock: TestClock) async throws {
        self.server = server
        self.clock = clock
        secret = Secret(.basic(username: server.configuration.user, password: server.configuration.password))
        self.settings = settings
        bookmark = Bookmark(
            name: "test", url: server.folderURL, username: server.configuration.user, vault: "\(folder)/vault",
            files: "\(folder)/vault/files")
        (process, host) = try await Self.open(bookmark, secret, settings, clock, log)
    }

    private static func open(
        _ bookmark: Bookmark, _ secret: Secret, _ settings: Settings, _ clock: TestClock, _ log: CollectedLog
    ) async throws -> (HostProcess, AccountHost) {
        let process = try makeProcess(settings, clock, log)
        do {
            return (process, try await process.open(bookmark) { secret.get() })
        } catch {
            try await process.close()
            throw error
        }
    }

    /// Makes a process of its own with the account's settings. The test closes it.
    func makeProcess() throws -> HostProcess { try Self.makeProcess(settings, clock, log) }

    private static func makeProcess(_ settings: Settings, _ clock: TestClock, _ log: CollectedLog) throws -> HostProcess
    {
        var settings = settings
        // Most tests are about files and count requests.
        for loop in ["core-loop", "calendar-loop", "share-loop"].map(PluginID.init(shortOrFull:))
        where !settings.plugins.contains(where: { $0.id == loop }) {
            settings.plugins.append(PluginSettings(id: loop, isEnabled: false))
        }
        return HostProcess(
            settings: settings,
            options: HostOptions(
                clock: clock.host, logger: log.logger, builtInPlugins: try plugins(),
                probe: [try Build.larder, "__probe"], person: { "ada" }))
    }

    /// Returns the folder of the built plugins.
    static func plugins() throws -> String {
        let build = ProcessInfo.processInfo.environment["LARDER_TEST_PLUGINS"] ?? "\(Build.root)/.build/debug"
        guard Files.exists("\(build)/libAvailableOffline.so") else {
            throw SetupError("no plugins in \(build): run `swift build` first, or set LARDER_TEST_PLUGINS")
        }
        return build
    }

    static func running(
        _ manner: Manner = Manner(), settings: Settings = Settings(), clock: TestClock = .account(),
        isolation: isolated (any Actor)? = #isolation, _ body: (AccountFixture) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        configuration.manner = manner
        try await withTemporaryFolder { folder in
            try await TestServer.running(configuration) { server in
                let fixture = try await AccountFixture(server: server, folder: folder, settings: settings, clock: clock)
                do {
                    try await body(fixture)
                } catch {
                    print(fixture.log.messages.joined(separator: "\n"))
                    await fixture.host.letGo()
                    throw error
                }
                try await fixture.close()
            }
        }
    }

    func close() async throws {
        try await host.close()
        try await process.close()
    }

    /// Ends the host and starts a new host with the current settings.
    func restart() async throws {
        try await close()
        try await start()
    }

    /// Starts a host after ``close()``.
    func start() async throws {
        (process, host) = try await Self.open(bookmark, secret, settings, clock, log)
        hasRun = false
    }

    /// Returns a host for one run, and empties the request log. If the host has already run, the fixture restarts it.
    func ready() async throws -> AccountHost {
        if hasRun { try await restart() }
        hasRun = true
        server.forgetRequests()
        return host
    }

    // MARK: What a person does

    @discardableResult func pin(_ path: String) async throws -> Pins.Outcome {
        try await host.perform(Pins.Add(ItemPath(unchecked: path)))
    }

    @discardableResult func unpin(_ path: String) async throws -> [ItemPolicy] {
        try await host.perform(Pins.Remove(ItemPath(unchecked: path)))
    }

    /// Requests a download as a person does.
    @discardableResult func download(_ path: String) async throws -> EnqueueOutcome {
        let item = try #require(try await item(path))
        let engine = host.engine
        return try await host.database.write { tx in
            try engine.enqueue(.action(.init(.download, item: item.localID, reason: .user)), in: tx)
        }
    }

    /// Writes a file on the server, with a modification time long before any listing.
    func put(_ path: String, _ text: String) { server.tree.put(path, text, modified: 1_700_000_000) }

    /// Brings the account up to date once, as `larder run --once` does.
    @discardableResult func run() async throws -> RunOutcome { try await ready().runOnce() }

    /// Makes a run that is expected to succeed.
    func runWell(_ place: SourceLocation = #_sourceLocation) async throws {
        let outcome = try await run()
        let problems = outcome.failures.map(\.message) + outcome.issues.map(\.message)
        #expect(problems == [], "\(log.messages.suffix(40))", sourceLocation: place)
        #expect(outcome.leftCount == 0, sourceLocation: place)
    }

    /// Makes a run that is expected to fail in part.
    @discardableResult func runBadly(_ place: SourceLocation = #_sourceLocation) async throws -> RunOutcome {
        let outcome = try await run()
        #expect(outcome.worst != nil, "\(log.messages.suffix(40))", sourceLocation: place)
        return outcome
    }

    // MARK: What came of it

    func item(_ path: String) async throws -> Item? {
        try await host.database.read { try $0.items.item(at: ItemPath(unchecked: path)) }
    }

    func policies() async throws -> [ItemPolicy] {
        try await host.database.read { try $0.policies.all(kind: .availableOffline) }
    }

    func issues() async throws -> [Model.Issue] { try await host.database.read { try $0.issues.all() } }

    /// Returns the records of the journal.
    func records() async throws -> [SyncRecord] {
        try await host.database.read { tx in
            var records: [SyncRecord] = []
            try tx.journal.each { journal in
                records.append(journal)
                return true
            }
            return records
        }
    }

    /// Returns the path of an item's local copy.
    func local(_ path: String) -> String { bookmark.files + path }

    func text(_ path: String) throws -> String { try Files.text(local(path)) }

    /// Returns everything in the folder of local copies, as `/a/` and `/a/b`, sorted.
    func tree() throws -> [String] {
        var found: [String] = []
        func walk(_ folder: String) throws {
            for name in try Files.names(in: local(folder)) {
                let isFolder = Files.isFolder(local("\(folder)/\(name)"))
                found.append("\(folder)/\(name)\(isFolder ? "/" : "")")
                if isFolder { try walk("\(folder)/\(name)") }
            }
        }
        try walk("")
        return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns the paths of the requests with a method since the last run began.
    func requests(_ method: String) -> [String] { server.requests.filter { $0.method == method }.map(\.path) }
    var downloads: [String] { requests("GET").filter { !$0.hasSuffix(".php") && !$0.hasPrefix("/ocs") } }
    var listings: [String] { requests("PROPFIND") }
}

extension AccountHost {
    /// Closes the account after a test has failed. An error of closing is only printed, since it no longer matters.
    fileprivate func letGo() async {
        do { try await close() } catch { print("\(error)") }
    }
}

extension PolicyAuthor {
    /// An author for tests in which the author does not matter.
    static let somebody = PolicyAuthor.person("somebody", at: Timestamp(seconds: 1))
}
