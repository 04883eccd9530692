import Database
import ItemPolicies
import Model
import TestSupport
import Testing

/// The original's order of calls, call by call.
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
        try await withWorkbench("recorder", settings: settings, items: Self.files) { bench in
            let names = try await bench.names { bench.policies.fire(trigger) }
            #expect(
                names == ["updatePolicies"] + Self.frame.before + [
                    "beginMatching", "performAction /a", "performAction /b", "endMatching", "beginCleanup",
                    "performCleanup /b", "endCleanup",
                ] + Self.frame.after)
            let calls = try bench.calls()
            #expect(calls.allSatisfy { $0.trigger == trigger.name && $0.status == "ok" })
            // Policies that did not change are not handed over again.
            #expect(try await bench.names { bench.policies.fire(trigger) }.first == "performPreflightOnPolicies")
        }
    }

    @Test(
        "P8, G5: begin and end are absent when no item matches or the condition is absent",
        arguments: [("", ""), ("false", "false"), (onlyA, ""), ("", onlyB), (onlyA, "false"), ("false", onlyB)])
    func absent(match: String, cleanup: String) async throws {
        try await withWorkbench("recorder", settings: ["match": match, "cleanup": cleanup], items: Self.files) {
            bench in
            let names = try await bench.names { bench.policies.fire(.itemListUpdateCompleted) }
            let matching = match == Self.onlyA ? ["beginMatching", "performAction /a", "endMatching"] : []
            let cleaning = cleanup == Self.onlyB ? ["beginCleanup", "performCleanup /b", "endCleanup"] : []
            #expect(names == ["updatePolicies"] + Self.frame.before + matching + cleaning + Self.frame.after)
        }
    }

    @Test("P8, P10, P52: changed items alone are offered, those that are gone too, in the order of their paths")
    func itemsChanged() async throws {
        let settings = ["match": "true"]
        try await withWorkbench("recorder", settings: settings, items: ["/old", "/b"]) { bench in
            await bench.policies.waitUntilIdle()
            let names = try await bench.names {
                try await bench.database.write { transaction in
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
            let calls = try bench.calls()
            #expect(calls.allSatisfy { $0.trigger == "itemsChanged" })
        }
    }

    @Test("P10: preflight gets the batch, removed items marked as such; with other triggers it gets none")
    func preflight() async throws {
        try await withWorkbench(settings: ["mode": "preflight"], items: ["/old"]) { bench in
            try await bench.add("/new", size: 7)
            try await bench.add("/gone", size: 9, removed: true)
            await bench.policies.waitUntilIdle()
            bench.policies.fire(.itemListUpdateCompleted)
            await bench.policies.waitUntilIdle()
            #expect(
                bench.log.messages.filter { $0.hasPrefix("info") } == [
                    "info: there 7", "info: gone 9", "info: no batch 0",
                ])
        }
    }

    @Test(
        "P10: preflight sees what the server removed, with what changed beside it, and a folder's contents with the folder"
    )
    func preflightOfRemoved() async throws {
        try await withWorkbench(settings: ["mode": "preflight"], items: ["/kept", "/d/one", "/d/three"]) { bench in
            let folder = try await bench.database.write { transaction in
                try transaction.items.insert(
                    Item(localID: LocalID("d"), fileID: nil, path: ItemPath("/d"), kind: .folder))
            }
            for path in ["/d", "/d/one", "/d/three"] {
                try await bench.database.write { transaction in
                    guard var item = try transaction.items.item(at: ItemPath(path)) else { return }
                    item.fileID = FileID(path)
                    try transaction.items.update(item)
                }
            }
            await bench.policies.waitUntilIdle()
            let before = bench.log.messages.count
            try await bench.database.write { transaction in
                guard let row = try transaction.items.scanRow(at: folder.path),
                    let kept = try transaction.items.item(at: ItemPath("/kept"))
                else { return }
                try transaction.scan.noteMissing(row.databaseID)
                try transaction.scan.removeMissing(at: Timestamp(seconds: 5))
                try transaction.items.update(kept)
            }
            await bench.policies.waitUntilIdle()
            let said = bench.log.messages.dropFirst(before).filter { $0.hasPrefix("info") }
            #expect(Array(said) == ["info: gone 0", "info: gone 6", "info: gone 8", "info: there 5"])
        }
    }

    @Test("P7: a processor is called only for the triggers in its mask")
    func mask() async throws {
        let settings = ["triggers": "\(1 << Trigger.policiesChanged.rawValue)"]
        try await withWorkbench(settings: settings, items: ["/a"]) { bench in
            for trigger in Trigger.allCases where trigger != .policiesChanged { bench.policies.fire(trigger) }
            try await bench.add("/b")
            await bench.policies.waitUntilIdle()
            #expect(try bench.calls().isEmpty)
            bench.policies.fire(.policiesChanged)
            await bench.policies.waitUntilIdle()
            #expect(try bench.calls().count == 4)
        }
    }

    @Test("P7: the mask is read each time")
    func changingMask() async throws {
        // It wants all at first, then nothing, then all again.
        try await withWorkbench(settings: ["mode": "moody"]) { bench in
            for expected in [1, 1, 2, 2, 3] {
                bench.policies.fire(.itemListUpdateCompleted)
                await bench.policies.waitUntilIdle()
                let count = try bench.count(of: "willEnterTrigger")
                #expect(count == expected)
            }
        }
    }

    @Test("G5: what it asks for happens, once and under its name")
    func asks() async throws {
        try await withWorkbench("recorder", settings: ["match": Self.onlyA], items: Self.files) { bench in
            bench.policies.fire(.itemListUpdateCompleted)
            await bench.policies.waitUntilIdle()
            #expect(
                bench.sink.intents == [
                    Intent(
                        plugin: PluginID("org.example.recorder"),
                        change: .download(LocalID("id:/a"), whileCovered: false),
                        key: "id:/a")
                ])
        }
    }
}
