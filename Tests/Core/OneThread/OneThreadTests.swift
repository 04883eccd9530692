import Connection
import FoundationEssentials
import Logging
import Model
import TestSupport
import Testing
import Threads

@testable import Connection
@testable import Core

/// Tests of an account whose clock, random numbers, server and thread belong to the test. Everything happens in an
/// order that a seed determines.
@Suite struct OneThreadTests {
    /// The results of an account's course.
    struct Course: Equatable {
        var requests: [String]
        var steps: Int
        var problems: [String]
    }

    private static let seed = SeededGenerator().seed

    @Test(
        "Whatever happens in which order, a run ends, no copy is what the server never had, and in the end all is here")
    func courses() async throws {
        for round in 0..<UInt64(SeededGenerator.rounds(usually: 10)) {
            let seed = Self.seed &+ round
            let course = try await Self.course(seed)
            #expect(course.problems.isEmpty, "LARDER_TEST_SEED=\(seed) LARDER_TEST_ROUNDS=1 shows it")
        }
    }

    @Test("The same seed makes the same requests at the same times, another one others")
    func repeated() async throws {
        for number in 0..<UInt64(4) {
            let seed = Self.seed &+ number
            let (first, again) = (try await Self.course(seed), try await Self.course(seed))
            #expect(first == again, "LARDER_TEST_SEED=\(seed)")
            #expect(try await Self.course(seed &+ 1).requests != first.requests)
        }
    }

    /// Makes some runs of an account against a server that fails and changes meanwhile, and a last run against a server
    /// that does neither.
    private static func course(_ seed: UInt64) async throws -> Course {
        try await onThread {
            try withTemporaryFolder { folder in
                let executor = SeededExecutor(seed: seed)
                let server = SeededServer(executor)
                for number in 0..<(5 + executor.random() % 25) {
                    server.put(["/", "/a/", "/a/b/", "/c/"][Int(executor.random() % 4)] + "\(number)")
                }
                let account = try OneThreadAccount(folder, server, executor, hasPlugins: executor.happens(onceIn: 2))
                let problems = try executor.run {
                    var problems: [String] = []
                    for _ in 0..<(1 + executor.random() % 4) {
                        problems += try await account.work()
                        try await executor.clock.sleep(.seconds(Int64(executor.random() % 4_000)))
                    }
                    server.improve()
                    // No wait is longer than a day.
                    try await executor.clock.sleep(.seconds(86_400))
                    return problems + (try await account.finish())
                }
                return Course(requests: server.requests, steps: executor.steps, problems: problems)
            }
        }
    }
}

/// An account for which a person requests downloads and, with plugins, pins.
struct OneThreadAccount: Sendable {
    private let bookmark: Bookmark
    private let server: SeededServer
    private let executor: SeededExecutor
    private let hasPlugins: Bool
    private let settings: Settings
    private let options: HostOptions

    init(_ folder: String, _ server: SeededServer, _ executor: SeededExecutor, hasPlugins: Bool) throws {
        self.hasPlugins = hasPlugins
        var settings = Settings()
        // These loops send requests of their own. Other tests cover them, with a server of their own.
        settings.plugins = ["core-loop", "calendar-loop", "share-loop"].map {
            PluginSettings(id: PluginID(shortOrFull: $0), isEnabled: false)
        }
        self.settings = settings
        self.server = server
        self.executor = executor
        bookmark = Bookmark(
            name: "test", url: "http://localhost\(SeededServer.root)", username: "ada", vault: "\(folder)/vault",
            files: "\(folder)/files")
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var options = HostOptions(
            clock: executor.clock, logger: logger, builtInPlugins: hasPlugins ? try AccountFixture.plugins() : folder,
            probe: [try Build.larder, "__probe"], person: { "ada" })
        options.connect = { bookmark, secret, limits, bandwidth, clock, logger in
            Connection(
                bookmark: bookmark, credentials: secret.credentials, limits: limits, bandwidth: bandwidth, clock: clock,
                logger: logger, timeLimits: TimeLimits(), transport: server)
        }
        self.options = options
    }

