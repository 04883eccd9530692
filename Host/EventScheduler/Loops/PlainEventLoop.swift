public import Model

/// A loop whose event id is stored by itself, after what it belongs to. If the program ends between the two, the page comes again.
public protocol PlainEventLoop: EventLoop {
    /// Applies the page to local storage.
    func process(_ page: EventsPage<Payload>) async throws

    /// Asks the server for its newest event id.
    func newestEventID() async throws -> EventID

    /// Fetches what `plan` says anew into local storage.
    func fetchAnew(_ plan: RefreshPlan) async throws

    func setLatestEventID(_ id: EventID) async throws
}

extension PlainEventLoop {
    public func process(_ page: EventsPage<Payload>, advancingTo id: EventID) async throws {
        try await process(page)
        try Task.checkCancellation()
        try await setLatestEventID(id)
    }

    public func refresh(_ plan: RefreshPlan) async throws -> RefreshAnswer {
        let anchor = try await newestEventID()
        guard !anchor.text.isEmpty else { throw EventLoopError(.badPage, "the new anchor is an empty event id") }
        try await fetchAnew(plan)
        try Task.checkCancellation()
        try await setLatestEventID(anchor)
        return .anchored(at: anchor, more: false)
    }
}
