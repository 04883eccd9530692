public import Model

/// A loop that polls one source for new events and applies them to local storage. The scheduler decides when.
///
/// A turn of a loop begins with reading its event id. If the id is nil, the turn reports it as missing and calls
/// ``refresh(_:)``. Otherwise ``poll(since:)`` returns a page. If the page wants a refresh, the page is not processed,
/// and ``refresh(_:)`` follows. Any other page is passed to ``process(_:advancingTo:)``. If the page says `more`, the
/// loop's next turn is queued behind those of the other loops.
///
/// A page's effects and its event id belong together: the code that applies the page also stores the event id,
/// preferably in one transaction. ``PlainEventLoop`` takes two steps.
///
/// All calls come one after another, on the cooperative pool, and must not block. A call's task is cancelled when the
/// loop is disabled, when the scheduler is suspended, or when the call's time is over. A cancelled call begins no new
/// request and stores nothing.
public protocol EventLoop: Sendable {
    /// The content of a page besides its head: the events, as the loop has parsed them.
    associatedtype Payload: Sendable

    /// The name under which the loop was enabled.
    var loopID: LoopKey { get }

    /// The longest durations of the loop's calls.
    var limits: LoopLimits { get }

    /// The time between two polls of the loop, if it is longer than the scheduler's period; nil if it is not.
    var interval: Duration? { get }

    /// The bits of a page's ``Refresh`` that the loop can fetch anew separately: one set of bits for each handler.
    /// Together the handlers cover everything. Without any handler, the loop fetches everything anew.
    var refreshHandlers: [Refresh] { get }

    /// The event id up to which the loop has processed events, read from storage; nil if it is unknown.
    /// - Throws: ``EventLoopError`` if the loop knows what failed; any other error counts as
    ///   ``EventLoopError/Kind/storage``.
    var latestEventID: EventID? { get async throws }

    /// Requests the events since `id` and parses them. Changes nothing.
    /// - Parameter id: The event id up to which the loop has processed events.
    /// - Returns: A page, or ``PollAnswer/notOffered``.
    /// - Throws: ``EventLoopError`` if the loop knows what failed; any other error counts as
    ///   ``EventLoopError/Kind/network``.
    func poll(since id: EventID) async throws -> PollAnswer<Payload>

    /// Applies the page to local storage and stores `id` as ``latestEventID``. It does both or neither. If this
    /// function fails, the page comes again.
    /// - Parameters:
    ///   - page: The page to apply.
    ///   - id: The event id to store.
    /// - Throws: ``EventLoopError`` if the loop knows what failed; any other error counts as
    ///   ``EventLoopError/Kind/processing``. Nothing is stored then.
    func process(_ page: EventsPage<Payload>, advancingTo id: EventID) async throws

    /// Takes a new anchor first, then fetches what `plan` names, and stores both or neither. An anchor taken afterwards
    /// would skip the events that happened during the fetch.
    /// - Parameter plan: The parts to fetch anew.
    /// - Returns: The anchor, or ``RefreshAnswer/notOffered``.
    /// - Throws: ``EventLoopError`` if the loop knows what failed; any other error counts as
    ///   ``EventLoopError/Kind/refreshing``. Nothing is stored then.
    func refresh(_ plan: RefreshPlan) async throws -> RefreshAnswer

    /// Receives every failure of a turn, including a missing event id or an outdated cache, after which a refresh
    /// follows.
    func onError(_ error: EventLoopError) async
}

extension EventLoop {
    /// The default limits.
    public var limits: LoopLimits { LoopLimits() }
    /// No interval: the loop is polled at the scheduler's period.
    public var interval: Duration? { nil }
    /// No handlers: the loop fetches everything anew.
    public var refreshHandlers: [Refresh] { [] }
}

/// The longest durations of a loop's calls. When a call takes longer, the turn has failed, and other loops go on.
public struct LoopLimits: Sendable, Hashable {
    /// The limit for reading the event id and polling.
    public var polling: Duration
    /// The limit for processing a page or fetching everything anew.
    public var processing: Duration

    /// Creates limits, 60 s for polling and 600 s for processing by default.
    public init(polling: Duration = .seconds(60), processing: Duration = .seconds(600)) {
        self.polling = polling
        self.processing = processing
    }
}
