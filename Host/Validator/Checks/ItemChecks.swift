import CLarder
import FakeHost
import LarderFakeHost
import Model
import PluginHost

/// Items and calls.
let itemChecks: [PluginCheck] = [
    .each("PV40", .items, "It processes 0, 1, 2, 1,000 and 100,000 items") { site, plugin in
        for count in [0, 1, 2, 1_000, 100_000] {
            let stage = try Stage.processor(site, plugin)
            var random = site.random(UInt64(count))
            stage.put(StageItem.some(count, &random))
            // All triggers over the most items would take too long, and say no more.
            for trigger in count > 10_000 ? Array(stage.triggers.prefix(1)) : stage.triggers {
                site.now("\(count) items, the trigger \(trigger.name)")
                stage.run(trigger)
                try stage.expectNoMistake(ordinary: true) {
                    // Other checks tell of these.
                    $0.name == "extension" || $0.name.hasSuffix("_condition") || $0.status == LARDER_WRONG_THREAD
                }
            }
        }
        return .passed
    },
    .each("PV41", .items, "It takes structs of items and policies that are larger than those it knows") {
        site, plugin in
        try Stage.passes(site, plugin, lending: .larger)
    },
    .each("PV42", .items, "It takes items of which no field has a value, or one alone") { site, plugin in
        for bit in -1..<23 {
            let stage = try Stage.processor(site, plugin)
            // Whatever it asks for, it gets these items.
            larder_fake_evaluate_with(stage.fake, { _, _, _ in 1 }, nil)
            var random = site.random()
            stage.put(
                StageItem.some(20, &random).map { item in
                    var item = item
                    item.onlyPresent = bit < 0 ? 0 : 1 << UInt64(bit)
                    return item
                })
            for trigger in stage.triggers {
                site.now("\(bit < 0 ? "no field" : "the field \(bit) alone"), the trigger \(trigger.name)")
                stage.run(trigger)
                // An id that is absent cannot be asked for.
                try stage.expectNoMistake { $0.status == LARDER_INVALID_ARGUMENT }
            }
        }
        return .passed
    },
    .each("PV43", .items, "It takes texts that are empty, long, with a zero inside, and without one at the end") {
        site, plugin in
        let long = String(repeating: "a", count: 65_536)
        for text in ["", long, "zero\u{0}inside", "e\u{301}\u{302}", "\u{202E}txt.exe", "\u{FEFF}", "%s%n%d", "\"\\"] {
            let stage = try Stage.processor(site, plugin, lending: .withoutEnd)
            larder_fake_evaluate_with(stage.fake, { _, _, _ in 1 }, nil)
            var random = site.random()
            stage.put(
                StageItem.some(text == long ? 3 : 10, &random).map { item in
                    var item = item
                    item.path = "/\(item.localID)/\(text)"
                    (item.etag, item.mimeType, item.owner, item.permissions) = (text, text, text, text)
                    (item.downloadTrigger, item.shares) = (text, text)
                    return item
                })
            for trigger in stage.triggers {
                site.now("texts such as \(shown(text)), the trigger \(trigger.name)")
                stage.run(trigger)
                try stage.expectNoMistake()
            }
        }
        return .passed
    },
    .each("PV44", .items, "It does not write into the items that it is lent") { site, plugin in
        try Stage.passes(site, plugin, lending: .readOnly)
    },
    .each("PV45", .items, "It does not read an item after the call that lent it") { site, plugin in
        try Stage.passes(site, plugin, lending: .revoked)
    },
    .each("PV46", .items, "Its conditions are valid, for each trigger and with each setting") { site, plugin in
        for settings in try SettingsVariants.all(of: plugin, in: site) {
            let stage: Stage
            // It may refuse settings, but not the empty ones.
            do { stage = try Stage.processor(site, plugin, settings: settings) } catch let skipped as Skipped {
                if settings == "{}" { throw skipped }
                continue
            }
            var random = site.random()
            stage.put(StageItem.some(5, &random))
            for trigger in stage.triggers {
                site.now("the settings \(settings), the trigger \(trigger.name)")
                stage.run(trigger)
                try stage.expectNoMistake(ordinary: true) { !$0.name.hasSuffix("_condition") }
            }
        }
        return .passed
    },
    .each("PV47", .items, "The same items lead to the same requests") { site, plugin in
        let first = try requests(site, plugin)
        let second = try requests(site, plugin)
        if let difference = difference(first, second) {
            throw Finding(
                "two runs over the same items asked for other things: \(difference)", item: difference.path)
        }
        return .passed
    },
    .each("PV51", .items, "The order of the items does not change the requests", warns: true) { site, plugin in
        let stage = try Stage.processor(site, plugin)
        guard stage.access.maximumRecords == nil else {
            return .skipped("the order says which items are the first ones that it has room for")
        }
        let first = try requests(site, plugin)
        guard try requests(site, plugin) == first else { return .skipped("the same order leads to other requests too") }
        let second = try requests(site, plugin, isReversed: true)
        if let difference = difference(first.sorted(), second.sorted()) {
            throw Finding(
                "runs over the same items in another order asked for other things: \(difference)",
                item: difference.path)
        }
        return .passed
    },
    .each("PV48", .items, "It reads only the fields of items that it names", warns: true) { site, plugin in
        func requests(_ lending: Lending) throws -> [Stage.Entry] {
            let stage = try Stage.processor(site, plugin, lending: lending)
            larder_fake_evaluate_with(stage.fake, { _, _, _ in 1 }, nil)
            var random = site.random()
            stage.put(StageItem.some(60, &random))
            for trigger in stage.triggers {
                site.now("the trigger \(trigger.name), and values that make no sense in the other fields")
                stage.run(trigger)
            }
            return stage.requests
        }
        let expected = try requests([])
        guard try requests([]) == expected else { return .skipped("the same items lead to other requests") }
        if let difference = difference(expected, try requests(.trapped)) {
            throw Finding(
                "what it asks for depends on fields that it does not name: \(difference)", item: difference.path)
        }
        return .passed
    },
    .each("PV49", .items, "When its requests are done, it asks for nothing more") { site, plugin in
        try RestCheck(site, plugin).make()
    },
    .each("PV50", .items, "A processor with a maximum of requests heeds syncCapacity") { site, plugin in
        let stage = try Stage.processor(site, plugin)
        guard let most = stage.access.maximumRecords else { return .skipped("it has no maximum of requests") }
        guard stage.triggers.contains(.syncCapacity) else {
            throw stage.finding(
                "it wants at most \(most) actions at a time, and its triggers lack syncCapacity, with which the host "
                    + "hands over the rest")
        }
        return .passed
    },
]

