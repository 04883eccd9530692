import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// `larder put` of a large file to a server that offers resumable uploads.
struct ResumedPutTests {
    private static let part = 4_000_000

    @Test("C6: put of a large file that was killed goes on where it was, and the file is whole")
    func killed() async throws {
        let bytes = (0..<30_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) &+ ($0 >> 8)) }
        var configuration = TestServer.Configuration()
        configuration.manner.tus?.largestChunk = Self.part
        try await withTemporaryFolder { folder in
            try await TestServer.running(configuration) { server in
                let account = try Account(in: folder, server)
                try Files.write(bytes, to: "\(folder)/mine")
                #expect(try await account.larder("run", "--once").exitCode == 0)

                // The part is held, and then lost.
                let hold = server.add(Fault(.hold(), method: "PATCH", from: 4, times: 1))
                server.add(Fault(.lostAnswer(executed: false), method: "PATCH", from: 4, times: 1))
                let child = try account.larder.start(["put", "\(folder)/mine", "/mine"], errors: "\(folder)/log")
                await server.untilHeld(hold)
                child.send(SIGKILL)
                #expect(await child.wait() == .signal(SIGKILL))
                #expect(!server.tree.exists("/mine"))
                server.remove(hold)
                await until { server.count("PATCH") >= 4 }

                let next = try await account.larder("run", "--once")
                #expect(next.exitCode == 0, "\(next.summary)")
                server.tree.put("/whole", bytes)
                #expect(server.tree.sha1(of: "/mine") == server.tree.sha1(of: "/whole"))
                let isEqual = try Files.read("\(account.files)/mine") == bytes
                #expect(isEqual)
                #expect(server.receivedBytes < 2 * bytes.count && server.receivedBytes <= bytes.count + Self.part)
                #expect(server.count("POST") == 1 && server.count("PUT") == 0 && server.openUploads == 0)
                #expect(try await account.larder("sync", "list").lines == [])
                #expect(try Files.names(in: "\(account.vault)/outgoing") == [])
                // Whoever knows the upload's address may write there.
                for log in ["\(folder)/log", "\(account.folder)/log"] where Files.exists(log) {
                    #expect(try !Files.text(log).contains("/data/tus/"))
                }
            }
        }
    }
}
