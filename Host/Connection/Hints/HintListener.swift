import Logging
import Model
import NIOCore
import NIOHTTP1
import Synchronization

/// Asks for hints in the ways that there are.
struct HintListener: Sendable {
    let connection: Connection
    let emit: HintEmitter

    /// How often notifications and activities are asked for.
    private static let often = Duration.seconds(30)
    private static let backoff = Backoff(first: .seconds(1), cap: .seconds(60))
    /// While the credentials are refused, as for event loops.
    private static let refusals = Backoff(first: .seconds(30), cap: .seconds(900))
    /// A stream that lasted so long was a good one.
    private static let good = Duration.seconds(30)

    /// Returns when the task is cancelled, or the connection shut down.
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
            // Read to its end, so that the connection is kept.
            _ = await reply.answer.beginning(atMost: 1 << 20)
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
                let body = await reply.answer.beginning(atMost: 4 << 20)
                guard let told = watch.withLock({ $0.take(status: status, headers, body) }) else {
                    // A page that says nothing that is understood: as if there were no such list.
                    return .day
                }
                emit(told.hints)
                if case .pause(let pause) = told.next { return pause }
            }
        }
    }

    /// Reads one stream of events to its end.
    /// - Returns: when to ask again, if the server offers none.
    /// - Throws: how the stream ended.
    private func hearStream() async throws(ConnectionError) -> HintPause? {
        var question = question("listening for events", ["Accept": "text/event-stream"])
        // Some servers send the head with the first event.
        question.timeLimit = connection.timeLimits.silence
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
        let began = connection.clock.monotonic()
        let body = BodyReader(reply.answer.body, doing: question.doing, at: reply.address.origin)
        var parser = EventStreamParser()
        do {
            while let chunk = try await body.next() {
                for event in try parser.read(chunk.readableBytesView) { emit(HintSet(streamEvent: event.name)) }
            }
        } catch let error as ConnectionError where error.kind == .cancelled {
            throw error
        } catch {
            // Cut off, silent for too long, or no events: what matters is how long it was good.
            connection.logger.debug("the stream of events ended", metadata: ["error": "\(error)"])
        }
        let lasted = connection.clock.monotonic() - began
        if lasted >= Self.good { return .moment }
        throw ConnectionError(.unreachable, "the server ended the stream of events")
    }

    // MARK: Asking

    /// Nil if the server is of the family that has hints, else when to ask again.
    private func isNoFamily() async throws(ConnectionError) -> HintPause? {
        var reply = try await ask(
            question("asking for capabilities"), "ocs/v1.php/cloud/capabilities", query: "format=json")
        guard reply.answer.status == 200 else {
            if reply.answer.status >= 500, reply.answer.status != 501 {
                throw await error(&reply, question("asking for capabilities"))
            }
            return reply.answer.status == 401 ? .refused : .day
        }
        return Capabilities(json: await reply.answer.beginning(atMost: 1 << 20)) == nil ? .day : nil
    }

    private func question(_ doing: String, _ headers: HTTPHeaders = [:]) -> Question {
        var headers = headers
        headers.add(name: "OCS-APIRequest", value: "true")
        return Question(
            method: "GET", headers: headers, isGuess: true, timeLimit: connection.timeLimits.greeting, doing: doing)
    }

    private func ask(_ question: Question, _ path: String, query: String) async throws(ConnectionError) -> Reply {
        guard !connection.isUnavailable else {
            throw ConnectionError(.maintenance, "the server cannot serve now")
        }
        var place = try connection.bookmarkAddress()
        if let root = connection.foundRoot() { place = root }
        place = RootCandidates.home(of: place).appending(path)
        place.query = query
        return try await connection.openly(question, at: place)
    }

    private func error(_ reply: inout Reply, _ question: Question) async -> ConnectionError {
        await connection.error(for: &reply.answer, question, at: reply.address.origin)
    }

    /// Does something again and again: after the pause that it asks for, or after one that grows with each failure.
    ///
    /// Returns when the task is cancelled, the connection shut down, or there is nothing more to do.
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
                connection.logger.debug("no hints", metadata: ["of": "\(name)", "error": "\(error.message)"])
            }
            do { try await connection.clock.sleep(wait) } catch { return }
        }
    }

    /// Less a random part, so that many clients do not ask at once.
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
