import DemoServer
import FoundationEssentials
import Glibc
import Synchronization
import TestServer
import TestSupport
import Testing

/// A mixed workload whose processes are killed at random moments, beside the same commands without a kill.
///
/// A relay before the server kills the process at a random piece of what passes, before the piece is passed on or up to
/// some milliseconds after it. A kill counts if a record was being carried out.
///
///     LARDER_TEST_ROUNDS=200 ./Tests/run --filter KilledChangesTests/host
@Suite(.serialized) struct KilledChangesTests {
    private static let places = Place.chosen(usually: [.apache])

    /// The number of kills is `LARDER_TEST_ROUNDS`.
    @Test(
        "S24, S40: killed at random moments, a host ends as an undisturbed one does", .timeLimit(.minutes(120)),
        arguments: Self.places)
    func host(_ place: Place) async throws {
        try await compare(place) { course in try await course.runHosted() }
    }

    /// The number of kills is `LARDER_TEST_ROUNDS`.
    @Test(
        "S24, S40: commands that are killed while they wait for the server end as undisturbed ones do",
        .timeLimit(.minutes(120)), arguments: Self.places)
    func commands(_ place: Place) async throws {
        try await compare(place) { course in try await course.runAlone() }
    }

    private func compare(_ place: Place, _ run: (Course) async throws -> Void) async throws {
        let random = SeededGenerator()
        let seed: Comment = "LARDER_TEST_SEED=\(random.seed)"
        try await withTemporaryFolder { folder in
            try await place.withService("\(folder)/killed-data") { killed in
                try await place.withService("\(folder)/still-data") { still in
                    try await Relay.running(to: killed.port) { relay in
                        let course = Course(
                            try killed.account(in: "\(folder)/killed", at: relay.port), relay,
                            Workload(random, hasFavorites: place == .testServer, deletesFolders: place != .nginx),
                            random, kills: SeededGenerator.rounds(usually: 4))
                        try await course.must("run", "--once")
                        let start = ContinuousClock.now
                        try await run(course)
                        print(
                            "\(place): \(course.counted) kills counted of \(course.sent), \(course.commands) commands,",
                            "\(ContinuousClock.now - start)")
                        #expect(course.counted >= course.kills, seed)

                        let undisturbed = try still.account(in: "\(folder)/still", at: still.port)
                        #expect(try await undisturbed.larder("run", "--once").exitCode == 0)
                        for batch in course.batches {
                            for command in batch {
                                let code = try await undisturbed.carryOut(command, isQueued: true)
                                #expect(code.exitCode == 0, "\(command): \(code.summary) \(seed)")
                            }
                            try await undisturbed.runOnce(seed)
                        }
                        for account in [course.account, undisturbed] {
                            for _ in 0..<2 { try await account.runOnce(seed) }
                        }
                        expectEqual(
                            try await killed.content(), try await still.content(), "the servers", seed,
                            after: course.batches)
                        let (one, other) = (try await course.account.end(), try await undisturbed.end())
                        for (part, lines) in one {
                            expectEqual(
                                lines, other[part] ?? [], part, seed, after: course.batches,
                                logs: [course.account.log, undisturbed.log])
                        }
                        for part in ["records", "issues", "outgoing", "incoming"] {
                            #expect(one[part] == [], "\(part): \(seed)")
                        }
                    }
                }
            }
        }
    }

    private func expectEqual(
        _ one: [String], _ other: [String], _ what: String, _ seed: Comment, after commands: [[Workload.Command]],
        logs: [String] = []
    ) {
        guard one != other else { return }
        let difference = one.difference(from: other).map { change in
            switch change {
            case .insert(_, let line, _): "killed: \(line)"
            case .remove(_, let line, _): "undisturbed: \(line)"
            }
        }
        let path = difference.first?.split(separator: "\"").first { $0.hasPrefix("/") }
        let told = logs.flatMap { log in
            let lines = (try? Files.text(log))?.split(separator: "\n") ?? []
            return ["\(log):"] + lines.filter { line in path.map(line.contains) ?? false }.suffix(100)
        }
        Issue.record(
            """
            \(what): \(difference.prefix(40).joined(separator: "\n"))
            \(seed)
            \(commands)
            \(told.joined(separator: "\n"))
            """)
    }
}

