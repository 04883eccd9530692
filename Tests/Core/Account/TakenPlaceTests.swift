import Database
import DemoServer
import ItemList
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

/// Folders that take the place of the folder that they were in.
struct TakenPlaceTests {
    @Test(
        "I18 I3: a folder that takes the place of the folder above it has all that is in it, at once",
        arguments: [(true, false), (false, false), (false, true)])
    func above(_ isPinned: Bool, _ staysElsewhere: Bool) async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/d/c/z", "in c")
            fixture.put("/d/c/deep/y", "below c")
            fixture.put("/d/f", "in d")
            try await fixture.runWell()
            if isPinned {
                try await fixture.pin("/")
                try await fixture.runWell()
            }
            let tree = fixture.server.tree
            if staysElsewhere {
                #expect(tree.move("/d", to: "/e") && tree.move("/e/c", to: "/d"))
            } else {
                #expect(tree.move("/d/c", to: "/t") && tree.remove("/d") && tree.move("/t", to: "/d"))
            }
            for _ in 0..<3 { try await fixture.runWell() }
            let expected = ["/d", "/d/deep", "/d/deep/y", "/d/z"] + (staysElsewhere ? ["/e", "/e/f"] : [])
            let listed = try await fixture.host.database.read { reads in
                var paths: [String] = []
                try reads.items.each(ItemListing(folder: .root, isRecursive: true)) { item in
                    paths.append(item.path.text)
                    return true
                }
                return paths.sorted()
            }
            #expect(listed == expected)
            if isPinned {
                #expect(try fixture.text("/d/z") == "in c" && fixture.text("/d/deep/y") == "below c")
            }
            let history = try await fixture.host.database.read { try $0.scanHistory() }
            #expect(!history.etagsWereWrong)
        }
    }
}
