import TestSupport
import Testing

/// The program's main job, with ten thousand real files and a foreign server.
@Suite(.serialized) struct MainJobTests {
    @Test("P17 I3: a pinned root is here whole, a second run fetches nothing, a changed file is one download")
    func mirror() async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try RealTree.make(in: data)
            try await withServer(.apache, data: data, options: Account.withLogin) { server in
                let account = try Account(in: folder, server)
                let pinned = try await account.larder("pin", "/")
                #expect(pinned.exitCode == 0, "\(pinned.summary)")
                let first = try await account.larder("run", "--once", timeout: .seconds(600))
                #expect(first.exitCode == 0, "\(first.summary)")
                #expect(try await account.difference(from: data) == "")
                let fetched = try await server.requests().paths(of: "GET")
                #expect(fetched.count >= 10_000)
                #expect(Set(fetched.map(Bytes.init)).count == fetched.count, "a file was fetched twice")

                try await server.forgetRequests()
                let second = try await account.larder("run", "--once", timeout: .seconds(300))
                #expect(second.exitCode == 0, "\(second.summary)")
                let again = try await server.requests()
                #expect(again.paths(of: "GET").filter { $0.contains("usr-") || $0.contains("odd") } == [])
                let listed = again.paths(of: "PROPFIND").map(Bytes.init)
                #expect(Set(listed).count >= listed.count - 2, "a folder was listed more than once")

                try await server.forgetRequests()
                let changed = try #require(try Files.filesBelow("\(data)/usr-include").first)
                try await server.put("usr-include/\(changed)", "changed")
                let third = try await account.larder("run", "--once", timeout: .seconds(300))
                #expect(third.exitCode == 0, "\(third.summary)")
                #expect(try await account.difference(from: data) == "")
                let last = try await server.requests().paths(of: "GET").filter {
                    $0.contains("usr-") || $0.contains("odd")
                }
                #expect(last == ["/usr-include/\(changed)"])
            }
        }
    }

    @Test("S25: killed at ten random moments, the next run ends the same and fetches nothing that was complete")
    func killed() async throws {
        var random = SeededGenerator()
        let seed = random.seed
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try RealTree.make(in: data)
            try await withServer(.apache, data: data, options: Account.withLogin) { server in
                let account = try Account(in: folder, server)
                var kills = 0
                while kills < 10 {
                    // If a run finishes before it was killed often enough, the test starts anew.
                    Files.remove(account.vault)
                    Files.remove("\(account.larder.home)/.local/state")
                    #expect(try await account.larder("pin", "/").exitCode == 0)
                    try await server.forgetRequests()
                    var complete: Set<Bytes> = []
                    while kills < 10 {
                        let child = try account.larder.start(["run", "--once"])
                        try await Task.sleep(for: .milliseconds(Int.random(in: 50...800, using: &random)))
                        child.send(9)
                        guard await child.wait() == .signal(9) else { break }
                        kills += 1
                        let fetched = try await server.requests().paths(of: "GET").map(Bytes.init)
                        #expect(
                            complete.isDisjoint(with: fetched),
                            "fetched again though it was complete; LARDER_TEST_SEED=\(seed)")
                        complete = Set(try account.localFiles().map { Bytes("/" + $0) })
                        try await server.forgetRequests()
                    }
                    let last = try await account.larder("run", "--once", timeout: .seconds(600))
                    #expect(last.exitCode == 0, "LARDER_TEST_SEED=\(seed)\n\(last.summary)")
                    #expect(try await account.difference(from: data) == "", "LARDER_TEST_SEED=\(seed)")
                    let fetched = try await server.requests().paths(of: "GET").map(Bytes.init)
                    #expect(
                        complete.isDisjoint(with: fetched),
                        "fetched again though it was complete; LARDER_TEST_SEED=\(seed)")
                }
            }
        }
    }
}

/// A name as bytes. Swift treats two normal forms of a word as equal; a file system does not.
struct Bytes: Hashable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
}
