public import Model

/// One answer of a source of events.
public struct EventsPage<Payload: Sendable>: Sendable {
    /// How far the loop has come with this page; the same as before if there is nothing new.
    public var eventID: EventID
    /// What is cached is too old and is to be fetched anew. Then ``eventID`` and ``more`` mean nothing.
    public var refresh: Refresh
    /// Whether there is more after this page.
    public var more: Bool
    public var payload: Payload

    public init(eventID: EventID, refresh: Refresh = .nothing, more: Bool = false, payload: Payload) {
        self.eventID = eventID
        self.refresh = refresh
        self.more = more
        self.payload = payload
    }

    /// A page whose flags came as numbers: of `refresh` each bit counts, and any `more` above 0 is one.
    public init(eventID: EventID, refresh: Int64, more: Int64, payload: Payload) {
        self.init(eventID: eventID, refresh: Refresh(number: refresh), more: more > 0, payload: payload)
    }
}

/// What a poll came to.
public enum PollAnswer<Payload: Sendable>: Sendable {
    case page(EventsPage<Payload>)
    /// The server has nothing to poll here, which is no error: it is asked again a day later.
    case notOffered
}

/// What a refresh came to.
public enum RefreshAnswer: Sendable, Hashable {
    /// All was fetched and is stored together with the event id that was taken before. With `more`, the rest of it comes as
    /// pages after that id.
    case anchored(at: EventID, more: Bool)
    case notOffered
}
