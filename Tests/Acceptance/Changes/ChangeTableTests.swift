import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Each command that changes the server, at each moment at which it may be disturbed.
///
///     LARDER_TEST_SERVER=all ./Tests/run --filter ChangeTableTests
@Suite(.serialized) struct ChangeTableTests {
    /// A command, and what it leaves on a server that has `/a/one`, `/a/sub/two` and `/b/three`.
    enum Change: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case makeFolder, put, replace, moveFile, moveFolder, copyFile, copyFolder, removeFile, removeFolder, favorite,
            touch

        var arguments: [String] {
            switch self {
            case .makeFolder: ["mkdir", "/a/new"]
            case .put: ["put", "FILE", "/a/mine"]
            case .replace: ["put", "--replace", "FILE", "/a/one"]
            case .moveFile: ["mv", "/a/one", "/b/one"]
            case .moveFolder: ["mv", "/a", "/b/a"]
            case .copyFile: ["cp", "/a/one", "/b/one"]
            case .copyFolder: ["cp", "/a", "/b/a"]
            case .removeFile: ["rm", "/a/one"]
            case .removeFolder: ["rm", "/a"]
            case .favorite: ["favorite", "/a/one"]
            case .touch: ["touch", "/a/one", "--time", "2001-09-09T01:46:40Z"]
            }
        }

        var method: String {
            switch self {
            case .makeFolder: "MKCOL"
            case .put, .replace: "PUT"
            case .moveFile, .moveFolder: "MOVE"
            case .copyFile, .copyFolder: "COPY"
            case .removeFile, .removeFolder: "DELETE"
            case .favorite, .touch: "PROPPATCH"
            }
        }

        /// What the server has in the end: the files with their contents, and the folders.
        var end: [String: String] {
            var all = Self.start
            func move(_ from: String, _ to: String, stays: Bool) {
                for (path, text) in all where path == from || path.hasPrefix(from + "/") {
                    all[to + path.dropFirst(from.count)] = text
                    if !stays { all[path] = nil }
                }
            }
            switch self {
            case .makeFolder: all["/a/new"] = Self.folder
            case .put: all["/a/mine"] = Self.mine
            case .replace: all["/a/one"] = Self.mine
            case .moveFile: move("/a/one", "/b/one", stays: false)
            case .moveFolder: move("/a", "/b/a", stays: false)
            case .copyFile: move("/a/one", "/b/one", stays: true)
            case .copyFolder: move("/a", "/b/a", stays: true)
            case .removeFile: all["/a/one"] = nil
            case .removeFolder: all = all.filter { !($0.key + "/").hasPrefix("/a/") }
            case .favorite, .touch: break
            }
            return all
        }

        static let folder = "(folder)"
        static let mine = "what the person uploads"
        static let start = [
            "/a": folder, "/a/one": "one", "/a/sub": folder, "/a/sub/two": "two", "/b": folder, "/b/three": "three",
        ]

