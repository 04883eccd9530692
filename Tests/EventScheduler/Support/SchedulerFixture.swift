import Model
import TestSupport

@testable import EventScheduler

/// A scheduler with its script, and a clock that the test moves.
struct SchedulerFixture: Sendable {
    let clock = TestClock()
    let script: LoopScript
    let scheduler: EventsPeriodicScheduler
    static let period = Duration.seconds(60)

    /// Makes a scheduler and its script.
    /// - Parameter random: The function that returns the random numbers. With 0.5 every refill comes neither early nor
    ///   late.
    init(script: LoopScript = LoopScript(), random: @escaping @Sendable () -> Double = { 0.5 }) {
        self.script = script
        scheduler = EventsPeriodicScheduler(
            period: Self.period, clock: clock.host, random: random, core: { ScriptedLoop($0, script, $1) },
            special: { ScriptedLoop($0, script, $1) }, onTurn: { script.report($0) })
    }

    /// Enables the core loop and special loops, all with the event id `e0`.
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

    /// Starts the scheduler and waits until the first refill has ended.
    func start() async {
        await scheduler.start()
        await pass(.zero)
    }

    /// Moves the clock and waits for everything that happens in that time. A call that a gate holds up stays under way.
    func pass(_ duration: Duration) async {
        let target = clock.monotonic + duration
        while true {
            await quiet()
            guard let wake = await scheduler.machine.armed, wake <= target else { break }
            await until { clock.deadlines.contains(wake) }
            clock.advance(to: wake)
            await until { await scheduler.machine.armed != wake }
        }
        // A timer that has read the clock but does not sleep yet would sleep too long.
        if let wake = await scheduler.machine.armed { await until { clock.deadlines.contains(wake) } }
        clock.advance(to: target)
        await quiet()
    }

    /// Moves the clock to the next refill.
    func tick() async { await pass(Self.period) }

    /// Waits until no call runs or a gate holds up the running call.
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
