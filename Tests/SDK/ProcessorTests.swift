import CLarder
import LarderFakeHost
import LarderSDK
import Testing

import struct Model.Item
import struct Model.ItemPolicy

/// A processor that uses everything in the SDK. An item's name says what the processor does with the item.
struct Sampler: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.example.sampler", name: "Sampler", version: "1.2.3", vendor: "Example", summary: "Tries everything",
        required: [.actions, .config],
        wanted: [.log, .values, .policies, .clock, .cancel, .items, .usage, .records])
    static let kind = "sampler"
    static let fields: ItemFields = [.path, .name, .localID, .type, .size, .claims]
    static let settingsSchema: String? = #"{"properties": {"word": {"type": "string", "default": "hello"}}}"#

    let host: Host
    let actions: Host.Actions
    let word: String
    var seen = 0
    var kept: [LarderSDK.ItemPolicy] = []

    init(host: Host) throws(PluginError) {
        self.host = host
        actions = try host.require(host.actions, .actions)
        word = try host.settings()["word"]?.string ?? "none"
        host.log?.info("started with \(word)")
    }

    var triggers: TriggerSet { [.itemsChanged, .policiesChanged, .recordsChanged] }
    var matchCondition: String? { "!removed" }
    var cleanupCondition: String? { "removed" }

    mutating func updatePolicies(_ policies: [LarderSDK.ItemPolicy]) { kept = policies }

    mutating func preflight(for trigger: Trigger, changed: inout ItemCursor) throws(PluginError) {
        while let item = try changed.next() {
            host.log?.debug("changed \(item.path?.copied() ?? "?")")
        }
    }

    mutating func performAction(on item: LarderSDK.Item, for trigger: Trigger) throws(PluginError) {
        guard let localID = item.localID, let name = item.name else { return }
        seen += 1
        try actions.download(localID, key: "\(seen)")
        if name == "fail" { throw PluginError(.failed, "no luck with \(name.copied())") }
        if name == "fields" {
            host.log?.info(
                "size \(item.size ?? -1), etag \(item.etag?.copied() ?? "absent"), \(item.has([.path, .type]))")
        }
        if name == "values", let values = host.values {
            try values.set("a", to: Array("1".utf8))
            try values.set("b", to: [])
            host.log?.info("a is \(try values.value(of: "a") ?? []), c is \(try values.value(of: "c")?.count ?? -1)")
            try values.remove("b")
        }
        if name == "policies", let policies = host.policies {
            try policies.add(LarderSDK.ItemPolicy(condition: "favorite", identifier: "new"), quietly: true)
            for policy in try policies.list() { try policies.remove(policy) }
        }
        if name == "time", let clock = host.clock {
            host.log?.info("\(try clock.now()) \(try clock.monotonic())")
        }
        if name == "claimed", let claims = item.claims { host.log?.info("claimed \(claims == [.read, .delete])") }
        if name == "remove" { try actions.removeLocalCopy(localID, restoringFormer: true, ifUnused: true, key: "gone") }
        if name == "cancel" { try host.cancel?.check() }
        if name == "query", let items = host.items {
            var cursor = try items.matching("favorite", fields: .path)
            var found = ""
            while let item = try cursor.next() { found += item.path?.copied() ?? "?" }
            host.log?.info("found \(found)")
        }
        if name == "sorted", let items = host.items {
            for (isDescending, limit) in [(false, nil), (true, 2), (true, 0)] as [(Bool, Int?)] {
                var cursor = try items.matching(
                    "!removed", fields: .size, sortedBy: .size, descending: isDescending, limit: limit)
                var found: [Int64] = []
                while let item = try cursor.next() { found.append(item.size ?? -1) }
                host.log?.info("sizes \(found)")
            }
        }
        if name == "records", let records = host.records {
            var all = try records.all(in: "list", after: "/a")
            var keys = ""
            while let record = try all.next() { keys += " \(record.key)=\(record.version)" }
            let known = try records.record("/a", in: "list")?.version
            host.log?.info("keys\(keys), known \(known ?? "none")")
            try records.put(LarderSDK.Record(key: "/c"), in: "list")
        }
        if name == "usage", let usage = try host.usage?.figures() {
            host.log?.info("\(usage.localBytes) \(usage.localCopies) \(usage.freeBytes) \(usage.totalBytes)")
        }
    }

    func explanation(of item: LarderSDK.Item) throws(PluginError) -> String? {
        guard let name = item.name else { return nil }
        if name == "fail" { throw PluginError(.failed, "no idea of \(name.copied())") }
        return name == "quiet" ? nil : "\(name.copied()) is number \(seen)"
    }

    mutating func endMatching(for trigger: Trigger) { host.log?.info("\(seen) seen, \(kept.count) policies") }
}

