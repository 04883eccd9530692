import Logging
import Model
import Transfer

extension Wire {
    /// Sends a request and follows redirects within the origin, with method and body kept (RFC 9110, section 15.4).
    ///
    /// The caller has entered the gate.
    /// - Returns: An answer with any status except redirects. The status is not 401, unless the question is a guess or
    ///   sends no credentials. It may be a redirect if the address is secret.
    func ask(_ question: Question, at start: ServerAddress) async throws(ConnectionError) -> Reply {
        var address = start
        for redirects in 0...Redirect.limit {
            var (answer, authorization) = try await askOnce(question, at: address)
            if question.hasSecretAddress {
                return Reply(answer: answer, authorization: authorization, address: address, wasRedirected: false)
            }
            if question.isWrite, [301, 302, 303].contains(answer.status) {
                // Some servers say so that a folder is in the place of a file.
                if answer.status == 301, try Redirect.addsSlash(answer.status, answer.headers, from: address) {
                    return Reply(
                        answer: answer, authorization: authorization, address: address, wasRedirected: redirects > 0)
                }
                throw Redirect.notFollowed(answer.status, from: address, doing: question.doing)
            }
            guard let target = try Redirect.target(of: answer.status, answer.headers, from: address) else {
                return Reply(
                    answer: answer, authorization: authorization, address: address, wasRedirected: redirects > 0)
            }
            _ = await answer.beginning(atMost: 65_536)
            logger.debug("redirected", metadata: ["to": "\(target.withoutQuery)"])
            address = target
        }
        throw ConnectionError(
            .redirectRefused, "\(start.withoutQuery) redirects more than \(Redirect.limit) times",
            hint: "check the account's url")
    }

    /// Sends a request to one address, again if the server asks for another kind of login or for another nonce.
    private func askOnce(
        _ question: Question, at address: ServerAddress
    ) async throws(ConnectionError) -> (HTTPAnswer, Authorization) {
        let transport = try usableTransport()
        let generation = try usableCredentials()
        if question.sendsCredentials, let plain = Approval.plainHTTP(address.origin) { try approvals.check(plain) }
        // Servers repeat this id in their logs.
        let id = randomHex(bytes: 16)
        var request = HTTPRequest(
            method: question.method, address: address, headers: question.headers, body: question.body,
            upload: question.upload)
        request.headers.add(name: "User-Agent", value: "Larder/\(Product.version)")
        request.headers.add(name: "Accept-Encoding", value: "identity")
        request.headers.add(name: "X-Request-ID", value: id)

        var kind: Login.Kind?
        for _ in 0..<Login.mostTries {
            let began = clock.monotonic()
            var answer = try await execute(&request, by: kind, with: generation, over: transport, question)
            logger.debug(
                "request",
                metadata: [
                    "request": "\(id)", "method": "\(request.method)",
                    "path": "\(question.hasSecretAddress ? "an upload's" : address.path)",
                    "status": "\(answer.status)",
                    "ms": "\((clock.monotonic() - began).nanoseconds / 1_000_000)",
                ])
            question.note(answer)
            guard question.sendsCredentials else { return (answer, .none) }
            let sent = request.authorization
            guard answer.status == 401 else {
                noteAnswer(answer, after: sent, with: generation)
                return (answer, sent)
            }
            let decision = try login(generation) { login in
                login.decide(answer.headers, after: sent, isGuess: question.isGuess) { randomHex(bytes: 16) }
            }
            switch decision {
            case .again(let asked):
                kind = asked
                // After the body is read, the connection can be used again.
                _ = await answer.beginning(atMost: 65_536)
            case .refused where question.isGuess: return (answer, sent)
            case .refused(let why):
                // The credentials are held back at once, without the answer's document. Other requests would be sent
                // while the document arrives, and it says nothing of interest.
                let error = naming(ConnectionError(why, at: address.origin))
                hold(generation, because: error)
                throw error
            }
        }
        throw ConnectionError(
            .protocolViolation, "\(address.origin) calls each login too old while \(question.doing)",
            hint: "check the server's settings for Digest authentication, or write auth: basic in the account's config")
    }

    private func noteAnswer(_ answer: HTTPAnswer, after sent: Authorization, with generation: Int) {
        guard case .digest = sent else { return }
        // After other credentials came, nothing is left to note.
        try? login(generation) { login in
            login.noteAnswer(answer.status, answer.headers, after: sent) { randomHex(bytes: 16) }
        }
    }

