import CLarder
import Connection
import Database
import EventScheduler
import Logging
import Model
import PluginHost
import Threads

/// A plugin's event loop, as the scheduler polls it.
final class PluginLoop: EventLoop {
    /// A page that stays with the plugin until it was applied or is not wanted any more.
    final class Page: Sendable {
        let page: LoopPage
        /// The event id with which the page was polled.
        let since: EventID
        private let instance: PluginInstance

        init(_ page: LoopPage, since: EventID, of instance: PluginInstance) {
            self.page = page
            self.since = since
            self.instance = instance
        }

        deinit { instance.releaseLater(page) }
    }

    let loopID: LoopKey
    let limits: LoopLimits
    let interval: Duration?
    private let offer: LoopOffer
    private let instance: PluginInstance
    private let loops: Committing
    private let gate: CallGate
    /// The delegate that learns which loops a turn added and removed.
    private let delegate: any LoopDelegate

    init(
        _ loopID: LoopKey, _ offer: LoopOffer, of instance: PluginInstance, _ loops: Committing, _ limits: LoopLimits,
        interval: Duration?, gate: CallGate, delegate: any LoopDelegate
    ) {
        (self.loopID, self.offer, self.instance, self.loops) = (loopID, offer, instance, loops)
        self.delegate = delegate
        (self.limits, self.interval, self.gate) = (limits, interval, gate)
    }

    var refreshHandlers: [Refresh] {
        (0..<8).map { UInt64(1) << $0 }.filter { UInt64(offer.refreshBits) & $0 != 0 }.map { Refresh(rawValue: $0) }
    }

    var latestEventID: EventID? {
        get async throws { try await loops.database.read { [loopID] in try $0.loops.eventID(of: loopID) } }
    }

    func poll(since id: EventID) async throws -> PollAnswer<Page> {
        let began = loops.clock.monotonic()
        return try await call(limits.polling) { [self] calls, turn in
            let page: LoopPage
            do { page = try calls.poll(since: id, turn) } catch let failure as LoopFailure {
                if failure.isNotOffered { return .notOffered }
                throw error(failure, turn, or: .network)
            }
            log("polled", since: id, page.eventID, began, ["refresh": "\(page.refresh)", "more": "\(page.more)"])
            return .page(
                EventsPage(
                    eventID: page.eventID ?? id, refresh: Refresh(rawValue: UInt64(page.refresh)), more: page.more,
                    payload: Page(page, since: id, of: instance)))
        }
    }

    func process(_ page: EventsPage<Page>, advancingTo id: EventID) async throws {
        let began = loops.clock.monotonic()
        let changes = try await call(limits.processing) { [self] calls, turn -> LoopTurnChanges? in
            defer { calls.release(page.payload.page) }
            // The commit fails if another event id is stored by now.
            let since = page.payload.since
            do { try calls.process(page.payload.page, since: since, turn) } catch let failure as LoopFailure {
                throw error(failure, turn, or: .processing)
            }
            let result: LoopResult = page.more ? .more : .ok
            return try loops.commit(turn, of: loopID, instance.plugin, from: since, to: id, result)
        }
        log("processed", since: page.payload.since, id, began, ["changes": "\(changes?.records.count ?? 0)"])
        if let changes { await loops.follow(changes, telling: delegate) }
    }

    func refresh(_ plan: RefreshPlan) async throws -> RefreshAnswer {
        let began = loops.clock.monotonic()
        let parts: [UInt32] =
            switch plan {
            case .everything: [LARDER_REFRESH_EVERYTHING]
            case .parts(let parts): parts.map { UInt32(truncatingIfNeeded: $0.rawValue) }
            }
        let answer = try await call(limits.processing) {
            [self] calls, turn -> (since: EventID?, anchor: EventID, more: Bool, changes: LoopTurnChanges?)? in
            let since = try loops.database.readBlocking { try $0.loops.eventID(of: loopID) }
            var anchor: EventID?
            var more = false
            for what in parts {
                do {
                    let page = try calls.refresh(what, since: since, turn)
                    defer { calls.release(page) }
                    guard let id = page.eventID else {
                        throw EventLoopError(.badPage, "a refresh of the loop \(loopID) asks for a refresh")
                    }
                    // The first refresh took the oldest anchor.
                    anchor = anchor ?? id
                    more = more || page.more
                } catch let failure as LoopFailure {
                    if failure.isNotOffered { return nil }
                    throw error(failure, turn, or: .refreshing)
                }
            }
            guard let anchor else { return nil }
            guard !more || parts == [LARDER_REFRESH_EVERYTHING] else {
                throw EventLoopError(
                    .badPage, "a partial refresh of the loop \(loopID) says that there is more")
            }
            let result: LoopResult = more ? .more : .refresh
            let changes = try loops.commit(turn, of: loopID, instance.plugin, from: since, to: anchor, result)
            return (since, anchor, more, changes)
        }
        guard let answer else { return .notOffered }
        log(
            "refreshed", since: answer.since, answer.anchor, began, ["changes": "\(answer.changes?.records.count ?? 0)"]
        )
        if let changes = answer.changes { await loops.follow(changes, telling: delegate) }
        return .anchored(at: answer.anchor, more: answer.more)
    }

