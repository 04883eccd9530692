import Model

/// The position of a turn in a chain of pages that follow each other by `more`.
struct Chain: Sendable, Hashable {
    /// The number of turns before this one.
    var turns = 0
    /// Whether one of the turns was a refresh.
    var hasRefreshed = false
    /// Whether the previous turn said that there is more and gave the same event id with which it was polled.
    var hasStalled = false
}

/// The outcome of a turn.
struct TurnOutcome: Sendable {
    var result: LoopResult
    var before: EventID?
    var after: EventID?
    var hasRefreshed = false
    var error: EventLoopError?
}

/// The purpose of a call into a loop. It determines how long the call may take.
enum TurnStage: Sendable { case polling, processing }

extension EventLoop {
    /// Takes one turn.
    /// - Parameters:
    ///   - chain: The position of the turn in its chain.
    ///   - enter: Tells, before each stage, whether the turn is still wanted.
    /// - Returns: The outcome; nil if the turn is not wanted any more.
    func takeTurn(_ chain: Chain, enter: @Sendable (TurnStage) async -> Bool) async -> TurnOutcome? {
        var outcome = TurnOutcome(result: .ok)
        var failing = EventLoopError.Kind.storage
        do {
            guard await enter(.polling) else { return nil }
            outcome.before = try await latestEventID.flatMap { $0.text.isEmpty ? nil : $0 }
            outcome.after = outcome.before
            guard let before = outcome.before else {
                guard await enter(.processing) else { return nil }
                await onError(EventLoopError(.missingEventID, "the loop \(loopID) has no event id"))
                guard await enter(.processing) else { return nil }
                failing = .refreshing
                try await refresh(.everything, into: &outcome)
                return outcome
            }

            failing = .network
            guard await enter(.polling) else { return nil }
            guard case .page(let page) = try await poll(since: before) else {
                outcome.result = .notOffered
                return outcome
            }
            guard await enter(.processing) else { return nil }
            guard page.refresh.isEmpty else {
                failing = .refreshing
                guard !chain.hasRefreshed else {
                    throw EventLoopError(
                        .badPage, "the server requests another refresh right after a refresh of everything")
                }
                await onError(EventLoopError(.outdated, "the cache of the loop \(loopID) is too old"))
                guard await enter(.processing) else { return nil }
                try await refresh(page.refresh.plan(handlers: refreshHandlers), into: &outcome)
                return outcome
            }

            failing = .processing
            guard !page.eventID.text.isEmpty else { throw EventLoopError(.badPage, "the page has an empty event id") }
            if page.more, page.eventID == before, chain.hasStalled {
                throw EventLoopError(
                    .noProgress, "the server says that there is more, but returns the same event id again")
            }
            try await process(page, advancingTo: page.eventID)
            outcome.after = page.eventID
            if page.more { outcome.result = .more }
            return outcome
        } catch {
            guard await enter(.processing) else { return nil }
            let error = EventLoopError(error, during: failing)
            await onError(error)
            outcome.result = .error
            outcome.error = error
            return outcome
        }
    }

    private func refresh(_ plan: RefreshPlan, into outcome: inout TurnOutcome) async throws {
        outcome.hasRefreshed = true
        switch try await refresh(plan) {
        case .notOffered: outcome.result = .notOffered
        case .anchored(let anchor, let more):
            guard !anchor.text.isEmpty else { throw EventLoopError(.badPage, "the new anchor is an empty event id") }
            outcome.after = anchor
            outcome.result = more ? .more : .refresh
        }
    }
}
