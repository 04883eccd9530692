import Database
import ItemPolicies
import Model
import TestSupport
import Testing

@Suite struct PreviewTests {
    private static let week = Duration.seconds(7 * 86_400)

    /// Gives an item a time of last use and a local copy.
    private func use(_ path: String, at time: Timestamp?, _ fixture: ProcessorFixture) async throws -> Item {
        try await fixture.database.write { tx in
            var item = try #require(try tx.items.item(at: ItemPath(path)))
            item.lastUsed = time
            item.cloudStatus = .localCopy
            return try tx.items.update(item)
        }
    }

    @Test(
        "P54: a dry run tells each wish and each call that asks for nothing, in order, and leaves everything as it was")
    func dryRun() async throws {
        let settings = ["match": #"path != "/b""#, "cleanup": #"path == "/b""#, "mode": "fail"]
        try await withProcessorFixture(settings: settings, items: ["/a", "/b", "/bad"]) { fixture in
            let before = try await fixture.database.read { try $0.meta.integer(.anchor) }
            let wishes = Collected<Wish>()
            try await fixture.policies.dryRun(.itemListUpdateCompleted) { wishes.add($0) }
            #expect(
                wishes.all.map { [$0.call, $0.path?.text ?? "-", $0.would ?? "-"].joined(separator: " ") } == [
                    "performAction /a download", "performAction /bad -", "performCleanup /b removeLocalCopy",
                ])
            #expect(fixture.sink.intents.isEmpty)
            #expect(try await fixture.database.read { try $0.meta.integer(.anchor) } == before)
            // The processor's mask contains this trigger too, so the results are as many as before.
            let quiet = Collected<Wish>()
            try await fixture.policies.dryRun(.policiesChanged) { quiet.add($0) }
            #expect(quiet.all.count == 3)
        }
        try await withProcessorFixture(settings: ["triggers": "2", "match": "true"], items: ["/a"]) { fixture in
            let wishes = Collected<Wish>()
            try await fixture.policies.dryRun(.policiesChanged) { wishes.add($0) }
            #expect(wishes.all.isEmpty)
        }
    }

    @Test("P54: values and policies that a dry run would write are told and not written, and the same run sees them")
    func values() async throws {
        try await withProcessorFixture(settings: ["mode": "kv"]) { fixture in
            for _ in 0..<2 {
                let wishes = Collected<Wish>()
                try await fixture.policies.dryRun(.itemListUpdateCompleted) { wishes.add($0) }
                #expect(wishes.all.map(\.would) == ["putValue"] && wishes.all.map(\.call) == ["willEnterTrigger"])
            }
            let said = fixture.log.messages.filter { $0.hasPrefix("info") }
            #expect(said == ["stored -3", "own 0", "later 0", "stored -3", "own 0", "later 0"].map { "info: \($0)" })
        }
        try await withProcessorFixture(settings: ["mode": "restless"]) { fixture in
            let wishes = Collected<Wish>()
            try await fixture.policies.dryRun(.itemListUpdateCompleted) { wishes.add($0) }
            #expect(wishes.all.map(\.would) == ["addPolicy"])
            #expect(try await fixture.database.read { try $0.policies.all() } == [])
        }
    }

    @Test(
        "P54: an item that will meet a condition by time alone is explained with the moment, and with what is asked then"
    )
    func later() async throws {
        let cleanup = #"!removed && cloudStatus == "localCopy" && lastUsed < now - duration("168h")"#
        let settings = ["cleanup": cleanup, "triggers": "2"]
        try await withProcessorFixture(settings: settings, items: ["/a"]) { fixture in
            let used = Timestamp.now() - .seconds(3600)
            let fresh = try #require(try await fixture.policies.explain(use("/a", at: used, fixture)).first)
            #expect(!fresh.matches && !fresh.cleanup && fresh.now == [])
            #expect(fresh.because?.text == #"lastUsed < now - duration("168h")"#)
            #expect(fresh.change?.named == used + Self.week)
            #expect(fresh.then.map(\.would) == ["removeLocalCopy"])
            #expect(fresh.trigger == .itemListUpdateCompleted)

            let old = try #require(try await fixture.policies.explain(use("/a", at: used - Self.week, fixture)).first)
            #expect(old.cleanup && old.change == nil && old.now.map(\.would) == ["removeLocalCopy"])
            #expect(
                old.because?.text == #"!removed && cloudStatus == "localCopy" && lastUsed < now - duration("168h")"#)

            let unused = try #require(try await fixture.policies.explain(use("/a", at: nil, fixture)).first)
            #expect(!unused.cleanup && unused.change == nil && unused.now == [] && unused.then == [])
            #expect(fixture.sink.intents.isEmpty)
        }
    }

