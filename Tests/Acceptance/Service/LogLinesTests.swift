import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// The lines that a running host logs.
@Suite(.serialized) struct LogLinesTests {
    /// Runs a host that fetches a file, loses the server and is stopped.
    /// - Returns: the lines of the host's log.
    private func lines(format: String) async throws -> [Substring] {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            configuration.password = "hunter2"
            let server = try await TestServer.start(configuration)
            server.tree.put("/a", "one")
            let account = try Account(
                in: folder, server, settings: ["poll: 1s", "log: { level: debug, format: \(format) }"])
            #expect(try await account.larder("pin", "/").exitCode == 0)
            let log = "\(folder)/log"
            let host = try account.larder.start(["run"], errors: log)
            try await soon("it is fetched", beside: host, log: log) { try account.text("a") == "one" }
            await server.stop()
            try await soon("it is offline", beside: host, log: log) {
                try await account.larder("--json", "status").output.contains("\"connection\":\"offline\"")
            }
            host.send(SIGHUP)
            try await soon("it reloads", beside: host, log: log) {
                try Files.text(log).contains("The config was reloaded")
            }
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(60)) == .code(0))
            let text = try Files.text(log)
            #expect(!text.contains("hunter2") && text.contains("Downloaded /a"), "\(text)")
            return text.split(separator: "\n")
        }
    }

    @Test(
        "H7: each line of the log names its component, and the account that it is about", arguments: ["text", "json"])
    func labels(format: String) async throws {
        let lines = try await lines(format: format)
        let (component, account) =
            format == "json" ? ("\"component\":\"", "\"account\":\"home\"") : (" component=", " account=home")
        var found: Set<String> = []
        for line in lines {
            let name = line.split(separator: component, maxSplits: 1).dropFirst().first?.prefix { $0.isLetter } ?? ""
            #expect(!name.isEmpty, "\(line)")
            found.insert(String(name))
            // What concerns the process as a whole is about no account.
            if name != "host" { #expect(line.contains(account), "\(line)") }
        }
        #expect(found.isSuperset(of: ["host", "account", "connection", "engine"]), "\(found)")
    }

    @Test("H10, H7: each line for the journal begins with its priority and has no time")
    func journal() async throws {
        for line in try await lines(format: "journal") {
            #expect(line.wholeMatch(of: /<[2-7]>\D.* component=.*/) != nil, "\(line)")
        }
    }
}
