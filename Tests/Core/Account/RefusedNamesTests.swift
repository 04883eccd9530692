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
        try await AccountFixture.running { fixture in
            fixture.put("/deep/good", "good")
            fixture.put("/other/good", "good")
            var fault = fixture.server.add(Self.bad(5_000))
            try await fixture.runBadly()
            let issue = try #require(try await fixture.issues().first)
            #expect(try await fixture.issues().count == 1)
            #expect(issue.code == "item.refused" && issue.subject == "/deep")
            #expect(issue.message.contains("5000 entries of /deep") && issue.message.utf8.count < 2_000)

            // An unchanged issue is not written again.
            fixture.server.tree.touch("/deep/good")
            try await fixture.runBadly()
            #expect(try await fixture.issues() == [issue])
            fixture.server.remove(fault)
            fault = fixture.server.add(Self.bad(1))
            fixture.server.tree.touch("/deep/good")
            try await fixture.runBadly()
            let one = try #require(try await fixture.issues().first)
            #expect(one.id == issue.id && one.message.contains(" in /deep cannot be kept here"))
            fixture.server.remove(fault)
            fixture.server.tree.touch("/deep/good")
            try await fixture.runWell()
            #expect(try await fixture.issues() == [])
        }
    }

    @Test("I16: the issue goes with its folder")
    func folderGone() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/deep/good", "good")
            fixture.put("/other/good", "good")
            fixture.server.add(Self.bad(20))
            try await fixture.runBadly()
            fixture.server.tree.remove("/deep")
            try await fixture.runWell()
        }
    }
}
