import CLarder
import FakeHost
import LarderFakeHost
import Model
import PluginHost

/// Random lives of the library's plugins: starts and stops, runs, turns, items, settings, faults and clocks. A seed
/// repeats a life.
public enum RandomLives {
    /// Goes through lives from the site's seed on.
    /// - Parameter limit: The time after which no other life begins.
    /// - Returns: The number of lives, and what came of the last one.
    public static func go(_ site: CheckSite, for limit: Duration) -> (count: UInt64, outcome: CheckOutcome) {
        let end = ContinuousClock.now + limit
        var count: UInt64 = 0
        while true {
            let outcome = repeatLife(site.seed &+ count, site)
            count += 1
            if outcome != .passed || ContinuousClock.now >= end { return (count, outcome) }
        }
    }

    /// Goes through one life again.
    public static func repeatLife(_ seed: UInt64, _ site: CheckSite) -> CheckOutcome {
        let check = PluginCheck("random", .life, "") { site in
            var random = RandomNumbers(seed: seed)
            let plugins = try site.plugins()
            guard let plugin = plugins.randomElement(using: &random) else {
                throw Skipped(reason: "there is no plugin")
            }
            site.note(plugin: plugin.id.text, doing: nil)
            do {
                var life = try RandomLife(site, plugin, seed: seed, random)
                try life.live()
            } catch var finding as Finding {
                (finding.plugin, finding.doing) = (plugin.id.text, site.doing)
                throw finding
            }
            return .passed
        }
        return site.make(check)
    }

    /// The seed of the life that a note of a process that ended says it was in; nil if it says none.
    public static func seed(in finding: Finding) -> UInt64? {
        guard let doing = finding.doing, doing.hasPrefix(RandomLife.mark) else { return nil }
        return UInt64(doing.dropFirst(RandomLife.mark.count).prefix { $0.isNumber })
    }
}

private struct RandomLife {
    static let mark = "the random life "
    private let site: CheckSite
    private let plugin: PluginCase
    private let seed: UInt64
    private let stage: Stage
    private let settings: [String]
    private var random: RandomNumbers
    private var now = Stage.now
    private var step = 0
    private var made = 6
    /// Whether a fault has kept it from starting again.
    private var isOver = false

    init(_ site: CheckSite, _ plugin: PluginCase, seed: UInt64, _ random: RandomNumbers) throws {
        (self.site, self.plugin, self.seed, self.random) = (site, plugin, seed, random)
        stage = Stage(site)
        settings = try SettingsVariants.all(of: plugin, in: site)
    }

    mutating func live() throws {
        stage.access.lending =
            [[], .withoutEnd, .readOnly, [.revoked, .larger], .larger].randomElement(using: &random) ?? []
        if let name = plugin.wanted.randomElement(using: &random), chance(4) { larder_fake_withhold(stage.fake, name) }
        stage.put(StageItem.some(Int.random(in: 0...60, using: &random), &random))
        try start()
        for _ in 0..<Int.random(in: 5...40, using: &random) where !isOver { try takeStep() }
        note("its end")
        stage.stop()
        try stage.expectNoMistake()
    }

    private mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

    private mutating func note(_ what: String) {
        step += 1
        site.now("\(Self.mark)\(seed), step \(step): \(what)")
    }

    private mutating func start() throws {
        let settings = chance(2) ? "{}" : self.settings.randomElement(using: &random) ?? "{}"
        note("the start with the settings \(settings)")
        // A plugin may refuse a setting, but not the empty ones.
        if (try? stage.start(plugin, settings: settings)) == nil { try stage.start(plugin) }
        let servers = Stage.Server.allCases.filter { $0 != .huge }
        if chance(3), let server = servers.randomElement(using: &random) { stage.answer(as: server) }
    }

    private mutating func takeStep() throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5:
            guard let trigger = Trigger.allCases.randomElement(using: &random) else { return }
            note("a run of the trigger \(trigger.name)")
            stage.run(trigger)
        case 5..<7:
            note("a turn of each loop")
            stage.poll()
        case 7 where !stage.items.isEmpty:
            let index = Int.random(in: 0..<stage.items.count, using: &random)
            if chance(3) { return stage.remove(at: index) }
            var other = StageItem.file(&random)
            stage.change(at: index) { item in
                (other.localID, other.path, other.isFolder) = (item.localID, item.path, item.isFolder)
                item = other
            }
        case 8:
            made += 1
            var item = StageItem.file(&random)
            (item.localID, item.path) = ("made-\(made)", "/Photos/made \(made)")
            stage.put([item])
        case 9:
            now += Int64.random(in: -2...40, using: &random) * Stage.day
            stage.set(now: now)
        case 10:
            guard let function = stage.called.sorted().randomElement(using: &random) else { return }
            let status = Int32.random(in: LARDER_STATUS_LAST...LARDER_FAILED, using: &random)
            note("\(function) that returns \(statusName(status))")
            larder_fake_fail(stage.fake, function, UInt32.random(in: 1...4, using: &random), status)
        case 11 where chance(3):
            note("its stop")
            stage.stop()
            isOver = (try? start()) == nil
        default: break
        }
        try stage.expectNoMistake()
    }
}
