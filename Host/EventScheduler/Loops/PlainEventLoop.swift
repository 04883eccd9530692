public import Model

/// A loop whose event id is stored by itself, after what it belongs to. If the program ends between the two, the page comes again.
public protocol PlainEventLoop: EventLoop {
    /// Applies the page to local storage.
    /// - Throws: What fails the turn: the event id stays, and the page comes again.
    func process(_ page: EventsPage<Payload>) async throws

    /// Asks the server for its newest event id.
    /// - Throws: What fails the turn: nothing was fetched then.
    func newestEventID() async throws -> EventID

    /// Fetches what `plan` says anew into local storage.
    /// - Throws: What fails the turn: the event id stays, and all is fetched again.
    func fetchAnew(_ plan: RefreshPlan) async throws

    /// Stores how far the loop has come.
    /// - Throws: What fails the turn: what was applied comes again.
    func setLatestEventID(_ id: EventID) async throws
}

extension PlainEventLoop {
    /// Applies the page, then stores its event id.
    /// - Throws: What the two throw, and `CancellationError` between them.
    public func process(_ page: EventsPage<Payload>, advancingTo id: EventID) async throws {
        try await process(page)
        try Task.checkCancellation()
        try await setLatestEventID(id)
    }

    /// Asks for the newest event id, fetches, then stores the id.
    /// - Throws: What the three throw, ``EventLoopError/Kind/badPage`` for an empty event id, and `CancellationError`
    ///   before it is stored.
    public func refresh(_ plan: RefreshPlan) async throws -> RefreshAnswer {
        let anchor = try await newestEventID()
        guard !anchor.text.isEmpty else { throw EventLoopError(.badPage, "the new anchor is an empty event id") }
        try await fetchAnew(plan)
        try Task.checkCancellation()
        try await setLatestEventID(anchor)
        return .anchored(at: anchor, more: false)
    }
}