/// A server for a workload.
enum Place: String, CaseIterable, Sendable {
    case apache, rclone, wsgidav, nginx, testServer

    /// Returns the server that `LARDER_TEST_SERVER` names, or all if it is `all`.
    /// - Parameter usual: The servers without that variable.
    static func chosen(usually usual: [Place]) -> [Place] {
        guard let name = getenv("LARDER_TEST_SERVER").map({ String(cString: $0) }) else { return usual }
        return name == "all" ? allCases : Place(rawValue: name).map { [$0] } ?? usual
    }

    /// What a workload needs of its server.
    struct Service {
        let port: UInt16
        let user: String
        let password: String
        /// Returns what the server holds, a line for each file and folder.
        let content: () async throws -> [String]

        /// Makes an account that reaches the server at a port.
        func account(in folder: String, at port: UInt16) throws -> Account {
            try Account(
                in: folder, url: "http://127.0.0.1:\(port)/", user: user, password: password,
                settings: ["poll: 1s", "walk: 1s", "plugins: { vacuum: { after: 0s } }"])
        }
    }

    /// Runs a server with the files with which workloads begin.
    func withService(_ data: String, _ body: (Service) async throws -> Void) async throws {
        guard let program = RealServer.Program(rawValue: rawValue) else {
            return try await TestServer.running { server in
                for file in Workload.files { server.tree.put("/\(file)", file, modified: 1_600_000_000) }
                let (user, password) = (server.configuration.user, server.configuration.password)
                try await body(
                    Service(port: UInt16(server.port), user: user, password: password) {
                        server.tree.paths.map { "\($0) \(ContentLine.of(server.tree.bytes(of: $0)))" }
                    })
            }
        }
        for file in Workload.files {
            try Files.write(file, to: "\(data)/\(file)")
            let time = timeval(tv_sec: 1_600_000_000, tv_usec: 0)
            guard utimes("\(data)/\(file)", [time, time]) == 0 else {
                throw SetupError("cannot set the time of \(file)")
            }
        }
        try await withServer(program, data: data, options: Account.withLogin) { server in
            try await body(
                Service(port: server.port, user: Account.login.name, password: Account.login.password) {
                    try await ContentLine.all(below: data)
                })
        }
    }
}

/// The lines by which the contents of two trees are compared.
private enum ContentLine {
    static func of(_ bytes: [UInt8]?) -> String {
        guard let bytes else { return "folder" }
        let sum = bytes.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "\(bytes.count) \(sum)"
    }

    /// Returns the lines of a folder, without Apache's own folders.
    static func all(below folder: String) async throws -> [String] {
        let list = try await mustRun(
            "find", [folder, "-mindepth", "1", "-not", "-path", "*/.DAV*", "-printf", "%y %P\\n"])
        return try list.split(separator: "\n").map { line in
            let path = line.dropFirst(2)
            return "\(path) \(of(line.hasPrefix("f") ? try Files.read("\(folder)/\(path)") : nil))"
        }.sorted()
    }
}

extension Account {
    /// The log of the account's processes.
    fileprivate var log: String { "\(folder)/log" }