        var testDescription: String { rawValue }
    }

    /// The moment at which a command is disturbed.
    enum Disturbance: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case none, offline, cancelled, killedBeforeRequest, killedBeforeAnswer, killedAfterAnswer

        var testDescription: String { rawValue }
    }

    private struct Fixture {
        let account: Account
        let change: Change

        init(_ account: Account, _ change: Change) async throws {
            (self.account, self.change) = (account, change)
            try Files.write(Change.mine, to: "\(account.folder)/mine")
            #expect(try await account.larder("run", "--once").exitCode == 0)
        }

        func arguments(_ more: String...) -> [String] {
            change.arguments.map { $0 == "FILE" ? "\(account.folder)/mine" : $0 } + more
        }

        func listed() async throws -> Set<String> {
            // The path is the first field.
            Set(
                try await account.larder("--json", "ls", "-r").lines.compactMap {
                    $0.split(separator: "\"", maxSplits: 4).dropFirst(3).first.map(String.init)
                })
        }

        func records() async throws -> [String] { try await account.larder("sync", "list").lines }

        /// Expects that the change is made, shows, and left nothing behind.
        func expectDone(_ note: Comment) async throws {
            #expect(try await listed() == Set(change.end.keys), note)
            #expect(try await records() == [], note)
            #expect(try await account.larder("issue", "list").lines == [], note)
            for folder in ["outgoing", "incoming"] {
                #expect(try Files.names(in: "\(account.vault)/\(folder)") == [], note)
            }
            if change == .put { #expect(try account.text("a/mine") == Change.mine, note) }
            if change == .replace { #expect(try account.text("a/one") == Change.mine, note) }
            if change == .favorite {
                let stat = try await account.larder("--json", "stat", "/a/one")
                #expect(stat.output.contains(#""favorite":true"#), note)
            }
            if change == .touch {
                let stat = try await account.larder("--json", "stat", "/a/one")
                #expect(stat.output.contains(#""lastModified":"2001-09-09T01:46:40Z""#), note)
            }
        }
    }

    private func content(_ server: TestServer) -> [String: String] {
        var all: [String: String] = [:]
        for path in server.tree.paths {
            let bytes = server.tree.bytes(of: path)
            all[path.hasSuffix("/") ? String(path.dropLast()) : path] =
                bytes.map { String(decoding: $0, as: UTF8.self) } ?? Change.folder
        }
        return all
    }

    @Test("S40 S10 S28: a change is done once, however disturbed", arguments: Change.allCases, Disturbance.allCases)
    func table(_ change: Change, _ disturbance: Disturbance) async throws {
        let note: Comment = "\(change.rawValue), \(disturbance.rawValue)"
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for (path, text) in Change.start where text != Change.folder {
                    server.tree.put(path, text, modified: 1_600_000_000)
                }
                let fixture = try await Fixture(Account(in: folder, server), change)
                let account = fixture.account
                let before = try await account.larder("--json", "ls", "-r").output
                server.forgetRequests()
                switch disturbance {
                case .none:
                    let said = try await account.larder.run(fixture.arguments())
                    #expect(said.exitCode == 0 && !said.output.isEmpty && said.errors.isEmpty, "\(said.summary)")
                case .offline:
                    let fault = server.add(Fault(.lostAnswer(executed: false)))
                    let said = try await account.larder.run(fixture.arguments())
                    #expect(said.exitCode == 69 && said.errors.contains("sync cancel"), "\(said.summary)")
                    #expect(try await fixture.records().count == 1, note)
                    #expect(try await fixture.listed() == Set(change.end.keys), note)
                    #expect(content(server) == Change.start, note)
                    server.remove(fault)
                    #expect(try await account.larder("run", "--once").exitCode == 0, note)
                case .cancelled:
                    let said = try await account.larder.run(fixture.arguments("--queue"))
                    #expect(said.exitCode == 0 && said.output.contains("queued"), "\(said.summary)")
                    let record = try await fixture.records().first?.split(separator: " ").first
                    let cancel = try await account.larder("sync", "cancel", String(record ?? ""))
                    #expect(cancel.exitCode == 0 && cancel.output.contains("cancelled"), "\(cancel.summary)")
                    #expect(try await account.larder("--json", "ls", "-r").output == before, note)
                    #expect(try await fixture.records() == [], note)
                    #expect(try Files.names(in: "\(account.vault)/outgoing") == [], note)
                    #expect(try account.localFiles() == [], note)
                    #expect(try await account.larder("run", "--once").exitCode == 0, note)
                    #expect(content(server) == Change.start && server.count(change.method) == 0, note)
                    return
                case .killedBeforeRequest:
                    // The request is held, and then lost.
                    let hold = server.add(Fault(.hold(), method: change.method))
                    let lost = server.add(Fault(.lostAnswer(executed: false), method: change.method))
                    try await kill(fixture) { await server.untilHeld(hold) }
                    #expect(content(server) == Change.start, note)
                    server.remove(hold)
                    await until { server.count(change.method) > 0 }
                    server.remove(lost)
                    #expect(try await account.larder("run", "--once").exitCode == 0, note)
                case .killedBeforeAnswer:
                    let lost = server.add(Fault(.lostAnswer(executed: true), method: change.method))
                    try await kill(fixture) { await until { server.count(change.method) > 0 } }
                    server.remove(lost)
                    #expect(content(server) == change.end, note)
                    server.forgetRequests()
                    #expect(try await account.larder("run", "--once").exitCode == 0, note)
                    if change.method == "PUT" { #expect(server.count("PUT") == 0, note) }
                case .killedAfterAnswer:
                    try await kill(fixture) { await until { server.count(change.method) > 0 } }
                    #expect(content(server) == change.end, note)
                    #expect(try await account.larder("run", "--once").exitCode == 0, note)
                    if change.method == "PUT" { #expect(server.count("PUT") == 1, note) }
                }
                #expect(content(server) == change.end, note)
                try await fixture.expectDone(note)
            }
        }
    }

    /// Runs the command and kills it at a moment. It may have ended just before.
    private func kill(_ fixture: Fixture, at moment: () async -> Void) async throws {
        let child = try fixture.account.larder.start(fixture.arguments())
        await moment()
        child.send(SIGKILL)
        let status = await child.wait()
        #expect(status == .signal(SIGKILL) || status == .code(0))
    }

    private static let programs = Place.chosen(usually: [.apache, .wsgidav]).compactMap {
        RealServer.Program(rawValue: $0.rawValue)
    }

    // Not in this table: favorites and modification times, which only servers of the ownCloud family let clients set.
    @Test("S40: each change is made on a real server, also later", arguments: Self.programs, [false, true])
    func onServers(_ program: RealServer.Program, isOffline: Bool) async throws {
        try await withTemporaryFolder { served in
            // One server has a folder for each change.
            let changes = Change.allCases.filter { $0 != .favorite && $0 != .touch }
            for change in changes {
                for (path, text) in Change.start where text != Change.folder {
                    try Files.write(text, to: "\(served)/\(change)\(path)")
                }
            }
            try await withServer(program, data: served, options: Account.withLogin) { server in
                for change in changes { try await self.onServer(server, change, isOffline: isOffline) }
            }
        }
    }

    private func onServer(_ server: RealServer, _ change: Change, isOffline: Bool) async throws {
        let (note, data): (Comment, String) = ("\(change.rawValue)", "\(server.data)/\(change)")
        try await withTemporaryFolder { folder in
            func account(_ more: String...) throws -> Account {
                try Account(
                    in: folder, url: "\(server.url)\(change)/", user: Account.login.name,
                    password: Account.login.password, more: more)
            }
            var fixture = try await Fixture(account(), change)
            if isOffline {
                let away = try account(Account.offline)
                let said = try await away.larder.run(fixture.arguments())
                #expect(said.exitCode == 69 && said.errors.contains("sync cancel"), "\(said.summary)")
                #expect(try await fixture.listed() == Set(change.end.keys), note)
                fixture = try await Fixture(account(), change)
            } else {
                let said = try await fixture.account.larder.run(fixture.arguments())
                #expect(said.exitCode == 0 && said.errors.isEmpty, "\(said.summary)")
                #expect(try await fixture.account.larder("run", "--once").exitCode == 0, note)
            }
            let files = change.end.filter { $0.value != Change.folder }
            #expect(Set(try Files.filesBelow(data).map { "/\($0)" }) == Set(files.keys), note)
            for (path, text) in files { #expect(try Files.text(data + path) == text, note) }
            try await fixture.expectDone(note)
        }
    }
}
