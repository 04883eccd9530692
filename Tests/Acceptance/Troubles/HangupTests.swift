import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A host that is told by SIGHUP to read its settings anew.
@Suite(.serialized) struct HangupTests {
    @Test("H2: SIGHUP does not end a host, and the log says what to do")
    func hangup() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server, settings: ["poll: 1s"])
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                try await soon("it works") { try account.text("a") != nil }
                host.send(SIGHUP)
                try await soon("it says so") { try Files.text("\(folder)/log").contains("SIGHUP") }
                #expect(try Files.text("\(folder)/log").contains("restart"))
                server.tree.put("/b", "two")
                try await soon("it goes on") { try account.text("b") != nil }
                #expect(try account.text("b") == "two" && !host.hasEnded)
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            }
        }
    }
}