    func onError(_ error: EventLoopError) async {
        let report = LoopReport(code: error.reportCode, status: LARDER_FAILED, message: error.message)
        do {
            try await call(limits.polling) { [self] calls, turn in
                let since = try loops.database.readBlocking { try $0.loops.eventID(of: loopID) }
                try calls.onError(report, since: since, turn)
            }
        } catch {
            loops.logger.debug(
                "A loop could not be notified of its failure", metadata: ["loop": "\(loopID)", "why": "\(error)"])
        }
    }

    /// Runs the body with the loop's calls on the plugin's thread. When the task is cancelled, the call in progress is
    /// asked to end.
    private func call<Result: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable (LoopCalls, TurnServices) throws -> Result
    ) async throws -> Result {
        guard !gate.isHeldUp else {
            throw EventLoopError(.busy, "the plugin \(instance.plugin) is blocked by a call that does not return")
        }
        let waiting = BlockingWait()
        let number = gate.begin()
        defer { gate.end(number) }
        return try await withTaskCancellationHandler {
            try await instance.withLoop(loopID.id) { [self] calls in
                guard !waiting.isCancelled else { throw CancellationError() }
                let turn = TurnServices(
                    loop: loopID, plugin: instance.plugin, collection: offer.collection, database: loops.database,
                    connection: loops.connection, waiting: waiting, deadline: loops.clock.monotonic() + limit)
                return try body(calls, turn)
            }
        } onCancel: {
            waiting.cancel()
            gate.giveUp(number)
        }
    }

    /// Returns the error for a failed call: the server's error if it was the cause, or else the plugin's message.
    private func error(
        _ failure: LoopFailure, _ turn: TurnServices, or kind: EventLoopError.Kind
    ) -> EventLoopError {
        // Some plugins report a 401 as an I/O error.
        let isRefusal = failure.status == LARDER_DENIED || failure.status == LARDER_IO && turn.lastStatus == 401
        if isRefusal, let status = turn.refusal {
            return EventLoopError(status == 401 ? .refused : .forbidden, failure.message, cause: failure)
        }
        guard let problem = turn.problem, failure.status == LARDER_IO || failure.status == LARDER_DENIED else {
            return EventLoopError(kind, failure.message, cause: failure)
        }
        let means: EventLoopError.Kind =
            switch problem.kind {
            case .authentication: .unauthorized
            case .forbidden where problem.status == 401: .refused
            case .forbidden: .forbidden
            case _ where problem.status == 429 || problem.status == 503: .rateLimited
            case .unreachable where problem.isTimeout: .connectionTimedOut
            default: .network
            }
        return EventLoopError(means, problem.message, cause: problem, retryAfter: problem.retryAfter)
    }

    private func log(
        _ stage: String, since before: EventID?, _ after: EventID?, _ began: Duration, _ more: Logger.Metadata
    ) {
        var metadata: Logger.Metadata = [
            "loop": "\(loopID)", "ms": "\((loops.clock.monotonic() - began).nanoseconds / 1_000_000)",
        ]
        if let before { metadata["from"] = "\(before)" }
        if let after { metadata["to"] = "\(after)" }
        loops.logger.debug("loop \(stage)", metadata: metadata.merging(more) { $1 })
    }
}

extension EventLoopError {
    /// The number of the error in the ABI.
    fileprivate var reportCode: LoopReport.Code {
        switch kind {
        case .missingEventID: .missingID
        case .outdated: .outdated
        case .processing, .storage: .processing
        case .overdue, .busy: .timedOut
        case .noProgress: .noProgress
        case .network, .connectionTimedOut, .unauthorized, .forbidden, .refused, .rateLimited, .refreshing, .badPage:
            .pollFailed
        }
    }
}