    /// Returns the error for an answer whose status is not the expected one.
    func error(
        for answer: inout HTTPAnswer, _ question: Question, at origin: ServerAddress.Origin
    ) async -> ConnectionError {
        let document = await answer.beginning(atMost: 16_384)
        return naming(
            ConnectionError(
                status: answer.status, headers: answer.headers, document: document, doing: question.doing, at: origin,
                now: clock.now()))
    }

    /// Executes a request, and repeats it a few times if the connection was closed. The server may close a connection
    /// that was kept open just as a request goes out.
    private func execute(
        _ request: inout HTTPRequest, by kind: Login.Kind?, with generation: Int,
        over transport: any HTTPTransport, _ question: Question
    ) async throws(ConnectionError) -> HTTPAnswer {
        let pauses = [Duration.zero, Backoff(first: .milliseconds(500), cap: .seconds(1)).delay(afterFailures: 1)]
        let limits = answerLimits(question)
        for attempt in 0...pauses.count {
            // The credentials may have been rejected or replaced in the meantime.
            if question.sendsCredentials {
                request.authorization = try login(generation) { [request] login in
                    login.authorization(request.method, request.address.target, by: kind) {
                        randomHex(bytes: 16)
                    }
                }
            }
            let failure: TransportError
            do throws(TransportError) {
                // With other credentials a refusal may be none. A change that may have been made is not sent again for that.
                if let early = question.first,
                    early.generation == generation || question.isWrite && early.status != 401,
                    let first = early.take()
                {
                    request.authorization = early.authorization
                    return try await transport.answer(of: try first.get())
                }
                return try await transport.execute(request, limits: limits)
            } catch {
                failure = error
            }
            // A kept connection that is closed at the moment of a write says nothing. Another request is sent once more
            // by the transport, on a new connection.
            if failure == .timedOut(.head) || failure == .closed && !question.isWrite { question.turn?.note(.refused) }
            if case .unapprovedKey(let hash) = failure {
                try approvals.check(.key(hash, of: request.address.origin))
            }
            guard failure == .closed, question.isIdempotent, !question.isWrite, attempt < pauses.count else {
                var error = ConnectionError(failure, doing: question.doing, at: request.address.origin)
                error.mayHaveArrived = question.isWrite && failure.mayHaveArrived
                if case .certificate = failure { error.hint = .text(certificateHint) }
                throw naming(error)
            }
            do { if pauses[attempt] > .zero { try await clock.sleep(pauses[attempt]) } } catch {
                throw cancelled(question)
            }
        }
        throw naming(ConnectionError(.closed, doing: question.doing, at: request.address.origin))
    }

    /// Returns an error with the account's proxy named, since the proxy may be the one that failed.
    func naming(_ error: ConnectionError) -> ConnectionError {
        let kinds: [ConnectionError.Kind] = [
            .unreachable, .serverError, .maintenance, .authentication, .forbidden, .protocolViolation,
        ]
        guard let proxy = bookmark.proxy, kinds.contains(error.kind), !error.message.contains("\(proxy)")
        else { return error }
        var error = error
        error.message += ", asked through the proxy \(proxy)"
        return error
    }

    func answerLimits(_ question: Question) -> AnswerLimits {
        let body: AnswerLimits.Body =
            switch question.expected {
            case .stream: .none
            case .document: .whole(within: timeLimits.document)
            case .transfer: leastPace.map { .pace($0) } ?? .none
            }
        return AnswerLimits(
            head: question.timeLimit, upload: leastPace, body: body, errorDocument: timeLimits.document)
    }

    /// Returns the whole of a small document.
    /// - Throws: `unreachable` if the document does not come to its end in time; `protocolViolation` if it is longer
    ///   than the limit, in bytes.
    func document(
        of answer: inout HTTPAnswer, atMost limit: Int, _ question: Question, at origin: ServerAddress.Origin
    ) async throws(ConnectionError) -> [UInt8] {
        do { return try await answer.document(atMost: limit) } catch {
            throw ConnectionError(error, doing: question.doing, at: origin)
        }
    }

    /// Waits for a turn on the network, which the question gets. The caller ends the turn.
    func enterGate(_ question: inout Question, _ kind: RequestGate.Kind) async throws(ConnectionError) {
        do { question.turn = try await gate(kind).enter(kind) } catch { throw cancelled(question) }
    }

    func cancelled(_ question: Question) -> ConnectionError {
        ConnectionError(.cancelled, "\(question.doing) was cancelled")
    }
}
