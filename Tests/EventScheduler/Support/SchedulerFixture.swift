import Model
import TestSupport

@testable import EventScheduler

/// A scheduler with its script, and a clock that the test moves.
struct SchedulerFixture: Sendable {
    let clock = TestClock()
    let script: LoopScript
    let scheduler: EventsPeriodicScheduler
    static let period = Duration.seconds(60)

    /// - Parameter random: 0.5 has every refill come neither early nor late.
    init(script: LoopScript = LoopScript(), random: @escaping @Sendable () -> Double = { 0.5 }) {
        self.script = script
        scheduler = EventsPeriodicScheduler(
            period: Self.period, clock: clock.host, random: random, core: { ScriptedLoop($0, script, $1) },
            special: { ScriptedLoop($0, script, $1) }, onTurn: { script.report($0) })
    }

    /// Enables the core loop and special loops that have an event id, `e0`.
    func enable(core: Bool = true, _ special: LoopKey...) async {
        if core {
            script.setID("e0", of: .core)
            await scheduler.enableCoreLoop()
        }
        for loop in special {
            script.setID("e0", of: loop)
            await scheduler.enableSpecialLoop(loop)
        }
    }

    /// Starts, and lets the first refill come to its end.
    func start() async {
        await scheduler.start()
        await pass(.zero)
    }

    /// Lets time pass, with all that happens in it. What a gate holds up stays.
    func pass(_ duration: Duration) async {
        let target = clock.monotonic + duration
        while true {
            await quiet()
            guard let wake = await scheduler.machine.armed, wake <= target else { break }
            await until { clock.deadlines.contains(wake) }
            clock.advance(to: wake)
            await until { await scheduler.machine.armed != wake }
        }
        // A timer that looked at the clock and does not sleep yet would sleep too long.
        if let wake = await scheduler.machine.armed { await until { clock.deadlines.contains(wake) } }
        clock.advance(to: target)
        await quiet()
    }

    /// Lets the time to the next refill pass.
    func tick() async { await pass(Self.period) }

    /// Waits until nothing runs, or what runs is held up by a gate.
    func quiet() async {
        await until {
            guard let running = await scheduler.machine.running else { return true }
            guard running.operation.chain != nil, let gate = script.blocked[running.operation.loop], !gate.isOpen else {
                return false
            }
            return gate.ignoresCancellation || running.state != .cancelled
        }
    }
}
