import Database
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("Whether an item is pinned")
struct CoverageTests {
    private func levels(_ fixture: AccountFixture) async throws -> [String: String] {
        try await fixture.reader { reader in
            let found = Levels()
            var query = ItemQuery(path: .root, now: .now())
            query.isRecursive = true
            try await reader.items(query) { report in
                found.add(report)
                return true
            }
            found.add(try await reader.item(at: .root))
            return found.all
        }
    }

    @Test("P32: an item is pinned itself, by a folder above or by any policy whose condition it meets, or not at all")
    func levels() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/b/1", "/a/2", "/ab/3", "/c/4.txt", "/c/5", "/d/6"] { fixture.put(path, path) }
            try await fixture.runWell()
            for path in ["/a", "/c/5"] { try await fixture.pin(path) }
            try await fixture.host.database.write { tx in
                // Policies by other authors: one that covers nothing, and one that is never shown.
                for condition in [#"name.endsWith(".txt") && size > 3"#, "size > 1000000"] {
                    try tx.policies.add(ItemPolicy(kind: .availableOffline, condition: condition), by: .somebody)
                }
                try tx.policies.add(ItemPolicy(kind: PolicyKind("other"), condition: "true"), by: .somebody)
            }
            let some = [
                "/": "none", "/a": "direct", "/a/2": "indirect", "/a/b": "indirect", "/a/b/1": "indirect",
                "/ab": "none",
                "/ab/3": "none", "/c": "none", "/c/4.txt": "indirect", "/c/5": "direct", "/d": "none", "/d/6": "none",
            ]
            #expect(try await levels(fixture) == some)
            let policies = try await fixture.policies().map { try $0.parsedCondition() }
            for (path, level) in some {
                let item = try #require(try await fixture.item(path))
                #expect(policies.contains { $0.matches(item, now: .now()) } == (level != "none"), "\(path)")
            }
            try await fixture.pin("/")
            #expect(
                try await levels(fixture)
                    == some.mapValues { $0 == "none" ? "indirect" : $0 }.merging(["/": "direct"]) { $1 })
        }
    }
}

private final class Levels: Sendable {
    private let found = Collected<(String, String)>()
    var all: [String: String] { Dictionary(uniqueKeysWithValues: found.all) }
    func add(_ report: ItemReport) { found.add((report.item.path.text, report.availableOffline.rawValue)) }
}
