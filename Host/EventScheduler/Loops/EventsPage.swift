public import Model

/// One answer of a source of events.
public struct EventsPage<Payload: Sendable>: Sendable {
    /// The event id of the loop after this page; the same as before if there is nothing new.
    public var eventID: EventID
    /// The parts of the cache that are too old and must be fetched anew. If there are any, ``eventID`` and ``more``
    /// mean nothing.
    public var refresh: Refresh
    /// Whether there is more after this page.
    public var more: Bool
    /// The events of the page.
    public var payload: Payload

    /// Creates a page.
    public init(eventID: EventID, refresh: Refresh = .nothing, more: Bool = false, payload: Payload) {
        self.eventID = eventID
        self.refresh = refresh
        self.more = more
        self.payload = payload
    }

    /// Creates a page whose flags came as numbers: each bit of `refresh` counts, and any `more` above 0 means that
    /// there is more.
    public init(eventID: EventID, refresh: Int64, more: Int64, payload: Payload) {
        self.init(eventID: eventID, refresh: Refresh(number: refresh), more: more > 0, payload: payload)
    }
}

/// The answer to a poll.
public enum PollAnswer<Payload: Sendable>: Sendable {
    /// A page of events.
    case page(EventsPage<Payload>)
    /// A server that has nothing to poll here, which is no error. It is polled again a day later.
    case notOffered
}

/// The answer to a refresh.
public enum RefreshAnswer: Sendable, Hashable {
    /// A completed refresh: everything was fetched and is stored together with the event id that was taken before. With
    /// `more`, the rest comes as pages after that id.
    case anchored(at: EventID, more: Bool)
    /// A server that has nothing to poll here.
    case notOffered
}
