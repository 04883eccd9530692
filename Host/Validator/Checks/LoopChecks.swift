import CLarder
import FakeHost
import LarderFakeHost
import Model
import PluginHost

/// Event loops.
let loopChecks: [PluginCheck] = [
    .each("PV65", .loops, "It takes an event id that is empty, long or unknown") { site, plugin in
        for id in ["", String(repeating: "x", count: 65_536), "unknown", "\u{FFFD}%\"", "fetch:", "-1"] {
            let stage = try Stage.loop(site, plugin)
            for loop in stage.loops { larder_fake_set_event_id(stage.fake, loop, id) }
            site.now("the event id \(shown(id))")
            stage.poll()
            try stage.expectNoMistake()
        }
        return .passed
    },
    .each("PV66", .loops, "A page that says that there is more has another event id") { site, plugin in
        for server in [Stage.Server.empty, .nonsense] {
            let stage = try Stage.loop(site, plugin)
            stage.answer(as: server)
            site.now(server.text)
            for loop in stage.loops {
                for _ in 0..<20 {
                    let before = larder_fake_event_id(stage.fake, loop).map { String(cString: $0) }
                    larder_fake_poll(stage.fake, loop)
                    guard larder_fake_has_more(stage.fake) == 1 else { break }
                    let after = larder_fake_event_id(stage.fake, loop).map { String(cString: $0) }
                    if let before, before == after {
                        throw stage.finding(
                            "a page says that there is more and has the event id of the page before it",
                            item: loop)
                    }
                }
            }
        }
        return .passed
    },
    .each("PV67", .loops, "Two refreshes from nothing lead to the same records") { site, plugin in
        let stage = try Stage.loop(site, plugin)
        func refresh(_ what: String) -> [Stage.Entry] {
            site.now(what)
            for loop in stage.loops { larder_fake_set_event_id(stage.fake, loop, nil) }
            stage.forget()
            stage.poll()
            return stage.entries(LARDER_FAKE_RECORD)
        }
        _ = refresh("a refresh from nothing")
        let again = refresh("a second refresh from nothing")
        if let first = again.first(where: { $0.name == "remove" }) {
            throw stage.finding(
                "a second refresh removes \(first.id ?? "") though the server is the same", item: first.id)
        }
        try stage.expectNoMistake(ordinary: true) { $0.name == "extension" || $0.status == LARDER_WRONG_THREAD }
        return .passed
    },
    .each("PV68", .loops, "After a commit that failed it asks for the same again") { site, plugin in
        let stage = try Stage.loop(site, plugin)
        larder_fake_fail(stage.fake, "commit", 1, LARDER_IO)
        site.now("a turn whose commit fails")
        stage.poll()
        let lost = try Stage.loop(site, plugin)
        lost.poll()
        let expected = lost.entries(LARDER_FAKE_RECORD)
        stage.forget()
        site.now("the turn after a commit that failed")
        stage.poll()
        let found = stage.entries(LARDER_FAKE_RECORD)
        guard found == expected else {
            let missing = expected.first { !found.contains($0) } ?? found.first { !expected.contains($0) }
            throw stage.finding(
                "after a commit that failed it asks for other records than at first: \(missing?.id ?? "in another order")",
                item: missing?.id)
        }
        try stage.expectNoMistake()
        return .passed
    },
    .each("PV69", .loops, "Each page is released, and with it its memory") { site, plugin in
        let stage = try Stage.loop(site, plugin)
        func turns(_ count: Int) {
            for _ in 0..<count {
                stage.poll()
                stage.forget()
            }
        }
        turns(50)
        let growth = ProcessState.growth(small: ProcessState.smallGrowth) { turns(100) }
        guard growth < ProcessState.smallGrowth else {
            throw stage.finding(
                "\(growth / 100) bytes are left after each turn",
                advice: "Free in release_page what poll and refresh handed out")
        }
        return .passed
    },
]

extension Stage {
    /// Starts a plugin that has event loops.
    /// - Throws: ``Skipped`` if it has none, or does not start.
    static func loop(_ site: CheckSite, _ plugin: PluginCase) throws -> Stage {
        let stage = Stage(site)
        try stage.start(plugin)
        guard stage.access.loops != nil else { throw Skipped(reason: "it has no event loop") }
        return stage
    }
}
