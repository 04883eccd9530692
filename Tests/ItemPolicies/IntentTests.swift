import Database
import Model
import PluginHost
import Synchronization
import TestSupport
import Testing

@testable import ItemPolicies

@Suite struct IntentTests {
    @Test("P16: what an action changes is looked at by a run after this one, never inside it")
    func queued() async throws {
        // A request for a file marks the file, as in the sync engine. A marked file is not requested again.
        let settings = ["mode": "", "match": #"type == "file" && !favorite"#]
        let effect: @Sendable (Intent, Transaction) throws -> Void = { intent, transaction in
            guard case .download(let id, _) = intent.change, var item = try transaction.items.item(localID: id) else {
                return
            }
            item.isFavorite = true
            try transaction.items.update(item)
        }
        try await withProcessorFixture(settings: settings, items: ["/a", "/b"], effect: effect) { fixture in
            let names = try await fixture.names { fixture.policies.fire(.itemListUpdateCompleted) }
            #expect(
                names == [
                    "updatePolicies", "performPreflightOnPolicies", "willEnterTrigger", "beginMatching",
                    "performAction /a",
                    "performAction /b", "endMatching", "didPassTrigger", "performPreflightOnPolicies",
                    "willEnterTrigger",
                    "didPassTrigger",
                ])
            // Both requests were in one transaction, so one run followed.
            let triggers = try fixture.calls().suffix(3).map(\.trigger)
            #expect(triggers == Array(repeating: "itemsChanged", count: 3))
        }
    }

    @Test("S53: downloads without a key that follow each other are requested together, each once, and in their place")
    func together() async throws {
        let items = ["/a", "/b", "/c", "/d", "/e"]
        let effect: @Sendable (Intent, Transaction) throws -> Void = { intent, transaction in
            guard case .download(let id, _) = intent.change, var item = try transaction.items.item(localID: id),
                item.syncActivity.isEmpty
            else { return }
            item.syncActivity = .downloading
            try transaction.items.update(item)
        }
        // `/c` is asked for with a key, and `/b` twice.
        let settings = ["mode": "keyless", "match": #"cloudStatus == "cloudOnly" && !('downloading' in syncActivity)"#]
        try await withProcessorFixture(settings: settings, items: items, effect: effect) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let id = { LocalID("id:" + $0) }
            #expect(fixture.sink.batches == [["/a", "/b"].map(id), ["/d", "/e"].map(id)])
            #expect(fixture.sink.intents.compactMap(\.change.item) == items.map(id))
            #expect(fixture.sink.intents.map(\.key) == [nil, nil, "/c", nil, nil])
            #expect(fixture.policies.takeFailures().isEmpty)
        }
    }

    @Test("A run's wishes are committed in order, in transactions of 1,000 calls")
    func batches() async throws {
        try await withProcessorFixture(settings: ["match": "true"], items: []) { fixture in
            try await fixture.database.write { transaction in
                for number in 0..<2_500 {
                    try transaction.items.insert(
                        Item(
                            localID: LocalID("\(number)"), fileID: nil,
                            path: ItemPath(unchecked: "/\(10_000 + number)"),
                            kind: .file))
                }
            }
            await fixture.policies.waitUntilIdle()
            #expect(fixture.sink.intents.count == 2_500)
            #expect(fixture.sink.intents.map(\.key) == (0..<2_500).map { "/\(10_000 + $0)" })
        }
    }

