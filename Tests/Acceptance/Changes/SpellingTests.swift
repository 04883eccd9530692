import DemoServer
import TestServer
import TestSupport
import Testing

struct SpellingTests {
    @Test("a name that is typed composed names the item that the server lists decomposed, unless both are listed")
    func composed() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                // The server's names have a combining accent; the person's have one letter.
                let (theirs, mine) = ("e\u{301}", "\u{e9}")
                server.tree.put("/d\(theirs)/f\(theirs)", "one", modified: 1_600_000_000)
                server.tree.put("/d\(theirs)/plain", "two", modified: 1_600_000_000)
                let account = try Account(in: folder, server)
                try Files.write("mine", to: "\(folder)/mine")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                for command in [
                    ["stat", "/d\(mine)/f\(mine)"], ["get", "/d\(mine)/f\(mine)"], ["ls", "/d\(mine)"],
                    ["put", "\(folder)/mine", "/d\(mine)/new\(mine)"], ["mv", "/d\(mine)/plain", "/moved\(mine)"],
                    ["rm", "/d\(mine)/f\(mine)"], ["mkdir", "/d\(mine)/sub"], ["pin", "/d\(mine)"],
                ] {
                    let result = try await account.larder.run(command)
                    #expect(result.exitCode == 0, "\(command) \(result.summary)")
                }
                #expect(try await account.larder("mkdir", "/d\(mine)").exitCode == 73)
                #expect(
                    server.tree.paths.map(\.unicodeScalars.count)
                        == ["/d\(theirs)/", "/d\(theirs)/new\(mine)", "/d\(theirs)/sub/", "/moved\(mine)"]
                        .map(\.unicodeScalars.count))
                // With both, each is itself.
                server.tree.put("/x\(theirs)", "decomposed", modified: 1_600_000_000)
                server.tree.put("/x\(mine)", "composed", modified: 1_600_000_000)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try await account.larder("rm", "/x\(mine)").exitCode == 0)
                #expect(
                    server.tree.bytes(of: "/x\(theirs)").map { String(decoding: $0, as: UTF8.self) } == "decomposed")
            }
        }
    }
}
