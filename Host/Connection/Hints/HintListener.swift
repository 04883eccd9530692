import HTTP
import Logging
import Model
import Synchronization
import Transfer

/// A listener that asks for hints in all the ways that servers offer.
struct HintListener: Sendable {
    let wire: Wire
    let emit: HintEmitter

    /// The pause between two requests for notifications or activities.
    private static let often = Duration.seconds(30)
    private static let backoff = Backoff(first: .seconds(1), cap: .seconds(60))
    /// The pauses while the server rejects the credentials, as for event loops.
    private static let refusals = Backoff(first: .seconds(30), cap: .seconds(900))
    /// The duration from which a stream of events counts as working.
    private static let good = Duration.seconds(30)
    /// The largest length of an unfinished event, in bytes. Nothing that a server announces is longer.
    private static let longestEvent = 65_536

    /// Listens for hints. Returns when the task is cancelled or the connection is shut down.
    func listen() async {
        await repeatedly("capabilities") { () async throws(ConnectionError) in
            if let pause = try await isNoFamily() { return pause }
            await listenToFamily()
            return nil
        }
        emit.finish()
    }

    private func listenToFamily() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await repeatedly("stream") { () async throws(ConnectionError) in try await hearStream() } }
            group.addTask { await watchNotifications() }
            group.addTask { await watchActivities() }
        }
    }

    // MARK: Ways to listen

    private func watchNotifications() async {
        let watch = Mutex(NotificationWatch())
        await repeatedly("notifications") { () async throws(ConnectionError) in
            let condition = watch.withLock { $0.version.map { ["If-None-Match": "\"\($0)\""] } } ?? [:]
            let question = question("asking for notifications", HTTPHeaders(condition.map { ($0.key, $0.value) }))
            var reply = try await ask(question, NotificationWatch.path, query: "format=json")
            let told = watch.withLock { $0.take(status: reply.answer.status, reply.answer.headers) }
            guard let told else { throw await error(&reply, question) }
            // The body is read to its end, so that the connection can be used again.
            _ = try await document(&reply, question, atMost: 1 << 20)
            emit(told.hints)
            return told.pause
        }
    }

    private func watchActivities() async {
        let watch = Mutex(ActivityWatch())
        await repeatedly("activities") { () async throws(ConnectionError) in
            while true {
                let question = question("asking for activities")
                var reply = try await ask(question, ActivityWatch.path, query: watch.withLock { $0.query })
                let (status, headers) = (reply.answer.status, reply.answer.headers)
                guard status < 500 else { throw await error(&reply, question) }
                let body = try await document(&reply, question, atMost: 4 << 20)
                guard let told = watch.withLock({ $0.take(status: status, headers, body) }) else {
                    // A page without anything understood counts as a missing list.
                    return .day
                }
                emit(told.hints)
                if case .pause(let pause) = told.next { return pause }
            }
        }
    }

    /// Reads one stream of events to its end.
    /// - Returns: The pause before the next stream. It is `.day` or `.refused` if the server offers no stream.
    /// - Throws: The error of the request, or `unreachable` if the stream ended soon after it began.
    private func hearStream() async throws(ConnectionError) -> HintPause? {
        var question = question("listening for events", ["Accept": "text/event-stream"])
        question.expected = .stream
        // Some servers send the head together with the first event.
        question.timeLimit = wire.timeLimits.silence
        let reply = try await ask(question, "ocs/v2.php/apps/notifications/api/v1/notifications/sse", query: "")
        let type = reply.answer.headers.first(name: "Content-Type").flatMap(MediaType.bare)
        guard reply.answer.status == 200, type == "text/event-stream" else {
            if reply.answer.status >= 500, reply.answer.status != 501 {
                var reply = reply
                throw await error(&reply, question)
            }
            return reply.answer.status == 401 ? .refused : .day
        }
        emit(.everything)
        let began = wire.clock.monotonic()
        let body = BodyReader(reply.answer.body, doing: question.doing, at: reply.address.origin)
        var parser = EventStreamParser(longest: Self.longestEvent)
        do {
            while let chunk = try await body.next() {
                for event in try parser.read(chunk) { emit(HintSet(streamEvent: event.name)) }
            }
        } catch let error as ConnectionError where error.kind == .cancelled {
            throw error
        } catch {
            // The stream was cut off, was silent for too long or was not a stream of events. Only its duration matters
            // for the next attempt.
            wire.logger.debug("The server's stream of events ended", metadata: ["error": "\(error)"])
        }
        let lasted = wire.clock.monotonic() - began
        if lasted >= Self.good { return .moment }
        throw ConnectionError(.unreachable, "the server ended the stream of events")
    }

    // MARK: Asking

    /// Returns nil if the server belongs to a family with hints, otherwise the pause before the next question.
    private func isNoFamily() async throws(ConnectionError) -> HintPause? {
        let question = question("asking for capabilities")
        var reply = try await ask(question, "ocs/v1.php/cloud/capabilities", query: "format=json")
        guard reply.answer.status == 200 else {
            if reply.answer.status >= 500, reply.answer.status != 501 {
                throw await error(&reply, question)
            }
            return reply.answer.status == 401 ? .refused : .day
        }
        return Capabilities(json: try await document(&reply, question, atMost: 1 << 20)) == nil ? .day : nil
    }

    private func question(_ doing: String, _ headers: HTTPHeaders = [:]) -> Question {
        var headers = headers
        headers.add(name: "OCS-APIRequest", value: "true")
        return Question(
            method: "GET", headers: headers, isGuess: true, timeLimit: wire.timeLimits.greeting,
            expected: .document, doing: doing)
    }

    private func ask(_ question: Question, _ path: String, query: String) async throws(ConnectionError) -> Reply {
        guard !wire.isUnavailable else {
            throw ConnectionError(.maintenance, "the server is unavailable")
        }
        var place = try wire.bookmarkAddress()
        if let root = wire.knowledge.root { place = root }
        place = RootCandidates.home(of: place).appending(path)
        place.query = query
        return try await wire.openly(question, at: place)
    }

    private func document(
        _ reply: inout Reply, _ question: Question, atMost limit: Int
    ) async throws(ConnectionError) -> [UInt8] {
        try await wire.document(of: &reply.answer, atMost: limit, question, at: reply.address.origin)
    }

    private func error(_ reply: inout Reply, _ question: Question) async -> ConnectionError {
        await wire.error(for: &reply.answer, question, at: reply.address.origin)
    }

    /// Repeats an action: after the pause that the action returns, or after a pause that grows with each failure.
    ///
    /// Returns when the task is cancelled, the connection is shut down, or the action returns nil.
    private func repeatedly(
        _ name: String, _ act: () async throws(ConnectionError) -> HintPause?
    ) async {
        var failures = 0
        var refusals = 0
        while !Task.isCancelled {
            let wait: Duration
            do throws(ConnectionError) {
                guard let pause = try await act() else { return }
                failures = 0
                refusals = pause == .refused ? refusals + 1 : 0
                wait =
                    pause == .refused ? Self.refusals.delay(afterFailures: refusals) : Self.length(of: pause)
            } catch {
                if error.kind == .cancelled { return }
                failures += 1
                wait = Self.backoff.delay(afterFailures: failures, retryAfter: error.retryAfter)
                wire.logger.debug(
                    "The server sends no hints for now", metadata: ["of": "\(name)", "error": "\(error.message)"])
            }
            do { try await wire.clock.sleep(wait) } catch { return }
        }
    }

    /// Returns the length of a pause, less a random part of up to 9 % so that many clients do not ask at the same time.
    private static func length(of pause: HintPause) -> Duration {
        let longest: Duration =
            switch pause {
            case .moment: backoff.first
            case .short: often
            case .hour: .seconds(3_960)
            case .day: .seconds(95_040)
            case .refused: refusals.cap
            }
        return longest * (1 - 0.09 * HostRandom.fraction())
    }
}
