import CLarder
import FakeHost
import Glibc
import LarderFakeHost
import Model
import PluginHost
import Synchronization
import Threads

/// The life of an instance.
let lifeChecks: [PluginCheck] = [
    .each("PV30", .life, "An instance is created, started, stopped and destroyed") { site, plugin in
        let module = try RawModule(site.library)
        let host = StubHost()
        guard let instance = module.create(plugin.id.text, host) else {
            throw Finding("create fails, before any service was asked for")
        }
        instance.pointee.destroy(instance.pointee.context)
        let stage = Stage(site)
        let before = ProcessState()
        do { try stage.start(plugin) } catch let skipped as Skipped {
            // What the host finds in the tables and in the schema, other checks tell.
            let problem = stage.problem ?? ""
            if ["bad ", "null ", "settings:", "it requires "].contains(where: problem.hasPrefix) { throw skipped }
            throw Finding(skipped.reason, advice: "A plugin starts with an empty config: give each setting a default")
        }
        stage.stop()
        if let change = ProcessState().changedSetting(since: before) {
            throw stage.finding("from start to stop, \(change)")
        }
        try stage.expectNoMistake(ordinary: true) { $0.status == LARDER_WRONG_STATE }
        return .passed
    },
    .each("PV31", .life, "Starting and stopping it 100 times leaves no memory, descriptor or thread") { site, plugin in
        func rounds(_ count: Int, _ stage: Stage) throws {
            for _ in 0..<count {
                try stage.start(plugin)
                stage.stop()
                stage.forget()
            }
        }
        guard try site.ordinaryMistakes(of: plugin).isEmpty else {
            return .skipped("the host keeps its mistakes, which other checks tell, and that takes memory")
        }
        let own = try BlankModule.growth(like: plugin, rounds: 100, in: site)
        let stage = Stage(site)
        // What is made once, on the first use, is no leak.
        try rounds(20, stage)
        let (threads, files) = (ProcessState.threadCount, ProcessState.fileCount)
        let growth = try ProcessState.growth(small: own + ProcessState.smallGrowth) {
            try rounds(100, stage)
            // How soon a thread ends is no matter here.
            for _ in 0..<200 where ProcessState.threadCount > threads { _ = poll(nil, 0, 10) }
        }
        guard ProcessState.threadCount <= threads else {
            throw stage.finding(
                "\(ProcessState.threadCount - threads) threads are left after some hundred starts and stops")
        }
        guard ProcessState.fileCount <= files else {
            throw stage.finding(
                "\(ProcessState.fileCount - files) descriptors are left after some hundred starts and stops")
        }
        guard growth - own < ProcessState.smallGrowth else {
            throw stage.finding(
                "\((growth - own) / 100) bytes are left after each start and stop",
                advice: "Free in stop what start made, and in destroy what create made")
        }
        return .passed
    },
    .each("PV32", .life, "Instances for two accounts do not meet, in turns and in parallel") { site, plugin in
        @Sendable func begin(_ seed: UInt64) throws -> Stage {
            let stage = Stage(site)
            try stage.start(plugin)
            var random = site.random(seed)
            stage.put(StageItem.some(200, &random))
            return stage
        }
        @Sendable func run(_ stage: Stage) -> [Stage.Entry] {
            for trigger in stage.triggers { stage.run(trigger) }
            return stage.requests
        }
        let alone = [run(try begin(1)), run(try begin(2))]
        let turns = [try begin(1), try begin(2)]
        site.now("two instances in turns")
        for number in 0..<Trigger.allCases.count {
            for stage in turns where number < stage.triggers.count { stage.run(stage.triggers[number]) }
        }
        guard turns.map(\.requests) == alone else {
            throw turns[0].finding("two instances in turns ask for other things than each of them alone")
        }
        site.now("two instances in parallel")
        let found = Mutex<[Int: Sent<[Stage.Entry]>]>([:])
        let ended = Semaphore()
        for number in 0..<2 {
            _ = try SystemThread(name: "instance-\(number)") {
                if let stage = try? begin(UInt64(number + 1)) {
                    let requests = Sent(run(stage))
                    found.withLock { $0[number] = requests }
                }
                ended.signal()
            }
        }
        for _ in 0..<2 { ended.wait() }
        guard (0..<2).map({ number in found.withLock { $0[number]?.value } ?? [] }) == alone else {
            throw Finding("two instances in parallel ask for other things than each of them alone")
        }
        return .passed
    },
    .each("PV33", .life, "It works without each service that it only wants") { site, plugin in
        guard !plugin.wanted.isEmpty else { return .skipped("it wants no service beyond those that it requires") }
        _ = try site.ordinaryMistakes(of: plugin)
        for name in plugin.wanted {
            site.now("without \(name)")
            let stage = Stage(site)
            larder_fake_withhold(stage.fake, name)
            do { try stage.start(plugin) } catch let skipped as Skipped {
                throw stage.finding(
                    skipped.reason, advice: "Name \(name) in `required` if nothing works without it")
            }
            var random = site.random()
            stage.put(StageItem.some(40, &random))
            stage.work()
            try stage.expectNoMistake()
        }
        return .passed
    },
    .each("PV34", .life, "It does no harm when a service that it requires is not there") { site, plugin in
        guard !plugin.required.isEmpty else { return .skipped("it requires no service") }
        for name in plugin.required {
            site.now("without \(name)")
            let stage = Stage(site)
            larder_fake_withhold(stage.fake, name)
            // The host starts no plugin without what it requires, so that it need not notice.
            if stage.access.startAnyway(plugin.id) == LARDER_OK { stage.stop() }
            // What it asks for while it starts is told by another check.
            try stage.expectNoMistake { $0.name == "start" || $0.name == "extension" }
        }
        return .passed
    },
    .each("PV35", .life, "It can be destroyed after a start that failed, and started again") { site, plugin in
        guard let name = plugin.required.first else { return .skipped("it requires no service, and no start fails") }
        let stage = Stage(site)
        larder_fake_withhold(stage.fake, name)
        for _ in 0..<20 { _ = stage.access.startAnyway(plugin.id) }
        let again = Stage(site)
        try again.start(plugin)
        again.stop()
        try again.expectNoMistake()
        return .passed
    },
    .each("PV36", .life, "It does not call the host in create, nor after stop") { site, plugin in
        let module = try RawModule(site.library)
        let host = StubHost()
        guard let instance = module.create(plugin.id.text, host) else {
            throw Skipped(reason: "no instance can be created")
        }
        instance.pointee.destroy(instance.pointee.context)
        guard host.asked == 0 else { throw Finding("it asked for a service in create") }
        let stage = Stage(site)
        try stage.start(plugin)
        for trigger in stage.triggers { stage.run(trigger) }
        let before = stage.entries(LARDER_FAKE_MISTAKE).count
        stage.stop()
        // A thread of its own may go on.
        _ = poll(nil, 0, 200)
        if let late = stage.entries(LARDER_FAKE_MISTAKE).dropFirst(before).first(where: {
            $0.status == LARDER_WRONG_THREAD || $0.status == LARDER_WRONG_STATE
        }) {
            throw stage.finding("it called \(late.name) when no call was under way (\(statusName(late.status)))")
        }
        return .passed
    },
    .each("PV37", .life, "No thread of it is left when stop returns") { site, plugin in
        let stage = Stage(site)
        try stage.start(plugin)
        for trigger in stage.triggers { stage.run(trigger) }
        stage.stop()
        // The language's runtime may have made threads of its own, once.
        let before = ProcessState.threadCount
        try stage.start(plugin)
        for trigger in stage.triggers { stage.run(trigger) }
        stage.stop()
        var now = ProcessState.threadCount
        // The kernel takes a moment to end a thread that was waited for.
        for _ in 0..<20 where now > before {
            _ = poll(nil, 0, 10)
            now = ProcessState.threadCount
        }
        guard now <= before else { throw stage.finding("\(now - before) threads run on after stop") }
        return .passed
    },
    PluginCheck("PV38", .life, "The process ends in order while an instance lives") { site in
        for plugin in try site.plugins() {
            site.note(plugin: plugin.id.text, doing: "the end of the process")
            let stage = Stage(site)
            try stage.start(plugin)
            for trigger in stage.triggers { stage.run(trigger) }
            // It lives on, and with it the stage.
            _ = Unmanaged.passRetained(stage)
        }
        return .passed
    },
]

/// A value that one thread at a time uses.
struct Sent<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// Runs a body on another thread, and waits for it.
func onThread(_ body: @escaping @Sendable () -> Void) throws {
    let ended = Semaphore()
    _ = try SystemThread(name: "check") {
        body()
        ended.signal()
    }
    ended.wait()
}