/// The requests of a processor for items, each time from the same beginning.
private func requests(_ site: CheckSite, _ plugin: PluginCase, isReversed: Bool = false) throws -> [Stage.Entry] {
    let stage = try Stage.processor(site, plugin)
    var random = site.random()
    stage.access.isReversed = isReversed
    stage.put(StageItem.some(300, &random))
    for trigger in stage.triggers {
        site.now("the trigger \(trigger.name)\(isReversed ? ", in another order" : "")")
        stage.run(trigger)
    }
    return stage.requests
}

/// Returns the first request that is in one list and not at the same place in the other.
private func difference(_ one: [Stage.Entry], _ other: [Stage.Entry]) -> Stage.Entry? {
    for (first, second) in zip(one, other) where first != second { return first }
    if one.count == other.count { return nil }
    return one.count > other.count ? one[other.count] : other[one.count]
}

/// A text in a message.
func shown(_ text: String) -> String {
    if text.isEmpty { return "an empty one" }
    if text.utf8.count > 64 { return "one of \(text.utf8.count) bytes" }
    return JSONValue.string(text).text
}

extension Stage {
    /// Starts a plugin that is a processor.
    /// - Throws: ``Skipped`` if it is none, or does not start.
    static func processor(
        _ site: CheckSite, _ plugin: PluginCase, settings: String = "{}", lending: Lending = []
    ) throws -> Stage {
        let stage = Stage(site)
        stage.access.lending = lending
        try stage.start(plugin, settings: settings)
        guard stage.access.isProcessor else { throw Skipped(reason: "it is no processor") }
        return stage
    }

    /// Makes a run of each trigger over items that are lent in a way.
    static func passes(_ site: CheckSite, _ plugin: PluginCase, lending: Lending) throws -> CheckOutcome {
        let stage = try processor(site, plugin, lending: lending)
        // Whatever it asks for, it gets all items.
        larder_fake_evaluate_with(stage.fake, { _, _, _ in 1 }, nil)
        var random = site.random()
        stage.put(StageItem.some(60, &random))
        for trigger in stage.triggers {
            site.now("the trigger \(trigger.name)")
            stage.run(trigger)
            try stage.expectNoMistake()
        }
        return .passed
    }
}