    /// Does all that can be done now.
    fileprivate func runOnce(_ comment: Comment) async throws {
        let run = try larder.start(["--log-level", "debug", "run", "--once"], errors: log)
        #expect(
            await run.wait(atMost: .seconds(300)) == .code(0),
            "\((try? Files.text(log).suffix(2_000)) ?? "") \(comment)")
    }

    /// Runs a command of a workload.
    fileprivate func carryOut(_ command: Workload.Command, isQueued: Bool) async throws -> ProcessResult {
        try await larder.run(try arguments(of: command, isQueued: isQueued))
    }

    /// Returns the arguments of a command, and makes the file that it uploads.
    fileprivate func arguments(of command: Workload.Command, isQueued: Bool) throws -> [String] {
        let file = "\(folder)/source"
        if case .put(_, let size, _) = command {
            try Files.write((0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 7) &+ size &* 13 &+ $0 >> 8) }, to: file)
        }
        return command.arguments(file: file, isQueued: isQueued)
    }

    /// Returns what the account is in the end, in parts that are compared one by one.
    fileprivate func end() async throws -> [String: [String]] {
        struct Row: Decodable {
            var path, type, cloudStatus, availableOffline: String
            var size: Int64?
            var downloadTrigger, remoteVersion, mimeType, lastModified: String?
            var removed, favorite: Bool
            var syncActivity: [String]
        }
        var parts: [String: [String]] = [:]
        parts["items"] = try await larder("--json", "ls", "-r", "--removed").lines.map { line in
            var row = try JSONDecoder().decode(Row.self, from: Data(line.utf8))
            // Other times than those that were set are those of the course itself.
            if row.lastModified?.hasPrefix("2001-") == false { row.lastModified = nil }
            return "\(row)"
        }
        parts["tree"] = try await ContentLine.all(below: files)
        parts["records"] = try await larder("sync", "list").lines
        parts["issues"] = try await larder("issue", "list").lines
        parts["policies"] = try await larder("policy", "list").lines.map {
            $0.split(separator: " ").filter { $0.hasPrefix("/") }.joined(separator: " ")
        }.sorted()
        parts["outgoing"] = try Files.names(in: "\(vault)/outgoing")
        parts["incoming"] = try Files.names(in: "\(vault)/incoming")
        return parts
    }
}

/// A workload that is disturbed.
private final class Course {
    let account: Account
    let kills: Int
    var random: SeededGenerator
    /// The commands, in the pieces after each of which the account came to rest.
    private(set) var batches: [[Workload.Command]] = []
    /// The kills at which work was under way.
    private(set) var counted = 0
    /// All kills.
    private(set) var sent = 0
    private(set) var commands = 0

    private let relay: Relay
    private var workload: Workload

    init(_ account: Account, _ relay: Relay, _ workload: Workload, _ random: SeededGenerator, kills: Int) {
        (self.account, self.relay, self.random, self.kills) = (account, relay, random, kills)
        self.workload = workload
    }

    /// Whether there were enough kills and commands. Kills that do not count need further commands.
    private var isOver: Bool {
        (counted >= kills && commands >= min(5 * kills, 500)) || commands > 40 * kills + 100
    }

    private func nextBatch() -> [Workload.Command] {
        let batch = (0..<Int.random(in: 2...8, using: &random)).map { _ in workload.next() }
        workload.rest()
        batches.append(batch)
        commands += batch.count
        return batch
    }

    func must(_ arguments: String...) async throws {
        let result = try await account.larder.run(arguments)
        guard result.exitCode == 0 else { throw SetupError("\(arguments): \(result.summary)\n\(story)") }
    }

    private var story: String {
        "LARDER_TEST_SEED=\(random.seed), the commands:\n\(batches.map { "\($0)" }.joined(separator: "\n"))"
    }

    /// Has a process killed at a random piece of what passes.
    private func arm(_ child: ChildProcess, upTo most: Int) {
        // Small numbers are likelier: most requests are small.
        let piece = Int.random(in: 1...Int.random(in: 1...most, using: &random), using: &random)
        let isAfter = Int.random(in: 0..<3, using: &random) > 0
        let moment = Relay.Moment(piece: piece, isAfter: isAfter, delay: .random(in: 0...4_000, using: &random))
        relay.at(moment) { child.send(SIGKILL) }
    }

    /// Counts a kill.
    private func noteKill() async throws {
        sent += 1
        let code = """
            import sqlite3, sys
            db = sqlite3.connect('file:%s?mode=ro' % sys.argv[1], uri=True)
            print(db.execute('SELECT count(*) FROM syncRecords WHERE state = 2').fetchone()[0])
            """
        if try await mustRun("python3", ["-c", code, "\(account.vault)/larder.db"]) != "0\n" { counted += 1 }
    }