    @Test("A plugin's values: the same run sees what it wrote, later runs what was stored; a failed call wrote nothing")
    func values() async throws {
        try await withProcessorFixture(settings: ["mode": "kv"]) { fixture in
            for _ in 0..<2 {
                fixture.policies.fire(.itemListUpdateCompleted)
                await fixture.policies.waitUntilIdle()
            }
            let said = fixture.log.messages.filter { $0.hasPrefix("info") }
            #expect(said == ["stored -3", "own 0", "later 0", "stored 0", "own 0", "later 0"].map { "info: \($0)" })
            let stored = try await fixture.database.read {
                try $0.plugins.value(of: PluginID("org.example.wilful"), key: [0x31])
            }
            #expect(stored == [0x31])
        }
        try await withProcessorFixture(settings: ["mode": "kv fails"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(fixture.log.messages.filter { $0.hasPrefix("info") } == ["info: later -3"])
        }
    }

    @Test("P36: what is to go only unused says since when, and flags that nobody knows are refused")
    func removals() async throws {
        for mode in ["", "if unused", "flags"] {
            let settings = ["mode": mode, "match": "false", "cleanup": "true"]
            try await withProcessorFixture(settings: settings, items: ["/a"]) { fixture in
                let before = Timestamp.now()
                fixture.policies.fire(.itemListUpdateCompleted)
                await fixture.policies.waitUntilIdle()
                guard mode != "flags" else {
                    #expect(fixture.sink.intents.isEmpty)
                    return
                }
                guard
                    case .removeLocalCopy(LocalID("id:/a"), restoringFormerTrigger: false, let unusedSince) = fixture
                        .sink
                        .intents.first?.change
                else { throw SetupError("no removal") }
                #expect((unusedSince != nil) == (mode == "if unused"))
                if let unusedSince { #expect(before <= unusedSince && unusedSince <= .now()) }
            }
        }
    }

    @Test("P36: what is to go only unused stays if it was put in place while the plugin looked at the state before")
    func replacedMeanwhile() async throws {
        let settings = ["mode": "if unused", "match": "false", "cleanup": "true"]
        let replaced = Mutex<Item?>(nil)
        try await withProcessorFixture(
            settings: settings, items: ["/a", "/b"],
            effect: { _, transaction in
                // The other copy comes with a time of use from before the run.
                guard let other = replaced.withLock({ $0.take() }) else { return }
                try transaction.items.updateLocal(other)
            }
        ) { fixture in
            let item = try await fixture.database.read { try $0.items.item(localID: LocalID("id:/b")) }
            replaced.withLock { $0 = item }
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let dropped = try fixture.lines().filter { $0.phase == "dropped" }
            #expect(dropped.map(\.text) == ["/b"] && dropped[0].because == "the item has changed since the run began")
        }
    }

    @Test("P49: a plugin that asks sees which kinds of valid claims an item has")
    func claims() async throws {
        try await withProcessorFixture(settings: ["mode": "claims", "match": "false"], items: ["/a", "/b", "/c"]) {
            fixture in
            try await fixture.database.write { transaction in
                func add(_ id: String, _ item: String, _ kind: Claim.Kind, _ validity: ClaimValidity) throws {
                    try transaction.claims.add(
                        Claim(id: ClaimID(id), item: LocalID("id:" + item), kind: kind, validity: validity))
                }
                try add("1", "/b", .read, .explicit)
                try add("2", "/b", .delete, .until(.now() + .seconds(1_000)))
                try add("3", "/b", .write, .until(.now()))
                try add("4", "/c", .write, .explicit)
            }
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let said = fixture.log.messages.filter { $0.hasPrefix("info") }
            #expect(said == ["info: claims 0", "info: claims 5", "info: claims 2"])
        }
    }

    @Test("A plugin that asks sees which shares an item has, and that nothing is known as long as there are none")
    func shares() async throws {
        try await withProcessorFixture(settings: ["mode": "shares", "match": "false"], items: ["/a", "/b"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            try await fixture.database.write { transaction in
                for (id, path) in [("12", "/b"), ("3 \"x\"", "/b"), ("4", "/c")] {
                    let value = #"{"path":"\#(path)"}"#
                    try transaction.records.put(Record(key: RecordKey(id), value: value), in: .shares)
                }
            }
            await fixture.policies.waitUntilIdle()
            let said = fixture.log.messages.filter { $0.hasPrefix("info") }
            #expect(said == ["info: none", "info: none", "info: []", #"info: ["12","3 \"x\""]"#])
        }
    }

    @Test("A plugin's own cursor sees all items that meet its condition, and is closed once")
    func cursors() async throws {
        try await withProcessorFixture(settings: ["mode": "items"], items: ["/a", "/b", "/c"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(
                fixture.log.messages.filter { $0.hasPrefix("info") }
                    == ["files 3", "closed 0", "closed again -2", "no condition -2"].map { "info: \($0)" })
        }
    }

    @Test("A query's order and limit are kept, items without a value come first, and what cannot be sorted is refused")
    func sorted() async throws {
        try await withProcessorFixture(settings: ["mode": "sorted"], items: ["/aaa", "/b", "/cc"]) { fixture in
            try await fixture.add("/none")
            await fixture.policies.waitUntilIdle()
            #expect(
                fixture.log.messages.filter { $0.hasPrefix("info") }
                    == [
                        "size 4", "size 3", "none 0", "size 2", "size 4", "size 2", "size 3", "none 0", "by etag -2",
                        "by nothing -2", "flags -2",
                    ].map { "info: \($0)" })
            #expect(fixture.log.messages.contains { $0.contains("items cannot be sorted by field 5") })
        }
    }

    @Test("What is here is counted and summed, and the room on its file system is told")
    func usage() async throws {
        try await withProcessorFixture(settings: ["mode": "usage"]) { fixture in
            try await fixture.database.write { transaction in
                for (number, status) in [CloudStatus.cloudOnly, .localCopy, .locallyModified, .localOnly].enumerated() {
                    var item = Item(
                        localID: LocalID("\(number)"), fileID: nil, path: ItemPath(unchecked: "/\(number)"), kind: .file
                    )
                    item.cloudStatus = status
                    let etag = ETag(opaque: "1", strength: .strong)
                    let time = Timestamp(seconds: 1)
                    item.copy = LocalCopy(
                        etag: etag, digest: [1],
                        mark: FileMark(
                            inode: 1, size: Int64(10 << number), modified: time, changed: time, recorded: time))
                    try transaction.items.insert(item)
                }
            }
            let words = ["no size -2", "usage 0", "bytes 60", "copies 2", "room 1"].map { "info: \($0)" }
            await fixture.policies.waitUntilIdle()
            #expect(fixture.log.messages.filter { $0.hasPrefix("info") } == words)
            // Nothing changed, so the figures are those of the last count.
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(fixture.log.messages.filter { $0.hasPrefix("info") } == words + words)
            var item = try #require(try await fixture.database.read { try $0.items.item(localID: LocalID("1")) })
            item.cloudStatus = .cloudOnly
            item.copy = nil
            try await fixture.database.write { [item] in _ = try $0.items.update(item) }
            await fixture.policies.waitUntilIdle()
            #expect(fixture.log.messages.filter { $0 == "info: bytes 40" }.count == 1)
        }
    }

    @Test("Runs that set each other off for ever are stopped, with the processor named")
    func restless() async throws {
        try await withProcessorFixture(settings: ["mode": "restless"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.count(of: "willEnterTrigger") == 21)
            let failure = try #require(fixture.policies.takeFailures().first)
            #expect(failure.message.contains("did not finish"))
            #expect(failure.message.contains("org.example.wilful"))
            let journal = try await fixture.database.read { try $0.policies.changes(limit: 100) }
            #expect(journal.count == 21)
            for row in journal {
                guard case .step(let step) = row.entry else { continue }
                #expect(step.author.who == .plugin(PluginID("org.example.wilful")) && !step.isQuiet)
            }
            // A change from outside starts the runs again.
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.count(of: "willEnterTrigger") == 42)
        }
    }

    @Test(
        "Processors that undo through the sync engine what was done are stopped at the second time, with the item named",
        arguments: [("", ["/a"]), ("keyless", ["/a", "/b"])])
    func undoing(_ mode: String, items: [String]) async throws {
        let settings = [
            "mode": mode, "match": #"cloudStatus == "cloudOnly""#, "cleanup": #"cloudStatus == "localCopy""#,
        ]
        let effect: @Sendable (Intent, Transaction) throws -> Void = { intent, transaction in
            let id: LocalID
            switch intent.change {
            case .download(let item, _), .removeLocalCopy(let item, _, _): id = item
            default: return
            }
            guard var item = try transaction.items.item(localID: id), item.syncActivity.isEmpty else { return }
            item.syncActivity = .downloading
            try transaction.items.update(item)
        }
        try await withProcessorFixture(settings: settings, items: items, effect: effect) { fixture in
            // This function carries out the requests as the engine does, each time in a transaction of its own.
            let carryOut = { () async throws -> Bool in
                let isDone = try await fixture.database.write { transaction in
                    var isDone = false
                    for path in items {
                        guard var item = try transaction.items.item(at: ItemPath(path)), !item.syncActivity.isEmpty
                        else { continue }
                        item.syncActivity = []
                        item.cloudStatus = item.cloudStatus == .cloudOnly ? .localCopy : .cloudOnly
                        try transaction.items.update(item)
                        isDone = true
                    }
                    return isDone
                }
                await fixture.policies.waitUntilIdle()
                return isDone
            }
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            var rounds = 0
            while try await carryOut(), rounds < 100 { rounds += 1 }
            // The files were fetched, removed and fetched again.
            #expect(rounds == 3)
            #expect((fixture.sink.batches.count >= 2) == (items.count > 1))
            let failures = fixture.policies.takeFailures().map(\.message)
            #expect(
                failures == [
                    """
                    Item policies do not finish: /a is downloaded and removed in turn by org.example.wilful, \
                    without a change from outside
                    """
                ])
            let dropped = try Files.text(fixture.tracePath).split(separator: "\n").filter {
                $0.contains(#""phase":"dropped""#)
            }
            #expect(
                dropped.count == items.count
                    && dropped[0].contains(#""what":"removeLocalCopy","text":"/a","because":"/a is downloaded"#))
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let isAskedAgain = try await carryOut()
            #expect(isAskedAgain)
        }
    }

    @Test("P13: one run for each add, update and remove of a policy, none for one that is to run no trigger")
    func policyChanges() async throws {
        try await withProcessorFixture(settings: ["mode": "list"]) { fixture in
            var policy = ItemPolicy(kind: PolicyKind("wilful"), condition: #"path == "/a""#)
            let stored = try await fixture.database.write { [policy] in try $0.policies.add(policy, by: .somebody) }
            policy = stored
            policy.condition = #"path == "/b""#
            try await fixture.database.write { [policy] in _ = try $0.policies.update(policy, by: .somebody) }
            await fixture.policies.waitUntilIdle()
            try await fixture.database.write { try $0.policies.remove(stored.id, by: .somebody, runsTrigger: false) }
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.count(of: "didPassTrigger") == 2)
            // The processor gets only the stored policies of its own kind.
            _ = try await fixture.database.write {
                try $0.policies.add(ItemPolicy(kind: .availableOffline, condition: "true"), by: .somebody)
            }
            await fixture.policies.waitUntilIdle()
            #expect(fixture.log.messages.filter { $0.hasPrefix("info") }.last == #"info: path == "/b""#)
            #expect(try fixture.count(of: "updatePolicies") == 3)
        }
    }

    @Test("P6: what a kind's policies cover is any of their conditions, and of no other kind")
    func coverage() async throws {
        try await withProcessorFixture(settings: ["match": "false"]) { fixture in
            let a = try await fixture.add("/a")
            let b = try await fixture.add("/b")
            let plugin = PluginID("org.example.wilful")
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.policies.covers(a, for: plugin) == false)
            let policy = try await fixture.database.write { transaction in
                try transaction.policies.add(ItemPolicy(kind: .availableOffline, condition: "true"), by: .somebody)
                return try transaction.policies.add(
                    ItemPolicy(kind: PolicyKind("wilful"), condition: #"path == "/a""#), by: .somebody)
            }
            #expect(try fixture.policies.covers(a, for: plugin) == true)
            #expect(try fixture.policies.covers(b, for: plugin) == false)
            try await fixture.database.write { try $0.policies.remove(policy.id, by: .somebody) }
            #expect(try fixture.policies.covers(a, for: plugin) == false)
            #expect(try policyCondition(of: []) == nil)
            await fixture.policies.waitUntilIdle()
        }
    }
}
