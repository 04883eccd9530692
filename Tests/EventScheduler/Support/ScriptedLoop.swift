import EventScheduler
import Model
import Synchronization

/// A loop that does what the test's world says; without word, the page has nothing new.
final class ScriptedLoop: EventLoop {
    let loopID: LoopKey
    private let world: World
    private let number: Int
    private let delegate: any LoopDelegate

    init(_ id: LoopKey, _ world: World, _ delegate: any LoopDelegate) {
        loopID = id
        self.delegate = delegate
        self.world = world
        number = world.made(id)
    }

    var limits: LoopLimits { world.limits }
    var interval: Duration? { world.intervals[loopID] }
    var refreshHandlers: [Refresh] { world.refreshHandlers }

    var latestEventID: EventID? {
        get async throws { world.id(of: loopID).map(EventID.init) }
    }

    func poll(since id: EventID) async throws -> PollAnswer<String> {
        world.log(loopID, "poll \(id)")
        world.polled(by: number)
        let step = world.poll(loopID)
        try await world.carryOut(step, of: loopID)
        world.log(loopID, "polled")
        guard let step else { return .page(EventsPage(eventID: id, payload: "")) }
        return step.page.map { .page($0) } ?? .notOffered
    }

    func process(_ page: EventsPage<String>, advancingTo id: EventID) async throws {
        world.log(loopID, "process \(id)")
        // A core page's payload `stop 1` says that calendar 1 is gone.
        if page.payload.hasPrefix("stop ") {
            await delegate.disableSpecialLoop(.special(String(page.payload.dropFirst(5))))
        }
        let step = world.process(loopID)
        try await world.carryOut(step, of: loopID)
        if step?.storesAnyway != true { try Task.checkCancellation() }
        world.setID(id.text, of: loopID)
        world.log(loopID, "processed")
    }

    func refresh(_ plan: RefreshPlan) async throws -> RefreshAnswer {
        world.log(loopID, "anchor")
        switch plan {
        case .everything: world.log(loopID, "fetch everything")
        case .parts(let parts): for part in parts { world.log(loopID, "fetch \(part.rawValue)") }
        }
        let step = world.refresh(loopID)
        try await world.carryOut(step, of: loopID)
        try Task.checkCancellation()
        let anchor = step?.page?.eventID ?? EventID("anchor")
        world.setID(anchor.text, of: loopID)
        return .anchored(at: anchor, more: step?.page?.more ?? false)
    }

    func onError(_ error: EventLoopError) async { world.log(loopID, "error \(error.kind)") }
}
