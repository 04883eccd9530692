import DemoServer
import Glibc
import TestSupport
import Testing

/// A host that is told to read its settings anew.
@Suite(.serialized) struct HangupTests {
    @Test("H2: SIGHUP does not end a host, and the log says what to do")
    func hangup() async throws {
        try await withTemporaryFolder { folder in
            try await DemoServer.running { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server, settings: ["poll: 1s"])
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                for _ in 0..<300 where try account.text("a") == nil { try await Task.sleep(for: .milliseconds(10)) }
                host.send(SIGHUP)
                for _ in 0..<300 where try !Files.text("\(folder)/log").contains("SIGHUP") {
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(try Files.text("\(folder)/log").contains("restart"))
                server.tree.put("/b", "two")
                for _ in 0..<300 where try account.text("b") == nil { try await Task.sleep(for: .milliseconds(10)) }
                #expect(try account.text("b") == "two" && !host.hasEnded)
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(10)) == .code(0))
            }
        }
    }
}
