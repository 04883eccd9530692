import DemoServer
import ItemList
import Model
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

@Suite("Names that cannot be kept here")
struct RefusedNamesTests {
    private static func bad(_ count: Int) -> Fault {
        Fault(
            .foreignEntries((0..<count).map { Array("bad%2F\($0)".utf8) }), method: "PROPFIND", path: "/deep")
    }

    @Test("I16: a folder's bad names are one issue, which counts them, names a few, and goes when they do")
    func oneIssue() async throws {
        try await Bench.running { bench in
            bench.put("/deep/good", "good")
            bench.put("/other/good", "good")
            var fault = bench.server.add(Self.bad(5_000))
            try await bench.runBadly()
            let issue = try #require(try await bench.issues().first)
            #expect(try await bench.issues().count == 1)
            #expect(issue.code == "item.refused" && issue.subject == "/deep")
            #expect(issue.message.contains("5000 entries of /deep") && issue.message.utf8.count < 2_000)

            // What is no news is not written.
            bench.server.tree.touch("/deep/good")
            try await bench.runBadly()
            #expect(try await bench.issues() == [issue])
            bench.server.remove(fault)
            fault = bench.server.add(Self.bad(1))
            bench.server.tree.touch("/deep/good")
            try await bench.runBadly()
            let one = try #require(try await bench.issues().first)
            #expect(one.id == issue.id && one.message.contains(" in /deep cannot be kept here"))
            bench.server.remove(fault)
            bench.server.tree.touch("/deep/good")
            try await bench.runWell()
            #expect(try await bench.issues() == [])
        }
    }

    @Test("I16: the issue goes with its folder")
    func folderGone() async throws {
        try await Bench.running { bench in
            bench.put("/deep/good", "good")
            bench.put("/other/good", "good")
            bench.server.add(Self.bad(20))
            try await bench.runBadly()
            bench.server.tree.remove("/deep")
            try await bench.runWell()
        }
    }
}
