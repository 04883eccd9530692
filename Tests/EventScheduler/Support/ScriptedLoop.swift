import EventScheduler
import Model
import Synchronization

/// A loop that follows the test's script. Without a step in the script, a page holds nothing new.
final class ScriptedLoop: EventLoop {
    let loopID: LoopKey
    private let script: LoopScript
    private let number: Int
    private let delegate: any LoopDelegate

    init(_ id: LoopKey, _ script: LoopScript, _ delegate: any LoopDelegate) {
        loopID = id
        self.delegate = delegate
        self.script = script
        number = script.made(id)
    }

    var limits: LoopLimits { script.limits }
    var interval: Duration? { script.intervals[loopID] }
    var refreshHandlers: [Refresh] { script.refreshHandlers }

    var latestEventID: EventID? {
        get async throws { script.id(of: loopID).map(EventID.init) }
    }

    func poll(since id: EventID) async throws -> PollAnswer<String> {
        script.log(loopID, "poll \(id)")
        script.polled(by: number)
        let step = script.poll(loopID)
        try await script.carryOut(step, of: loopID)
        script.log(loopID, "polled")
        guard let step else { return .page(EventsPage(eventID: id, payload: "")) }
        return step.page.map { .page($0) } ?? .notOffered
    }

    func process(_ page: EventsPage<String>, advancingTo id: EventID) async throws {
        script.log(loopID, "process \(id)")
        // A core page with the payload `stop 1` reports that calendar 1 is gone, and `add 1` that it was created.
        if page.payload.hasPrefix("stop ") {
            await delegate.disableSpecialLoop(.special(String(page.payload.dropFirst(5))))
        } else if page.payload.hasPrefix("add ") {
            await delegate.enableSpecialLoop(.special(String(page.payload.dropFirst(4))))
        }
        let step = script.process(loopID)
        try await script.carryOut(step, of: loopID)
        if step?.storesAnyway != true { try Task.checkCancellation() }
        script.setID(id.text, of: loopID)
        script.log(loopID, "processed")
    }

    func refresh(_ plan: RefreshPlan) async throws -> RefreshAnswer {
        script.log(loopID, "anchor")
        switch plan {
        case .everything: script.log(loopID, "fetch everything")
        case .parts(let parts): for part in parts { script.log(loopID, "fetch \(part.rawValue)") }
        }
        let step = script.refresh(loopID)
        try await script.carryOut(step, of: loopID)
        try Task.checkCancellation()
        let anchor = step?.page?.eventID ?? EventID("anchor")
        script.setID(anchor.text, of: loopID)
        return .anchored(at: anchor, more: step?.page?.more ?? false)
    }

    func onError(_ error: EventLoopError) async { script.log(loopID, "error \(error.kind)") }
}
