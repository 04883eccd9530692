import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Commands that are killed while the server does a part of what they ask, and then dies.
///
///     LARDER_TEST_ROUNDS=100 ./Tests/run --filter HalfDoneTests
@Suite(.serialized) struct HalfDoneTests {
    typealias Change = ChangeTableTests.Change

    /// What somebody else writes meanwhile.
    private static let theirs = "of somebody else"
    /// The changes whose requests a server can do by halves.
    private static let changes = Change.allCases.filter { $0 != .favorite && $0 != .touch }

    @Test(
        "S24 S49 S50: killed while the server does a part and dies, commands end as undisturbed, and take nothing foreign",
        .timeLimit(.minutes(120)))
    func kills() async throws {
        try await kill(at: Manner(), keepsCutOff: false)
    }

    @Test(
        "S24 S49 S50: the same on a server that tells little, and keeps the beginning of what was cut off",
        .timeLimit(.minutes(120)))
    func plainKills() async throws {
        try await kill(at: .plain, keepsCutOff: true)
    }

    /// The number of kills of each kind of server is `LARDER_TEST_ROUNDS`.
    private func kill(at manner: Manner, keepsCutOff: Bool) async throws {
        var random = SeededGenerator()
        for number in 0..<SeededGenerator.rounds(usually: 5) {
            let change = Self.changes.randomElement(using: &random) ?? .put
            try await withTemporaryFolder { folder in
                var configuration = TestServer.Configuration()
                configuration.manner = manner
                try await TestServer.running(configuration) { server in
                    let note: Comment = "\(change.rawValue), round \(number), LARDER_TEST_SEED=\(random.seed)"
                    let account = try Account(in: folder, server)
                    try await Round(
                        server: server, account: account, change: change, keepsCutOff: keepsCutOff, note: note
                    )
                    .run(&random)
                }
            }
        }
    }

    private struct Round {
        let server: TestServer
        let account: Account
        let change: Change
        /// Whether the server keeps the beginning of an upload.
        let keepsCutOff: Bool
        let note: Comment

        func run(_ random: inout SeededGenerator) async throws {
            for (path, text) in Change.start where text != Change.folder {
                server.tree.put(path, text, modified: 1_600_000_000)
            }
            try Files.write(Change.mine, to: "\(account.folder)/mine")
            #expect(try await account.larder("run", "--once").exitCode == 0, note)
            try await kill(part: .random(in: 0...2, using: &random), isBefore: .random(using: &random))
            let dead = server.add(Fault(.lostAnswer(executed: false)))
            if Bool.random(using: &random) {
                #expect(try await account.larder("run", "--once").exitCode == 69, note)
            }
            let isMet = Int.random(in: 0..<3, using: &random) == 0
            if isMet {
                // No file can be written where the server has already made the folder.
                let isFolder = server.tree.paths.contains("\(place)/")
                server.tree.put(isFolder ? "\(place)/theirs" : place, HalfDoneTests.theirs)
            }
            server.remove(dead)
            for _ in 0..<2 { _ = try await account.larder("run", "--once") }
            if try await !isOver() { try await finish(isMet: isMet) }
            let end = content()
            if isMet {
                #expect(end.values.contains(HalfDoneTests.theirs), note)
                let losses: [String] =
                    switch change {
                    case .replace, .removeFile: ["one"]
                    // Others have replaced it themselves, where the part was moved.
                    case .moveFile, .moveFolder: ["one"]
                    case .removeFolder: ["one", "two"]
                    default: place == "/a/one" ? ["one"] : []
                    }
                for text in ["one", "two", "three"] where !losses.contains(text) {
                    #expect(end.values.contains(text), "\(note) \(text) \(end)")
                }
            } else {
                #expect(end == change.end, note)
                #expect(try await isOver(), note)
                #expect(try await account.larder("issue", "list").lines == [], note)
            }
        }

        /// The place at which the change makes something; of a deletion, a place in what goes.
        private var place: String {
            switch change {
            case .makeFolder: "/a/new"
            case .put: "/a/mine"
            case .moveFile, .copyFile: "/b/one"
            case .moveFolder, .copyFolder: "/b/a/one"
            case .removeFolder: "/a/sub/new"
            case .replace, .removeFile, .favorite, .touch: "/a/one"
            }
        }

        /// Runs the command, and kills it before or just after the server has done the part.
        private func kill(part: Int, isBefore: Bool) async throws {
            server.forgetRequests()
            let count = change.method == "PUT" ? (keepsCutOff ? part * 7 : 0) : part
            let part = server.add(Fault(.part(count, .hangup), method: change.method, times: 1))
            let hold = isBefore ? server.add(Fault(.hold(), method: change.method, times: 1)) : nil
            let child = try account.larder.start(change.arguments.map { $0 == "FILE" ? "\(account.folder)/mine" : $0 })
            if let hold {
                await server.untilHeld(hold)
                child.send(SIGKILL)
                server.remove(hold)
            }
            await until { server.count(change.method) > 0 }
            child.send(SIGKILL)
            _ = await child.wait()
            server.remove(part)
        }

        /// Does what a person does where the server is left with a part: puts it right there by hand, and tries again.
        private func finish(isMet: Bool) async throws {
            if !isMet {
                switch change {
                case .copyFile, .copyFolder: server.tree.remove(change == .copyFile ? "/b/one" : "/b/a")
                case .moveFolder:
                    for file in ["/one", "/sub/two"] where server.tree.exists("/a\(file)") {
                        server.tree.makeFolder("/b/a/sub")
                        server.tree.move("/a\(file)", to: "/b/a\(file)")
                    }
                    server.tree.remove("/a")
                default: break
                }
            }
            for line in try await account.larder("sync", "list").lines {
                let id = String(line.split(separator: " ").first ?? "")
                _ = try await account.larder("sync", "retry", id)
            }
            for _ in 0..<2 { _ = try await account.larder("run", "--once") }
        }

        private func isOver() async throws -> Bool { try await account.larder("sync", "list").lines.isEmpty }

        private func content() -> [String: String] {
            var all: [String: String] = [:]
            for path in server.tree.paths {
                let bytes = server.tree.bytes(of: path)
                all[path.hasSuffix("/") ? String(path.dropLast()) : path] =
                    bytes.map { String(decoding: $0, as: UTF8.self) } ?? Change.folder
            }
            return all
        }
    }
}
