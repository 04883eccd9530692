import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Queries about what policies and claims decide.
@Suite(.serialized) struct ItemConditionTests {
    @Test("Q1: `ls --where` selects by what the JSON of the items shows: policies, claims, owner, parent and activity")
    func listed() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["a", "b"] { server.tree.put("/Photos/\(name).jpg", name) }
                server.tree.put("/other.txt", "other")
                let account = try Account(in: folder, server)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                for words in [
                    ["pin", "/Photos/a.jpg"], ["pin", "/Photos"],
                    ["claim", "add", "/Photos/b.jpg", "--type", "read", "--until", "2200-01-01T00:00:00Z"],
                    ["claim", "add", "/other.txt", "--type", "read", "--id", "job"],
                ] {
                    let result = try await account.larder.run(words)
                    #expect(result.exitCode == 0, "\(result.summary)")
                }
                for (condition, expected) in [
                    (#"availableOffline == "direct""#, ["/Photos", "/Photos/a.jpg"]),
                    (#"availableOffline == "indirect""#, ["/Photos/b.jpg"]),
                    (#"availableOffline == "none""#, ["/other.txt"]), ("claimed", ["/Photos/b.jpg", "/other.txt"]),
                    (#"!claimed && parentPath == "/Photos""#, ["/Photos/a.jpg"]),
                    (#"parentPath == "/" && "uploading" in syncActivity"#, []), ("owner == null", []),
                ] {
                    let list = try await account.larder("--json", "ls", "-r", "--where", condition)
                    let paths = list.lines.compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) }
                    #expect(paths == expected, "\(condition): \(list.summary)")
                    // What was selected shows what was asked for.
                    for line in list.lines where condition == "claimed" { #expect(line.contains(#""claimed":true"#)) }
                    for line in list.lines where condition.hasPrefix("avail") {
                        #expect(line.contains(condition.replacing(" == ", with: "\":").replacing("av", with: "\"av")))
                    }
                }
                let file = try await account.larder("--json", "ls", "/other.txt", "--where", "claimed")
                #expect(file.lines.count == 1, "\(file.summary)")
                #expect(try await account.larder("claim", "remove", "job").exitCode == 0)
                let stat = try await account.larder("--json", "stat", "/other.txt")
                #expect(stat.output.contains(#""claimed":false"#), "\(stat.summary)")
                #expect(try await account.larder("--json", "ls", "/other.txt", "--where", "claimed").lines.isEmpty)
                let sorted = try await account.larder("ls", "--sort", "claimed")
                #expect(sorted.exitCode == 64 && sorted.errors.contains("cannot be sorted by `claimed`"))
            }
        }
    }
}
