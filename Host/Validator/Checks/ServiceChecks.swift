import CLarder
import FakeHost
import LarderFakeHost
import Model
import PluginHost

/// Services under stress.
let serviceChecks: [PluginCheck] = [
    .each("PV55", .services, "It goes on when a function of a service returns any status") { site, plugin in
        let used = try Stage.used(site, plugin)
        // Services that are not there, and projects, have checks of their own.
        for function in used.called.sorted()
        where !["fail", "extension"].contains(function) && !function.hasPrefix("projects.") {
            for status in stride(from: LARDER_FAILED, through: LARDER_STATUS_LAST, by: -1) {
                let stage = Stage(site)
                var random = site.random()
                stage.put(StageItem.some(30, &random))
                larder_fake_fail(stage.fake, function, 0, status)
                site.now("\(function) that returns \(statusName(status))")
                // A plugin need not start without what it needs.
                guard (try? stage.start(plugin)) != nil else { continue }
                stage.work()
                try stage.expectNoMistake()
                stage.stop()
            }
        }
        return .passed
    },
    .each("PV56", .services, "Keys tell its requests apart, and stay the same") { site, plugin in
        let stage = try Stage.processor(site, plugin)
        var random = site.random()
        stage.put(StageItem.some(200, &random))
        for trigger in stage.triggers {
            site.now("the trigger \(trigger.name)")
            stage.run(trigger)
            let first = stage.actions
            stage.forget()
            for (key, same) in Dictionary(grouping: first.filter { !($0.text ?? "").isEmpty }, by: \.text) {
                let asked = Set(same.map { [$0.name, $0.id ?? "", $0.target ?? ""] })
                if asked.count > 1 {
                    throw stage.finding(
                        "\(asked.count) requests have the key \(shown(key ?? "")), so that only one of them is done",
                        item: same[0].path)
                }
            }
            // Nothing was done yet, so that it asks again: for the same, by the same keys.
            stage.run(trigger)
            if let new = stage.actions.first(where: { !first.contains($0) }) {
                throw stage.finding(
                    "a second run before anything was done asks anew for \(new) with the key \(shown(new.text ?? ""))",
                    item: new.path)
            }
            stage.forget()
        }
        return .passed
    },
    .each("PV57", .services, "It goes on when its values are full, cut short or those of another version") {
        site, plugin in
        let used = try Stage.used(site, plugin)
        let keys = used.access.keys
        guard used.called.contains("kv.put") || used.called.contains("kv.get") else {
            return .skipped("it stores no values")
        }
        let longer = [UInt8](repeating: 0xA5, count: 65_536)
        for key in keys {
            let value = used.access.value(for: key) ?? []
            for bytes in [[], [0], Array(value.dropLast(1)), Array(value.prefix(value.count / 2)), value + [0], longer]
            {
                let stage = Stage(site)
                var random = site.random()
                stage.put(StageItem.some(30, &random))
                stage.access.put(bytes, for: key)
                site.now("\(bytes.count) other bytes for the value \(shown(String(decoding: key, as: UTF8.self)))")
                try stage.start(plugin)
                stage.work()
                try stage.expectNoMistake()
            }
        }
        for status in [LARDER_LIMIT, LARDER_CONFLICT] {
            let stage = Stage(site)
            var random = site.random()
            stage.put(StageItem.some(30, &random))
            larder_fake_fail(stage.fake, "kv.put", 0, status)
            site.now("kv.put that returns \(statusName(status))")
            try stage.start(plugin)
            stage.work()
            try stage.expectNoMistake()
        }
        return .passed
    },
    .each("PV58", .services, "It goes on whatever the server answers") { site, plugin in
        let used = try Stage.used(site, plugin)
        guard used.called.contains("http.open") || used.called.contains("dav.open") else {
            return .skipped("it makes no requests to the server")
        }
        for server in Stage.Server.allCases {
            let stage = Stage(site)
            try stage.start(plugin)
            stage.answer(as: server)
            site.now(server.text)
            if server == .endless { CheckLimits.lower(dataTo: 1 << 30) }
            for _ in 0..<3 { stage.poll() }
            try stage.expectNoMistake()
            stage.stop()
        }
        return .passed
    },
    .each("PV59", .services, "It goes on when the clock jumps") { site, plugin in
        let times: [(text: String, now: Int64, monotonic: Int64?)] = [
            ("a clock that was put back by a day", Stage.now - Stage.day, nil),
            ("a clock that was put ahead by a month", Stage.now + 31 * Stage.day, nil),
            ("a monotonic clock that stands still", Stage.now + Stage.day, Stage.day),
            ("a clock in 1970", 0, Stage.day), ("a clock in 2200", 7_258_118_400_000_000_000, Stage.day),
        ]
        for time in times {
            let stage = Stage(site)
            try stage.start(plugin)
            var random = site.random()
            stage.put(StageItem.some(60, &random))
            stage.work()
            stage.set(now: time.now, monotonic: time.monotonic)
            site.now(time.text)
            stage.work()
            try stage.expectNoMistake()
        }
        return .passed
    },
    .each("PV60", .services, "It goes on when its projects are full, in conflict or undone") { site, plugin in
        let used = try Stage.used(site, plugin)
        guard used.called.contains(where: { $0.hasPrefix("projects.") }) else { return .skipped("it has no projects") }
        func make(_ text: String, _ prepare: (Stage) -> Void, between: (Stage) -> Void = { _ in }) throws {
            let stage = Stage(site)
            try stage.start(plugin)
            var random = site.random()
            stage.put(StageItem.some(30, &random))
            prepare(stage)
            site.now(text)
            for _ in 0..<2 {
                stage.work()
                between(stage)
            }
            // The quota is no mistake of the plugin.
            try stage.expectNoMistake { $0.status == LARDER_LIMIT }
        }
        try make("a quota of one byte", { larder_fake_quota($0.fake, 1) })
        for function in used.called.sorted() where function.hasPrefix("projects.") {
            for status in stride(from: LARDER_FAILED, through: LARDER_STATUS_LAST, by: -1) {
                try make(
                    "\(function) that returns \(statusName(status))", { larder_fake_fail($0.fake, function, 0, status) }
                )
            }
        }
        try make("projects that a person undid", { _ in }) { stage in
            for index in 0..<larder_fake_project_count(stage.fake) {
                guard let id = larder_fake_project_id(stage.fake, index) else { continue }
                larder_fake_set_cursor(stage.fake, id, 0)
            }
        }
        return .passed
    },
    .each("PV61", .services, "It does not write a line into the log for every item, again and again") { site, plugin in
        let stage = Stage(site)
        try stage.start(plugin)
        var random = site.random()
        stage.put(StageItem.some(10_000, &random))
        for trigger in stage.triggers {
            site.now("10,000 items, the trigger \(trigger.name)")
            stage.run(trigger)
        }
        stage.poll()
        let count = larder_fake_count(stage.fake, LARDER_FAKE_LOG)
        guard count < 100_000 else {
            throw stage.finding(
                "it wrote \(count) lines into the log", advice: "Write one line for a run, or at the level debug")
        }
        return .passed
    },
]

extension Stage {
    /// What the plugin used in a run of each trigger and a turn of each loop.
    static func used(_ site: CheckSite, _ plugin: PluginCase) throws -> Stage {
        let stage = Stage(site)
        try stage.start(plugin)
        var random = site.random()
        stage.put(StageItem.some(60, &random))
        stage.work()
        return stage
    }

    /// The functions of services that the plugin called.
    var called: Set<String> { access.called }
}
