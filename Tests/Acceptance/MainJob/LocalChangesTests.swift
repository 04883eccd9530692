import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A running host, and a person at work in the tree.
@Suite(.serialized) struct LocalChangesTests {
    private struct Running {
        let server: TestServer
        let account: Account
        let host: ChildProcess

        func cloudStatus(_ path: String) async throws -> String? {
            let line = try await account.larder("--json", "stat", path).output
            return line.value(of: "cloudStatus")
        }

        /// Looks again and again until something is so.
        func until(
            _ what: String, _ place: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
        ) async throws {
            try await soon(what, beside: host, log: "\(account.folder)/log", place) { try await isSo() }
        }

        func log() throws -> String { try Files.text("\(account.folder)/log") }
    }

    /// Runs the host beside a server with a pinned folder that is all here.
    private func running(more: [String] = [], _ body: (Running) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["cat", "dog"] { server.tree.put("/Photos/\(name).jpg", name, modified: 1_700_000_000) }
                server.tree.put("/Photos/Summer/sea.jpg", "sea", modified: 1_700_000_000)
                let account = try Account(in: folder, server, more: more, settings: ["poll: 1s"])
                #expect(try await account.larder("pin", "/Photos").exitCode == 0)
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                do {
                    let running = Running(server: server, account: account, host: host)
                    try await running.until("the files come") {
                        let listed = try await account.larder(
                            "--json", "ls", "/Photos", "-r", "--where", "type == 'file'")
                        return listed.lines.count == 3
                            && listed.lines.allSatisfy { $0.value(of: "cloudStatus") == "localCopy" }
                    }
                    try await body(running)
                } catch {
                    Issue.record(error)
                }
                await host.stop()
            }
        }
    }

    @Test("LC1: a pinned copy that is removed by hand comes again at once, and so does a whole folder")
    func removed() async throws {
        try await running { running in
            let (account, server) = (running.account, running.server)
            server.forgetRequests()
            Files.remove("\(account.files)/Photos/cat.jpg")
            try await running.until("cat.jpg comes again") { try account.text("Photos/cat.jpg") == "cat" }
            #expect(server.requests.paths(of: "GET") == ["/Photos/cat.jpg"])

            Files.remove("\(account.files)/Photos")
            try await running.until("all comes again") {
                try account.localFiles() == ["Photos/Summer/sea.jpg", "Photos/cat.jpg", "Photos/dog.jpg"]
            }
            try await running.until("the rows say so") {
                try await running.cloudStatus("/Photos/dog.jpg") == "localCopy"
            }
            // The watch is on the new folders.
            Files.remove("\(account.files)/Photos/Summer/sea.jpg")
            try await running.until("sea.jpg comes again") { try account.text("Photos/Summer/sea.jpg") == "sea" }
        }
    }

    @Test("LC2 P44: a copy that is changed by hand is known as such at once, and is not fetched over")
    func changed() async throws {
        try await running { running in
            let (account, server) = (running.account, running.server)
            try Files.write("my own cat", to: "\(account.files)/Photos/cat.jpg")
            try await running.until("the change is known") {
                try await running.cloudStatus("/Photos/cat.jpg") == "locallyModified"
            }
            // As editors save: another file takes the name.
            try Files.write("my own dog", to: "\(account.files)/Photos/.dog.jpg.new")
            rename("\(account.files)/Photos/.dog.jpg.new", "\(account.files)/Photos/dog.jpg")
            try await running.until("the replacement is known") {
                try await running.cloudStatus("/Photos/dog.jpg") == "locallyModified"
            }
            server.forgetRequests()
            server.tree.put("/Photos/cat.jpg", "a newer cat", modified: 1_700_000_001)
            server.tree.put("/Photos/Summer/sea.jpg", "a newer sea", modified: 1_700_000_001)
            try await running.until("the other newer file comes") {
                try account.text("Photos/Summer/sea.jpg") == "a newer sea"
            }
            let cat = try await account.larder("--json", "ls", "/Photos").output
            #expect(cat.contains("\"remoteVersion\":\"newer\""), "\(cat)")
            #expect(server.requests.paths(of: "GET") == ["/Photos/Summer/sea.jpg"])
            #expect(try account.text("Photos/cat.jpg") == "my own cat")
            #expect(try account.text("Photos/dog.jpg") == "my own dog")
        }
    }

    @Test("LC3: what is made or moved by hand is known at once, named once in the log, and nothing else is")
    func made() async throws {
        try await running { running in
            let account = running.account
            let before = try running.log()
            #expect(!before.contains("It ") && !before.contains("Something else"), "\(before)")
            try Files.write("mine", to: "\(account.files)/Photos/mine.txt")
            try Files.write("deep", to: "\(account.folder)/elsewhere/below/deep.txt")
            rename("\(account.folder)/elsewhere", "\(account.files)/Photos/new")
            rename("\(account.files)/Photos/dog.jpg", "\(account.files)/Photos/new/hound.jpg")
            for path in ["/Photos/mine.txt", "/Photos/new/below/deep.txt", "/Photos/new/hound.jpg"] {
                try await running.until("\(path) is known") { try await running.cloudStatus(path) == "localOnly" }
            }
            try await running.until("dog.jpg comes again") { try account.text("Photos/dog.jpg") == "dog" }
            Files.remove("\(account.files)/Photos/mine.txt")
            try await running.until("mine.txt is forgotten") {
                try await account.larder("stat", "/Photos/mine.txt").exitCode == 66
            }
            let log = try running.log()
            for name in ["/Photos/mine.txt", "/Photos/new/below/deep.txt"] {
                let lines = log.split(separator: "\n").filter { $0.contains(name) && $0.contains("only here") }
                #expect(lines.count == 1, "\(log)")
            }
            #expect(!log.contains("changed here"), "\(log)")
        }
    }

    @Test("LC4: a tree that goes away while the host runs ends it with 74, and is not taken for removed")
    func rootGone() async throws {
        try await running { running in
            let account = running.account
            rename(account.files, account.files + "-elsewhere")
            let status = await running.host.wait(atMost: .seconds(120))
            #expect(status == .code(74))
            let log = try running.log()
            #expect(log.contains(account.files), "\(log)")
            #expect(try await running.cloudStatus("/Photos/cat.jpg") == "localCopy")
        }
    }
}

extension String {
    /// The text value of a field in a JSON object on one line.
    fileprivate func value(of field: String) -> String? {
        guard let start = firstRange(of: "\"\(field)\":\"") else { return nil }
        return String(self[start.upperBound...].prefix { $0 != "\"" })
    }
}
