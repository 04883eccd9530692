import CLarder
import FakeHost
import Glibc
import LarderFakeHost
import Model
import PluginHost
import Synchronization

/// Threads and time.
let threadChecks: [PluginCheck] = [
    .each("PV75", .threads, "Its calls may come on another thread each time") { site, plugin in
        let box = Sent(Stage(site))
        let failure = Mutex<(any Error)?>(nil)
        var random = site.random()
        box.value.put(StageItem.some(40, &random))
        try onThread {
            do { try box.value.start(plugin) } catch { failure.withLock { $0 = error } }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        for trigger in box.value.triggers {
            site.now("the trigger \(trigger.name) on a new thread")
            try onThread { box.value.run(trigger) }
        }
        try onThread { box.value.poll() }
        try onThread { box.value.stop() }
        try box.value.expectNoMistake()
        return .passed
    },
    .each("PV76", .threads, "Threads of its own do not call the host") { site, plugin in
        let stage = Stage(site)
        try stage.start(plugin)
        var random = site.random()
        stage.put(StageItem.some(40, &random))
        stage.work()
        // A thread of its own gets the time to do it.
        _ = poll(nil, 0, 300)
        stage.stop()
        if let stray = stage.entries(LARDER_FAKE_MISTAKE).first(where: { $0.status == LARDER_WRONG_THREAD }) {
            throw stage.finding("a thread of its own called \(stray.name)")
        }
        return .passed
    },
    .each("PV77", .threads, "A call that is to end returns within 100 ms") { site, plugin in
        var least = Duration.seconds(3_600)
        // The machine may have other work, so that the least of some times counts.
        for _ in 0..<5 where least > .milliseconds(100) {
            let stage = Stage(site)
            try stage.start(plugin)
            var random = site.random()
            stage.put(StageItem.some(1_000, &random))
            larder_fake_cancel(stage.fake)
            _ = stage.access.takeLongestCall()
            for trigger in stage.triggers {
                site.now("the trigger \(trigger.name), while the host is about to stop")
                stage.run(trigger)
            }
            stage.poll()
            least = min(least, stage.access.takeLongestCall())
        }
        guard least <= .milliseconds(100) else {
            throw Finding(
                "a call took \(least.formattedMilliseconds) though larder.cancel/1 said that it is to end",
                advice: "Ask `check` in every loop that may take long")
        }
        return .passed
    },
    .each("PV78", .threads, "No call over 1,000 items takes longer than the host waits for it") { site, plugin in
        let stage = Stage(site)
        try stage.start(plugin)
        var random = site.random()
        stage.put(StageItem.some(1_000, &random))
        _ = stage.access.takeLongestCall()
        for trigger in stage.triggers {
            site.now("the trigger \(trigger.name)")
            stage.run(trigger)
        }
        stage.poll()
        let longest = stage.access.takeLongestCall()
        guard longest < .seconds(5) else {
            throw stage.finding("a call took \(longest.formattedMilliseconds), and a host gives a call up after 30 s")
        }
        return .passed
    },
]
