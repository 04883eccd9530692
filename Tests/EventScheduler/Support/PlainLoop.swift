import EventScheduler
import Model
import Synchronization

/// A loop of another type than ``ScriptedLoop``, in the original's form. Its pages are numbers.
final class PlainLoop: PlainEventLoop {
    let loopID = LoopKey(kind: LoopKind("share"), id: LoopID("12"))
    private let anchor: EventID
    private let state = Mutex<(id: EventID?, journal: [String])>((nil, []))

    init(anchor: String) { self.anchor = EventID(anchor) }

    var journal: [String] { state.withLock { $0.journal } }
    private func log(_ text: String) { state.withLock { $0.journal.append(text) } }

    var latestEventID: EventID? { get async throws { state.withLock { $0.id } } }
    func setLatestEventID(_ id: EventID) async throws {
        log("set \(id)")
        state.withLock { $0.id = id }
    }
    func poll(since id: EventID) async throws -> PollAnswer<Int> {
        log("poll \(id)")
        return .page(EventsPage(eventID: id, payload: 7))
    }
    func process(_ page: EventsPage<Int>) async throws { log("process \(page.payload)") }
    func newestEventID() async throws -> EventID {
        log("anchor")
        return anchor
    }
    func fetchAnew(_ plan: RefreshPlan) async throws { log("fetch") }
    func onError(_ error: EventLoopError) async { log("error \(error.kind)") }
}
