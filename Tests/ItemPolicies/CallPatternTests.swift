import Database
import ItemPolicies
import Model
import TestSupport
import Testing

/// Tests of the original's order of calls, call by call.
@Suite struct CallPatternTests {
    private static let files = ["/a", "/b"]
    private static let onlyA = #"path == "/a""#
    private static let onlyB = #"path == "/b""#
    private static let frame = (
        before: ["performPreflightOnPolicies", "willEnterTrigger"], after: ["didPassTrigger"]
    )

    @Test(
        "P8, G5: after each trigger the calls come in the original's order",
        arguments: [
            Trigger.itemListUpdateCompleted, .itemListUpdateCompletedWithoutChanges, .policiesChanged, .syncCapacity,
        ])
    func fullTable(trigger: Trigger) async throws {
        let settings = ["match": "type == \"file\"", "cleanup": Self.onlyB]
        try await withProcessorFixture("recorder", settings: settings, items: Self.files) { fixture in
            let names = try await fixture.names { fixture.policies.fire(trigger) }
            #expect(
                names == ["updatePolicies"] + Self.frame.before + [
                    "beginMatching", "performAction /a", "performAction /b", "endMatching", "beginCleanup",
                    "performCleanup /b", "endCleanup",
                ] + Self.frame.after)
            let calls = try fixture.calls()
            #expect(calls.allSatisfy { $0.trigger == trigger.name && $0.status == "ok" })
            // Unchanged policies are not passed to the processor again.
            #expect(try await fixture.names { fixture.policies.fire(trigger) }.first == "performPreflightOnPolicies")
        }
    }

    @Test(
        "P8, G5: begin and end are absent when no item matches or the condition is absent",
        arguments: [("", ""), ("false", "false"), (onlyA, ""), ("", onlyB), (onlyA, "false"), ("false", onlyB)])
    func absent(match: String, cleanup: String) async throws {
        try await withProcessorFixture("recorder", settings: ["match": match, "cleanup": cleanup], items: Self.files) {
            fixture in
            let names = try await fixture.names { fixture.policies.fire(.itemListUpdateCompleted) }
            let matching = match == Self.onlyA ? ["beginMatching", "performAction /a", "endMatching"] : []
            let cleaning = cleanup == Self.onlyB ? ["beginCleanup", "performCleanup /b", "endCleanup"] : []
            #expect(names == ["updatePolicies"] + Self.frame.before + matching + cleaning + Self.frame.after)
        }
    }

    @Test("P8, P10, P52: changed items alone are offered, those that are gone too, in the order of their paths")
    func itemsChanged() async throws {
        let settings = ["match": "true"]
        try await withProcessorFixture("recorder", settings: settings, items: ["/old", "/b"]) { fixture in
            await fixture.policies.waitUntilIdle()
            let names = try await fixture.names {
                try await fixture.database.write { transaction in
                    guard let b = try transaction.items.item(at: ItemPath("/b")) else { return }
                    try transaction.scan.noteMissing(b.databaseID)
                    try transaction.scan.removeMissing(at: Timestamp(seconds: 5))
                    for path in ["/z", "/c"] {
                        try transaction.items.insert(
                            Item(localID: .random(), fileID: nil, path: ItemPath(path), kind: .file))
                    }
                }
            }
            #expect(
                names == ["updatePolicies"] + Self.frame.before + [
                    "beginMatching", "performAction /b", "performAction /c", "performAction /z", "endMatching",
                ] + Self.frame.after)
            let calls = try fixture.calls()
            #expect(calls.allSatisfy { $0.trigger == "itemsChanged" })
        }
    }

    @Test("P10: preflight gets the batch, removed items marked as such; with other triggers it gets none")
    func preflight() async throws {
        try await withProcessorFixture(settings: ["mode": "preflight"], items: ["/old"]) { fixture in
            try await fixture.add("/new", size: 7)
            try await fixture.add("/gone", size: 9, removed: true)
            await fixture.policies.waitUntilIdle()
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(
                fixture.log.messages.filter { $0.hasPrefix("info") } == [
                    "info: there 7", "info: gone 9", "info: no batch 0",
                ])
        }
    }

    @Test(
        "P10: preflight sees what the server removed, with what changed beside it, and a folder's contents with the folder"
    )
    func preflightOfRemoved() async throws {
        try await withProcessorFixture(settings: ["mode": "preflight"], items: ["/kept", "/d/one", "/d/three"]) {
            fixture in
            let folder = try await fixture.database.write { transaction in
                try transaction.items.insert(
                    Item(localID: LocalID("d"), fileID: nil, path: ItemPath("/d"), kind: .folder))
            }
            for path in ["/d", "/d/one", "/d/three"] {
                try await fixture.database.write { transaction in
                    guard var item = try transaction.items.item(at: ItemPath(path)) else { return }
                    item.fileID = FileID(path)
                    try transaction.items.update(item)
                }
            }
            await fixture.policies.waitUntilIdle()
            let before = fixture.log.messages.count
            try await fixture.database.write { transaction in
                guard let row = try transaction.items.scanRow(at: folder.path),
                    let kept = try transaction.items.item(at: ItemPath("/kept"))
                else { return }
                try transaction.scan.noteMissing(row.databaseID)
                try transaction.scan.removeMissing(at: Timestamp(seconds: 5))
                try transaction.items.update(kept)
            }
            await fixture.policies.waitUntilIdle()
            let said = fixture.log.messages.dropFirst(before).filter { $0.hasPrefix("info") }
            #expect(Array(said) == ["info: gone 0", "info: gone 6", "info: gone 8", "info: there 5"])
        }
    }

    @Test("P7: a processor is called only for the triggers in its mask")
    func mask() async throws {
        let settings = ["triggers": "\(1 << Trigger.policiesChanged.rawValue)"]
        try await withProcessorFixture(settings: settings, items: ["/a"]) { fixture in
            for trigger in Trigger.allCases where trigger != .policiesChanged { fixture.policies.fire(trigger) }
            try await fixture.add("/b")
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.calls().isEmpty)
            fixture.policies.fire(.policiesChanged)
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.calls().count == 4)
        }
    }

    @Test("P7: the mask is read each time")
    func changingMask() async throws {
        // The processor wants all triggers at first, then none, then all again.
        try await withProcessorFixture(settings: ["mode": "moody"]) { fixture in
            for expected in [1, 1, 2, 2, 3] {
                fixture.policies.fire(.itemListUpdateCompleted)
                await fixture.policies.waitUntilIdle()
                let count = try fixture.count(of: "willEnterTrigger")
                #expect(count == expected)
            }
        }
    }

    @Test("P9: the processors that `plugins.order` names are called before all others", arguments: [nil, 0])
    func order(rank: Int?) async throws {
        try await withProcessorFixture(
            "recorder", settings: ["match": Self.onlyA], beside: ("wilful", ["match": Self.onlyA]), rankOfOther: rank,
            items: Self.files
        ) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let first = try Files.text(fixture.tracePath).split(separator: "\n").first { $0.contains("performAction") }
            let plugin = rank == nil ? "org.example.recorder" : "org.example.wilful"
            #expect(first?.contains(plugin) == true, "\(first ?? "")")
        }
    }

    @Test("G5: what it asks for happens, once and under its name")
    func asks() async throws {
        try await withProcessorFixture("recorder", settings: ["match": Self.onlyA], items: Self.files) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(
                fixture.sink.intents == [
                    Intent(
                        plugin: PluginID("org.example.recorder"),
                        change: .download(LocalID("id:/a"), whileCovered: false),
                        key: "id:/a")
                ])
        }
    }
}
