public import Model

/// A loop that stores its event id separately, after the effects that belong to the id. If the program ends between the
/// two steps, the page comes again.
public protocol PlainEventLoop: EventLoop {
    /// Applies the page to local storage.
    /// - Throws: Any error, which fails the turn: the event id stays, and the page comes again.
    func process(_ page: EventsPage<Payload>) async throws

    /// Requests the newest event id from the server.
    /// - Throws: Any error, which fails the turn: nothing was fetched then.
    func newestEventID() async throws -> EventID

    /// Fetches what `plan` names into local storage anew.
    /// - Throws: Any error, which fails the turn: the event id stays, and everything is fetched again.
    func fetchAnew(_ plan: RefreshPlan) async throws

    /// Stores the event id up to which the loop has processed events.
    /// - Throws: Any error, which fails the turn: the applied events come again.
    func setLatestEventID(_ id: EventID) async throws
}

extension PlainEventLoop {
    /// Applies the page, then stores its event id.
    /// - Throws: The errors of both steps, and `CancellationError` between them.
    public func process(_ page: EventsPage<Payload>, advancingTo id: EventID) async throws {
        try await process(page)
        try Task.checkCancellation()
        try await setLatestEventID(id)
    }

    /// Requests the newest event id, fetches, then stores the id.
    /// - Throws: The errors of the three steps, ``EventLoopError/Kind/badPage`` for an empty event id, and
    ///   `CancellationError` before the id is stored.
    public func refresh(_ plan: RefreshPlan) async throws -> RefreshAnswer {
        let anchor = try await newestEventID()
        guard !anchor.text.isEmpty else { throw EventLoopError(.badPage, "the new anchor is an empty event id") }
        try await fetchAnew(plan)
        try Task.checkCancellation()
        try await setLatestEventID(anchor)
        return .anchored(at: anchor, more: false)
    }
}
