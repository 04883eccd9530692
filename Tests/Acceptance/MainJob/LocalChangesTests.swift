import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A running host and a person who changes files in the tree.
@Suite(.serialized) struct LocalChangesTests {
    private struct Fixture {
        let server: TestServer
        let account: Account
        let host: ChildProcess

        func cloudStatus(_ path: String) async throws -> String? {
            let line = try await account.larder("--json", "stat", path).output
            return line.value(of: "cloudStatus")
        }

        /// Checks a condition repeatedly until it holds.
        func until(
            _ what: String, _ place: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
        ) async throws {
            try await soon(what, beside: host, log: "\(account.folder)/log", place) { try await isSo() }
        }

        func log() throws -> String { try Files.text("\(account.folder)/log") }
    }

    /// Runs the host beside a server, with a pinned folder whose files are all here.
    private func running(more: [String] = [], _ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["cat", "dog"] { server.tree.put("/Photos/\(name).jpg", name, modified: 1_700_000_000) }
                server.tree.put("/Photos/Summer/sea.jpg", "sea", modified: 1_700_000_000)
                let account = try Account(in: folder, server, more: more, settings: ["poll: 1s"])
                #expect(try await account.larder("pin", "/Photos").exitCode == 0)
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                do {
                    let fixture = Fixture(server: server, account: account, host: host)
                    try await fixture.until("the files come") {
                        let listed = try await account.larder(
                            "--json", "ls", "/Photos", "-r", "--where", "type == 'file'")
                        return listed.lines.count == 3
                            && listed.lines.allSatisfy { $0.value(of: "cloudStatus") == "localCopy" }
                    }
                    try await body(fixture)
                } catch {
                    Issue.record(error)
                }
                await host.stop()
            }
        }
    }

    @Test("LC1: a pinned copy that is removed by hand comes again at once, and so does a whole folder")
    func removed() async throws {
        try await running { fixture in
            let (account, server) = (fixture.account, fixture.server)
            server.forgetRequests()
            Files.remove("\(account.files)/Photos/cat.jpg")
            try await fixture.until("cat.jpg comes again") { try account.text("Photos/cat.jpg") == "cat" }
            #expect(server.requests.paths(of: "GET") == ["/Photos/cat.jpg"])

            Files.remove("\(account.files)/Photos")
            try await fixture.until("all comes again") {
                try account.localFiles() == ["Photos/Summer/sea.jpg", "Photos/cat.jpg", "Photos/dog.jpg"]
            }
            try await fixture.until("the rows say so") {
                try await fixture.cloudStatus("/Photos/dog.jpg") == "localCopy"
            }
            // The new folders are watched.
            Files.remove("\(account.files)/Photos/Summer/sea.jpg")
            try await fixture.until("sea.jpg comes again") { try account.text("Photos/Summer/sea.jpg") == "sea" }
        }
    }

    @Test("LC2 P44: a copy that is changed by hand is known as such at once, and is not fetched over")
    func changed() async throws {
        try await running { fixture in
            let (account, server) = (fixture.account, fixture.server)
            try Files.write("my own cat", to: "\(account.files)/Photos/cat.jpg")
            try await fixture.until("the change is known") {
                try await fixture.cloudStatus("/Photos/cat.jpg") == "locallyModified"
            }
            // Editors save in this way: another file takes the name.
            try Files.write("my own dog", to: "\(account.files)/Photos/.dog.jpg.new")
            rename("\(account.files)/Photos/.dog.jpg.new", "\(account.files)/Photos/dog.jpg")
            try await fixture.until("the replacement is known") {
                try await fixture.cloudStatus("/Photos/dog.jpg") == "locallyModified"
            }
            server.forgetRequests()
            server.tree.put("/Photos/cat.jpg", "a newer cat", modified: 1_700_000_001)
            server.tree.put("/Photos/Summer/sea.jpg", "a newer sea", modified: 1_700_000_001)
            try await fixture.until("the other newer file comes") {
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
        try await running { fixture in
            let account = fixture.account
            let before = try fixture.log()
            #expect(!before.contains("It ") && !before.contains("Something else"), "\(before)")
            try Files.write("mine", to: "\(account.files)/Photos/mine.txt")
            try Files.write("deep", to: "\(account.folder)/elsewhere/below/deep.txt")
            rename("\(account.folder)/elsewhere", "\(account.files)/Photos/new")
            rename("\(account.files)/Photos/dog.jpg", "\(account.files)/Photos/new/hound.jpg")
            for path in ["/Photos/mine.txt", "/Photos/new/below/deep.txt", "/Photos/new/hound.jpg"] {
                try await fixture.until("\(path) is known") { try await fixture.cloudStatus(path) == "localOnly" }
            }
            try await fixture.until("dog.jpg comes again") { try account.text("Photos/dog.jpg") == "dog" }
            Files.remove("\(account.files)/Photos/mine.txt")
            try await fixture.until("mine.txt is forgotten") {
                try await account.larder("stat", "/Photos/mine.txt").exitCode == 66
            }
            let log = try fixture.log()
            for name in ["/Photos/mine.txt", "/Photos/new/below/deep.txt"] {
                let lines = log.split(separator: "\n").filter { $0.contains(name) && $0.contains("only here") }
                #expect(lines.count == 1, "\(log)")
            }
            #expect(!log.contains("changed here"), "\(log)")
        }
    }

    @Test("LC4: a tree that goes away while the host runs ends it with 74, and is not taken for removed")
    func rootGone() async throws {
        try await running { fixture in
            let account = fixture.account
            rename(account.files, account.files + "-elsewhere")
            let status = await fixture.host.wait(atMost: .seconds(120))
            #expect(status == .code(74))
            let log = try fixture.log()
            #expect(log.contains(account.files), "\(log)")
            #expect(try await fixture.cloudStatus("/Photos/cat.jpg") == "localCopy")
        }
    }
}

extension String {
    /// Returns the text value of a field in a JSON object on one line.
    fileprivate func value(of field: String) -> String? {
        guard let start = firstRange(of: "\"\(field)\":\"") else { return nil }
        return String(self[start.upperBound...].prefix { $0 != "\"" })
    }
}
