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

    @Test(
        "K14: what one server refused is no matter of another url or login name: that issue goes with the former",
        arguments: ["url", "username"])
    func refusedBefore(_ part: String) async throws {
        try await AccountFixture.running { fixture in
            let fault = fixture.server.add(Fault(.status(401)))
            try await fixture.runBadly()
            #expect(try await fixture.issues().map(\.failure) == [.denied])
            // The next host with the same address has it as it was.
            try await fixture.restart()
            #expect(try await fixture.issues().count == 1)
            if part == "url" { fixture.bookmark.url = "http://127.0.0.1:9/" } else { fixture.bookmark.username = "bob" }
            try await fixture.restart()
            #expect(try await fixture.issues() == [])
            if part == "url" {
                let outcome = try await fixture.runBadly()
                #expect(outcome.worst == .unreachable, "\(outcome)")
            }
            fixture.server.remove(fault)
        }
    }
}
