public import Model

/// What polls one source for new events and applies them to local storage. The scheduler decides when.
///
/// A turn of a loop: its event id is read at that moment; nil is reported as missing and answered with ``refresh(_:)``.
/// Otherwise ``poll(since:)`` gives a page. A page that wants a refresh is not processed: ``refresh(_:)`` follows. Any other
/// page goes to ``process(_:advancingTo:)``, and if it says `more`, the loop's next turn is queued behind the other loops'.
///
/// A page's effects and its event id belong together, so whoever applies the one stores the other, best in one transaction.
/// ``PlainEventLoop`` does it in two steps.
///
/// All calls come one after another, on the cooperative pool: do not block. A call's task is cancelled when the loop is disabled,
/// the scheduler suspended or the call's time over; a call that has been cancelled begins no new request and stores nothing.
public protocol EventLoop: Sendable {
    /// What a page carries beside its head: the events, as the loop has parsed them.
    associatedtype Payload: Sendable

    /// The name under which the loop was enabled.
    var loopID: LoopKey { get }

    /// How long its calls may take.
    var limits: LoopLimits { get }

    /// How long it waits between two polls, where that is longer than the scheduler's period; nil: no longer.
    var interval: Duration? { get }

    /// Which bits of a page's ``Refresh`` the loop can fetch anew by themselves, a set of bits for each handler. Together they are
    /// everything. None: there is only everything.
    var refreshHandlers: [Refresh] { get }

    /// How far the loop has come, from where it is stored; nil: unknown.
    /// - Throws: ``EventLoopError`` if it knows what failed; any other error counts as ``EventLoopError/Kind/storage``.
    var latestEventID: EventID? { get async throws }

    /// Asks what is new since `id`, and parses it. Changes nothing.
    /// - Throws: ``EventLoopError`` if it knows what failed; any other error counts as ``EventLoopError/Kind/network``.
    func poll(since id: EventID) async throws -> PollAnswer<Payload>

    /// Applies the page to local storage and stores `id` as ``latestEventID``, both or neither. A page of which this fails
    /// comes again.
    /// - Throws: ``EventLoopError`` if it knows what failed; any other error counts as
    ///   ``EventLoopError/Kind/processing``. Nothing is stored then.
    func process(_ page: EventsPage<Payload>, advancingTo id: EventID) async throws

    /// Takes a new anchor first, then fetches what `plan` says, and stores both or neither. Taken afterwards, the anchor
    /// would leave out what happened meanwhile.
    /// - Throws: ``EventLoopError`` if it knows what failed; any other error counts as
    ///   ``EventLoopError/Kind/refreshing``. Nothing is stored then.
    func refresh(_ plan: RefreshPlan) async throws -> RefreshAnswer

    /// Is told of every failure of a turn, also that the event id is missing or the cache outdated, after which a refresh follows.
    func onError(_ error: EventLoopError) async
}

extension EventLoop {
    public var limits: LoopLimits { LoopLimits() }
    public var interval: Duration? { nil }
    public var refreshHandlers: [Refresh] { [] }
}

/// How long a loop's calls may take. After that the turn has failed, and other loops go on.
public struct LoopLimits: Sendable, Hashable {
    /// For reading the event id and polling.
    public var polling: Duration
    /// For processing a page or fetching everything anew.
    public var processing: Duration

    public init(polling: Duration = .seconds(60), processing: Duration = .seconds(600)) {
        self.polling = polling
        self.processing = processing
    }
}