    // MARK: A host

    /// Gives commands to a host that is killed and started again.
    func runHosted() async throws {
        var host = try await start()
        while !isOver {
            arm(host, upTo: 120)
            for command in nextBatch() {
                var isAgain = false
                while true {
                    let result = try await account.carryOut(command, isQueued: true)
                    if result.exitCode == 0 || isAgain && result.exitCode == command.codeWhenDone { break }
                    // The host's end may show a moment after that of its answer.
                    guard await until(atMost: .seconds(10), { host.hasEnded }) else {
                        throw SetupError("\(command): \(result.summary)\n\(story)")
                    }
                    try await noteKill()
                    host = try await start()
                    isAgain = true
                }
                if host.hasEnded {
                    try await noteKill()
                    host = try await start()
                }
            }
            host = try await untilRest(host)
        }
        #expect(await host.stop() == .code(0))
    }

    /// Starts a host, which may be killed at once.
    private func start() async throws -> ChildProcess {
        while true {
            let host = try account.larder.start(["--log-level", "debug", "run"], errors: account.log)
            if Int.random(in: 0..<4, using: &random) == 0 { arm(host, upTo: 60) }
            try await until {
                if host.hasEnded { return true }
                return try await account.larder("healthcheck").exitCode == 0
            }
            guard host.hasEnded else { return host }
            guard await host.wait() == .signal(SIGKILL) else {
                throw SetupError("the host ended: \(try Files.text(account.log).suffix(4_000))\n\(story)")
            }
            try await noteKill()
        }
    }

    /// Waits until a host, or the next one if it is killed, has nothing more to do.
    private func untilRest(_ first: ChildProcess) async throws -> ChildProcess {
        var host = first
        while true {
            let result = try await account.larder("wait")
            if !host.hasEnded, result.exitCode == 0 {
                relay.disarm()
                // What passes until then may have ended it.
                usleep(5_000)
                if !host.hasEnded { return host }
            }
            guard await until(atMost: .seconds(10), { host.hasEnded }) else {
                throw SetupError(
                    "wait: \(result.summary)\n\(try Files.text(account.log).suffix(4_000))\n\(story)")
            }
            _ = await host.wait()
            try await noteKill()
            host = try await start()
        }
    }

    // MARK: Commands without a host

    /// Runs commands that are killed while they wait for the server.
    func runAlone() async throws {
        while !isOver {
            for command in nextBatch() {
                var isAgain = false
                while true {
                    let arguments = try account.arguments(of: command, isQueued: false)
                    let (status, errors) = try await runKilled(arguments, upTo: isAgain ? 0 : 16)
                    if status == .code(0) { break }
                    if isAgain, let code = command.codeWhenDone, status == .code(code) { break }
                    guard status == .signal(SIGKILL) else {
                        throw SetupError("\(command): \(status) \(errors)\n\(story)")
                    }
                    try await noteKill()
                    isAgain = true
                    try await runToRest()
                }
            }
            try await runToRest()
        }
    }

    private func runToRest() async throws {
        var most = Bool.random(using: &random) ? 60 : 0
        while true {
            let (status, errors) = try await runKilled(["run", "--once"], upTo: most)
            if status == .code(0) { return }
            guard status == .signal(SIGKILL) else { throw SetupError("run --once: \(status) \(errors)\n\(story)") }
            try await noteKill()
            most /= 2
        }
    }

    /// Runs a command that may be killed.
    /// - Parameter most: the last piece at which it may be killed; 0 for never.
    private func runKilled(_ arguments: [String], upTo most: Int) async throws -> (TestSupport.ExitStatus, String) {
        Files.remove(account.log)
        let child = try account.larder.start(arguments, errors: account.log)
        if most > 0 { arm(child, upTo: most) }
        let status = await child.wait(atMost: .seconds(120))
        relay.disarm()
        return (status, String(try Files.text(account.log).suffix(4_000)))
    }
}
