import Database
import ItemPolicies
import Model
import TestSupport
import Testing

/// Tests of the built plugin on a real database, with a sink that carries out each intent at once.
@Suite struct AvailableOfflineTests {
    private static let effect: @Sendable (Intent, Transaction) throws -> Void = { intent, transaction in
        switch intent.change {
        case .download(let id, _):
            guard var item = try transaction.items.item(localID: id), item.cloudStatus == .cloudOnly else { return }
            item.cloudStatus = .localCopy
            item.downloadTrigger = .availableOffline
            try transaction.items.update(item)
        case .removeLocalCopy(let id, _, _):
            guard var item = try transaction.items.item(localID: id), item.cloudStatus == .localCopy else { return }
            item.cloudStatus = .cloudOnly
            item.downloadTrigger = nil
            try transaction.items.update(item)
        default: break
        }
    }

    private static func pin(_ path: String, _ fixture: ProcessorFixture) async throws -> ItemPolicy {
        let policy = try await fixture.database.write { transaction in
            try transaction.policies.add(
                ItemPolicy(
                    kind: .availableOffline, condition: #"path == "\#(path)" || path.startsWith("\#(path)/")"#,
                    path: ItemPath(path)), by: .somebody)
        }
        await fixture.policies.waitUntilIdle()
        return policy
    }

    /// Returns the paths of the items with a local copy.
    private static func here(_ fixture: ProcessorFixture) async throws -> [String] {
        try await fixture.database.read { reads in
            var paths: [String] = []
            try reads.items.each(ItemListing(folder: .root, isRecursive: true, includesRemoved: true)) { item in
                if item.cloudStatus == .localCopy { paths.append(item.path.text) }
                return true
            }
            return paths
        }
    }

    private static func folder(_ path: String, _ fixture: ProcessorFixture) async throws -> Item {
        try await fixture.database.write { transaction in
            try transaction.items.insert(
                Item(localID: LocalID("id:" + path), fileID: nil, path: ItemPath(path), kind: .folder))
        }
    }

    @Test("P17, P19, P25: what a policy covers comes here, at any depth; what none covers any more goes")
    func pinning() async throws {
        let items = ["/Photos/a", "/Photos/x/b", "/Photosnot/c", "/d"]
        try await withProcessorFixture(nil, items: items, effect: Self.effect) { fixture in
            _ = try await Self.folder("/Photos", fixture)
            _ = try await Self.folder("/Photos/x", fixture)
            let outer = try await Self.pin("/Photos", fixture)
            #expect(try await Self.here(fixture) == ["/Photos", "/Photos/a", "/Photos/x", "/Photos/x/b"])
            #expect(
                fixture.sink.intents.allSatisfy { intent in
                    if case .download(_, whileCovered: true) = intent.change { intent.key == nil } else { false }
                })
            _ = try await Self.pin("/Photos/x", fixture)
            try await fixture.database.write { try $0.policies.remove(outer.id, by: .somebody) }
            await fixture.policies.waitUntilIdle()
            #expect(try await Self.here(fixture) == ["/Photos/x", "/Photos/x/b"])
            #expect(fixture.policies.takeFailures().isEmpty)
        }
    }

    @Test("P18: what appears below a pinned folder is asked for as soon as it is known")
    func appearing() async throws {
        try await withProcessorFixture(nil, items: ["/Photos/a"], effect: Self.effect) { fixture in
            _ = try await Self.pin("/Photos", fixture)
            try await fixture.add("/Photos/new")
            await fixture.policies.waitUntilIdle()
            #expect(try await Self.here(fixture) == ["/Photos/a", "/Photos/new"])
        }
    }

    @Test("P22: a pinned folder that is moved takes its policy along, quietly, and nothing is asked for")
    func moving() async throws {
        try await withProcessorFixture(nil, items: ["/Photos/a"], effect: Self.effect) { fixture in
            let photos = try await Self.folder("/Photos", fixture)
            let policy = try await Self.pin("/Photos", fixture)
            let learnt = try #require(try await fixture.database.read { try $0.policies.policy(policy.id) })
            #expect(learnt.localID == photos.localID)
            let asked = fixture.sink.intents.count
            try await fixture.database.write { transaction in
                for (old, new) in [("/Photos", "/Pictures"), ("/Photos/a", "/Pictures/a")] {
                    guard var item = try transaction.items.item(at: ItemPath(old)) else { continue }
                    item.path = try ItemPath(new)
                    try transaction.items.update(item)
                }
            }
            await fixture.policies.waitUntilIdle()
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let moved = try #require(try await fixture.database.read { try $0.policies.policy(policy.id) })
            #expect(moved.path == ItemPath(unchecked: "/Pictures"))
            #expect(moved.condition == #"path == "/Pictures" || path.startsWith("/Pictures/")"#)
            #expect(fixture.sink.intents.count == asked)
            #expect(try await Self.here(fixture) == ["/Pictures", "/Pictures/a"])
        }
    }
}