    private func withHost<Value: Sendable>(_ body: (AccountHost) async throws -> Value) async throws -> Value {
        let process = HostProcess(settings: settings, options: options)
        let host = try await process.open(bookmark) {
            AccountSecret(.basic(username: "ada", password: "secret"), writing: "1")
        }
        let value = try await body(host)
        try await host.close()
        try await process.close()
        return value
    }

    /// Makes a run, before which a person makes some requests.
    /// - Returns: the problems that must never occur.
    func work() async throws -> [String] {
        try await withHost { host in
            await ask(host, whileRunning: false)
            // Some runs are cancelled before they are done.
            let limit = executor.happens(onceIn: 3) ? Duration.milliseconds(Int64(executor.random() % 2_000)) : nil
            async let run = host.runOnce(timeout: limit)
            // The person makes more requests during the run.
            await ask(host, whileRunning: true)
            _ = await run
            return wrongCopies()
        }
    }

    /// Makes a person's requests for some of the files.
    private func ask(_ host: AccountHost, whileRunning: Bool) async {
        for path in server.files.keys.sorted() where executor.happens(onceIn: 3) {
            if whileRunning { try? await executor.clock.sleep(.milliseconds(Int64(executor.random() % 300))) }
            // The item may not be known yet, or may already be pinned.
            let path = ItemPath(unchecked: path)
            if hasPlugins, executor.happens(onceIn: 3) {
                _ = try? await host.perform(Pins.Add(executor.happens(onceIn: 2) ? path : path.parent))
            } else if hasPlugins, executor.happens(onceIn: 4) {
                _ = try? await host.perform(Pins.Remove(path))
            } else if executor.happens(onceIn: 4) {
                _ = try? await host.perform(Copies.Free(path))
            } else {
                // Before a run, nothing is fetched: the run is to do that.
                let waits = whileRunning && executor.happens(onceIn: 2)
                _ = try? await host.perform(Copies.Get(path, waits: waits))
            }
        }
    }

    /// Makes a run, then fetches everything that is not here.
    /// - Returns: the problems that were found.
    func finish() async throws -> [String] {
        var problems = try await withHost { host in
            let outcome = await host.runOnce()
            return outcome.failures.map { "the last run: \($0.message)" }
        }
        problems += try await withHost { host in
            guard hasPlugins else {
                let outcome = try await host.perform(Copies.Get(.root, waits: true))
                return outcome.failures.map { "the last get: \($0.message)" }
                    + (outcome.waiting > 0 ? ["something waits"] : [])
            }
            // An earlier run may already have added this pin.
            _ = try? await host.perform(Pins.Add(.root))
            let outcome = await host.runOnce()
            return outcome.failures.map { "the run with all pinned: \($0.message)" }
                + (outcome.leftCount > 0 ? ["something is left"] : [])
        }
        for (path, text) in server.files {
            let here = try? Files.text(bookmark.files + path)
            if here != text { problems.append("\(path) is \(here == nil ? "not here" : "an older one")") }
        }
        let left = (try? Files.names(in: bookmark.vault + "/incoming")) ?? []
        return problems + wrongCopies() + left.map { "left in incoming: \($0)" }
    }

    /// Returns the copies whose content the server never had at their paths.
    private func wrongCopies() -> [String] {
        var wrong: [String] = []
        func look(in folder: String) {
            for name in (try? Files.names(in: bookmark.files + folder)) ?? [] where name != ".larder" {
                let path = "\(folder)/\(name)"
                if Files.isFolder(bookmark.files + path) {
                    look(in: path)
                } else if let text = try? Files.text(bookmark.files + path), !server.hasServed(text, at: path) {
                    wrong.append("\(path) holds what the server never had there")
                }
            }
        }
        look(in: "")
        return wrong
    }
}