@Suite struct ProcessorTests {
    let fixture: PluginFixture

    init() throws {
        fixture = try PluginFixture(entry: { _, out in export(Sampler.self, Drafter.self, loops: Sampling.self, to: out)
        })
    }

    private func start(settings: String = #"{"word": "hi"}"#) {
        #expect(fixture.start("org.example.sampler", settings: settings) == LARDER_OK)
    }

    private func runOver(_ items: Model.Item...) -> larder_status {
        for item in items { fixture.put(item) }
        return fixture.run(.policiesChanged)
    }

    @Test("SDK: a Swift processor's description, settings and schema reach the host and back")
    func description() throws {
        let descriptor = try #require(larder_fake_describe(fixture.fake, 0)).pointee
        #expect(String(descriptor.id) == "org.example.sampler" && String(descriptor.summary) == "Tries everything")
        #expect(String(descriptor.required) == "larder.actions/1 larder.config/1")
        #expect(String(descriptor.wanted).hasPrefix("larder.log/1 larder.kv/1 larder.policies/1 "))
        #expect(larder_fake_describe(fixture.fake, 3) == nil)
        start()
        #expect(fixture.logLines == ["started with hi"])
        #expect(
            larder_fake_schema(fixture.fake).map { String(cString: $0) }
                == Sampler.settingsSchema?.replacing(" ", with: ""))
        larder_fake_stop(fixture.fake)
        #expect(fixture.start("org.example.sampler", settings: "no JSON") == LARDER_INVALID_ARGUMENT)
        #expect(fixture.problem?.hasPrefix("settings: not JSON: ") == true)
    }

    @Test("P53: a call that throws has asked for nothing, says why, and the next item comes")
    func failure() {
        start()
        #expect(runOver(.file("/1"), .file("/fail"), .file("/2")) == LARDER_FAILED)
        #expect(fixture.paths("download") == ["/1", "/2"])
        #expect(fixture.failures == ["no luck with fail"])
        #expect(fixture.logLines.last == "3 seen, 0 policies")
    }

    @Test("SDK: only the fields that were asked for have values")
    func fields() {
        start()
        var item = Model.Item.file("/fields", etag: "7")
        item.size = 0
        #expect(runOver(item) == LARDER_OK)
        #expect(fixture.logLines.contains("size 0, etag absent, true"))
    }

    @Test("SDK: an item's claims reach the plugin")
    func claims() {
        start()
        fixture.put(.file("/claimed"), claims: LARDER_CLAIM_READ | LARDER_CLAIM_DELETE)
        #expect(fixture.run(.policiesChanged) == LARDER_OK)
        #expect(fixture.logLines.contains("claimed true"))
    }

    @Test("SDK: values are written when the call returns, and read before")
    func values() {
        start()
        #expect(runOver(.file("/values")) == LARDER_OK)
        #expect(fixture.logLines.contains("a is [49], c is -1"))
        #expect(fixture.value(of: "a") == "1" && fixture.value(of: "b") == nil)
    }

    @Test("SDK: policies are added and removed, and come back with the next run")
    func policies() {
        start()
        fixture.put(Model.ItemPolicy.pin(folder: "/a"))
        #expect(runOver(.file("/policies")) == LARDER_OK)
        #expect(fixture.policyChanges == [LARDER_POLICY_QUIET, 0])
        #expect(fixture.policies.map(\.identifier) == ["new"] && fixture.policies.map(\.condition) == ["favorite"])
        #expect(fixture.policies.map(\.revision) == [1])
    }

    @Test("SDK: a removal's flags reach the host")
    func removal() {
        start()
        #expect(runOver(.file("/remove")) == LARDER_OK)
        let removal = fixture.actions.first { $0.name == "remove_local_copy" }
        #expect(removal?.flags == LARDER_REMOVE_RESTORE_FORMER | LARDER_REMOVE_IF_UNUSED)
        #expect(removal?.path == "/remove" && removal?.key == "gone")
    }

    @Test("SDK: the clock, a query and the changed items are read")
    func reads() {
        start()
        larder_fake_time(fixture.fake, 11, 22)
        var favorite = Model.Item.file("/b")
        favorite.isFavorite = true
        fixture.put(.file("/time"), .file("/query"), favorite)
        #expect(fixture.run(.itemsChanged, .file("/time"), .file("/query")) == LARDER_OK)
        #expect(
            fixture.logLines == [
                "started with hi", "changed /time", "changed /query", "found /b", "11 22", "2 seen, 0 policies",
            ])
    }

    @Test("SDK: a query is sorted and limited, and items without a value come first")
    func sorted() {
        start()
        var items = ["/sorted", "/a", "/b"].map { Model.Item.file($0) }
        for (index, size) in [Int64?.some(7), nil, 300].enumerated() { items[index].size = size }
        for item in items { fixture.put(item) }
        #expect(fixture.run(.itemsChanged, items[0]) == LARDER_OK)
        #expect(
            fixture.logLines.filter { $0.hasPrefix("sizes") } == ["sizes [-1, 7, 300]", "sizes [300, 7]", "sizes []"])
    }

    @Test("SDK: the room that local copies take, and what there is, reach the plugin")
    func usage() {
        start()
        larder_fake_room(fixture.fake, 1, 2, 3, 4)
        #expect(runOver(.file("/usage")) == LARDER_OK)
        #expect(fixture.logLines.contains("1 2 3 4"))
    }

    @Test("SDK: a cancelled call ends with that status")
    func cancel() {
        start()
        larder_fake_cancel(fixture.fake)
        #expect(runOver(.file("/cancel")) == LARDER_CANCELLED)
        #expect(fixture.actions == [])
    }

    @Test("G11: a service that is withheld is nil, and the plugin runs without it")
    func withheld() {
        for service in [
            LARDER_EXT_LOG, LARDER_EXT_KV, LARDER_EXT_POLICIES, LARDER_EXT_CLOCK, LARDER_EXT_ITEMS, LARDER_EXT_USAGE,
        ] {
            larder_fake_withhold(fixture.fake, service)
        }
        start()
        #expect(runOver(.file("/values"), .file("/policies"), .file("/time"), .file("/query")) == LARDER_OK)
        #expect(fixture.paths("download").count == 4)
    }

    @Test("G6: the host's refusal reaches the plugin as an error, and the fake host names it")
    func refusal() {
        start()
        larder_fake_fail(fixture.fake, "kv.put", 1, LARDER_IO)
        #expect(runOver(.file("/values")) == LARDER_IO)
        #expect(fixture.failures == ["the host's kv.put failed: reading or writing failed"])
        #expect(fixture.value(of: "a") == nil && fixture.actions == [])
    }

    @Test("P54: what a Swift processor says of an item reaches the host, and so does why it cannot tell")
    func explanation() {
        start()
        #expect(runOver(.file("/1"), .file("/quiet")) == LARDER_OK)
        fixture.put(.file("/fail"))
        #expect(fixture.explanation(of: .file("/1")) == "1 is number 2")
        #expect(fixture.explanation(of: .file("/quiet")) == nil)
        #expect(fixture.explanation(of: .file("/fail")) == nil)
        #expect(fixture.explanation(of: .file("/1")) == "1 is number 2")
        #expect(fixture.failures == ["no idea of fail"] && fixture.mistakes == [])
    }

    @Test("P7: a trigger that is not in the mask makes no call")
    func mask() {
        start()
        fixture.put(.file("/a"))
        #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
        #expect(fixture.calls == [])
    }
}
