import DemoServer
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

/// Accounts whose config gets another address while changes wait.
struct ChangedAddressTests {
    @Test(
        "S51: what was asked for with one url or login name is not made with another, and goes on with the former",
        arguments: ["url", "username"])
    func changed(_ part: String) async throws {
        try await AccountFixture.running { fixture in
            try await TestServer.running { other in
                try await fixture.runWell()
                let folder = ItemPath(unchecked: "/new")
                _ = try await fixture.host.perform(ServerChange([.createFolder(folder)], waits: false))
                let former = fixture.bookmark
                if part == "url" { fixture.bookmark.url = other.folderURL } else { fixture.bookmark.username = "bob" }
                try await fixture.runBadly()
                let issue = try #require(try await fixture.issues().first)
                #expect(issue.code == "change.address" && issue.subject.contains(former.url))
                #expect(issue.subject.contains(former.username ?? "") && issue.message.contains("createFolder of /new"))
                #expect(!fixture.server.tree.exists("/new") && !other.tree.exists("/new"))
                fixture.bookmark = former
                try await fixture.runWell()
                #expect(fixture.server.tree.exists("/new"))
            }
        }
    }
}
