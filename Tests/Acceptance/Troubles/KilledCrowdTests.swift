import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A host with more accounts than its open files allow, in a storm.
struct KilledCrowdTests {
    /// The number of kills is `LARDER_TEST_ROUNDS`.
    @Test("H18: sixty accounts with 256 descriptors, killed and told to reload at random moments, lose nothing")
    func killed() async throws {
        var random = SeededGenerator()
        let comment: Comment = "LARDER_TEST_SEED=\(random.seed)"
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let crowd = try Crowd(of: 60, in: folder, at: server, poll: "1s")
                server.tree.put("/first", "1")
                for name in crowd.names {
                    #expect(try await crowd.larder("--account", name, "pin", "/").exitCode == 0)
                    try Files.write("mine of \(name)", to: "\(folder)/\(name)/files/mine")
                }
                let limited = crowd.limited(to: 256)
                for round in 0..<SeededGenerator.rounds(usually: 5) {
                    let host = try limited.start()
                    // Until the shell that sets the limit ignores the signal, it would end by it.
                    try await soon("SIGHUP does not end the process") { try !host.isEnded(by: SIGHUP) }
                    for step in 0..<Int.random(in: 1...6, using: &random) {
                        let size = Int.random(in: 0...20_000, using: &random)
                        server.tree.put("/d/\(round)-\(step)", Array(repeating: UInt8(step), count: size))
                        try await Task.sleep(for: .milliseconds(Int.random(in: 0...400, using: &random)))
                        if Bool.random(using: &random) { host.send(SIGHUP) }
                    }
                    host.send(SIGKILL)
                    let status = await host.wait()
                    let log = try Files.text(limited.log).suffix(4000)
                    #expect(status == .signal(SIGKILL), "\(comment): \(log)")
                }
                // What failed for lack of descriptors is tried again by itself, and no reload changed anything.
                let reloads = try Files.text(crowd.log).split(separator: "\n").filter { $0.contains("was reloaded") }
                #expect(reloads.allSatisfy { !$0.contains("started") }, "\(comment): \(reloads)")
                let files = server.tree.paths.filter { server.tree.bytes(of: $0) != nil }
                let host = try crowd.start()
                for name in crowd.names {
                    try await soon("\(name) has all", beside: host, log: crowd.log) {
                        files.allSatisfy { Files.exists("\(folder)/\(name)/files\($0)") }
                    }
                }
                #expect(await host.stop() == .code(0), comment)
                #expect(server.tree.paths.filter { server.tree.bytes(of: $0) != nil } == files, comment)
                for name in crowd.names {
                    #expect(try Files.text("\(folder)/\(name)/files/mine") == "mine of \(name)", comment)
                    for file in files {
                        let copy = try Files.read("\(folder)/\(name)/files\(file)")
                        #expect(copy == server.tree.bytes(of: file), "\(name) \(file) \(comment)")
                    }
                }
            }
        }
    }
}