    @Test(
        "P54: an item that is removed is explained as every other, and a processor that wants no trigger says nothing")
    func removed() async throws {
        try await withProcessorFixture(settings: ["cleanup": "removed"], items: []) { fixture in
            let item = try await fixture.add("/gone", removed: true)
            await fixture.policies.waitUntilIdle()
            let before = fixture.sink.intents.count
            let explanation = try #require(try await fixture.policies.explain(item).first)
            #expect(explanation.cleanup && explanation.because?.text == "removed")
            #expect(explanation.now.map(\.call) == ["performCleanup"])
            #expect(fixture.sink.intents.count == before)
        }
        try await withProcessorFixture(settings: ["match": "true", "triggers": "0"], items: ["/a"]) { fixture in
            let item = try #require(try await fixture.database.read { try $0.items.item(at: ItemPath("/a")) })
            let explanation = try #require(try await fixture.policies.explain(item).first)
            #expect(explanation.trigger == nil && explanation.because == nil && explanation.now == [])
        }
        // A processor that is called only for changed items gets the item as its batch.
        try await withProcessorFixture(settings: ["match": "true", "triggers": "1"], items: ["/a", "/b"]) { fixture in
            let item = try #require(try await fixture.database.read { try $0.items.item(at: ItemPath("/b")) })
            let explanation = try #require(try await fixture.policies.explain(item).first)
            #expect(explanation.trigger == .itemsChanged && explanation.now.map(\.path?.text) == ["/b"])
        }
    }

    @Test("P54: available offline explains what it covers, by which policies, and what it would do")
    func availableOffline() async throws {
        try await withProcessorFixture(nil, items: ["/Photos/a", "/b"]) { fixture in
            let policy = try await fixture.database.write { tx in
                try tx.policies.add(
                    ItemPolicy(kind: .availableOffline, condition: #"path.startsWith("/Photos/")"#), by: .somebody,
                    runsTrigger: false)
            }
            let items = try await fixture.database.read { reads in
                try ["/Photos/a", "/b"].compactMap { try reads.items.item(at: ItemPath($0)) }
            }
            let covered = try #require(try await fixture.policies.explain(items[0]).first)
            #expect(covered.plugin.shortName == "available-offline" && covered.policies == [policy.id])
            #expect(covered.matches && covered.now.map(\.would) == ["download"] && covered.change == nil)
            #expect(
                covered.because?.text
                    == #"""
                    !removed && cloudStatus == "cloudOnly" && !("downloading" in syncActivity) && path.startsWith("/Photos/")
                    """#)
            let other = try #require(try await fixture.policies.explain(items[1]).first)
            #expect(!other.matches && !other.cleanup && other.policies == [] && other.now == [])
            #expect(other.because?.text == #"path.startsWith("/Photos/")"#)
            #expect(fixture.sink.intents.isEmpty)
        }
    }

    @Test("P54: a processor's conditions may ask for claims and policies, and the reason is told in the same words")
    func decisions() async throws {
        let settings = ["match": #"!claimed && availableOffline == "indirect""#]
        try await withProcessorFixture(settings: settings, items: ["/a", "/in/b", "/in/c"]) { fixture in
            let claimed = try await fixture.database.write { tx in
                try tx.policies.add(
                    ItemPolicy(kind: .availableOffline, condition: #"path.startsWith("/in/")"#), by: .somebody)
                let item = try #require(try tx.items.item(at: ItemPath("/in/c")))
                try tx.claims.add(
                    Claim(id: ClaimID("c"), item: item.localID, kind: .read, validity: .until(.now() + .seconds(3600))))
                return item
            }
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let names = try fixture.names().filter { $0.hasPrefix("performAction") }
            #expect(Set(names) == ["performAction /in/b"])
            let explanation = try #require(try await fixture.policies.explain(claimed).first)
            #expect(!explanation.matches && explanation.because?.text == "!claimed")
            // When the claim ends, the item is handed over.
            #expect(explanation.change?.value == true && explanation.then.map(\.would) == ["download"])
            // The same text is refused as the condition of what the processor covers.
            #expect(fixture.log.contains("a policy cannot depend on claimed, since policies decide what is kept here"))
        }
    }
}
