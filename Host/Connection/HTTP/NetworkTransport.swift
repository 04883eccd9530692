import Model
public import Threads
import Transfer

/// A transport over the network. It speaks HTTP/1.1.
struct NetworkTransport: HTTPTransport {
    private let client: TransferClient
    private let route: ProxyRoute

    /// The connections beside those of requests that take turns: for requests of event loops, and for what servers push.
    private static let ungated = 6

    /// Creates a transport.
    /// - Parameters:
    ///   - bookmark: The account, with the certificates to trust, its own certificate and the proxy to use.
    ///   - now: The time at which the account's own certificate has to be valid.
    ///   - proxyLogin: The login for the proxy.
    ///   - approvals: The answers about the server, which tell whether a pinned key is accepted.
    ///   - connections: The largest number of listings and downloads at a time, of uploads, and of other changes.
    ///   - limits: The time limits of requests.
    /// - Throws: The error for a file of authorities, or a certificate of the account's own, that cannot be used.
    init(
        _ bookmark: Bookmark, now: Timestamp, proxyLogin: ProxyLogin?, approvals: ApprovalBook, connections: Int,
        limits: TimeLimits = TimeLimits()
    ) throws(ConnectionError) {
        let trust = try CertificateTrust.rules(for: bookmark.trust, approvals)
        if let own = bookmark.clientCertificate { try ClientIdentity.add(own, to: trust, now: now) }
        route = ProxyRoute(bookmark, proxyLogin)
        client = TransferClient(
            TransferClient.Settings(
                connections: 3 * connections + Self.ungated, connecting: limits.connecting, silence: limits.silence,
                proxy: route.proxy, isAnyHostTrusted: CertificateTrust.isAnyHostTrusted(bookmark.trust)), trust)
    }

    var downloadThreads: [any TaskExecutor] { Array(TransferThread.downloads) }

    func execute(_ request: HTTPRequest, limits: AnswerLimits) async throws(TransportError) -> HTTPAnswer {
        if let upload = request.upload, !upload.isSmall { return try await send(upload, request, limits) }
        var outgoing = Self.outgoing(request, limits)
        if let upload = request.upload { outgoing.body = try await upload.whole() }
        let answer = try await answer(of: try client.start(outgoing))
        if let upload = request.upload { upload.progress(upload.size) }
        return answer
    }

    func answer(of transfer: Transfer) async throws(TransportError) -> HTTPAnswer {
        let body = Body(transfer)
        let head = try await transfer.head()
        if let problem = route.problem(with: head.status) { throw problem }
        return HTTPAnswer(status: head.status, headers: head.headers, body: body, waited: head.waited)
    }

    var sendsBatches: Bool { true }

    func start(
        _ requests: BatchRequests, places: Int, _ turns: BatchTurns, number: Int, for receiver: any BatchReceiver
    ) -> BatchTransfer? { try? client.start(requests, places: places, turns, number: number, for: receiver) }

    private static func outgoing(_ request: HTTPRequest, _ limits: AnswerLimits) -> TransferRequest {
        var headers = request.headers
        if let field = request.authorization.field { headers.add(name: "Authorization", value: field) }
        return TransferRequest(
            method: request.method, url: request.address.description, headers: headers, body: request.body,
            limits: limits)
    }

    /// Sends a request whose body is a file, and returns its answer with the whole of the answer's small body.
    private func send(
        _ upload: UploadBody, _ request: HTTPRequest, _ limits: AnswerLimits
    ) async throws(TransportError) -> HTTPAnswer {
        let stream = UploadStream(upload, limits)
        var outgoing = Self.outgoing(request, limits)
        outgoing.feed = stream.feed
        // The status says what matters; of the document as much is taken as comes in time.
        outgoing.limits.body = .whole(within: limits.errorDocument)
        let body = Body(try client.start(outgoing))
        let answer: Result<HTTPAnswer, TransportError>
        do { answer = .success(try await send(stream, body.transfer)) } catch let error as TransportError {
            answer = .failure(error)
        } catch {
            answer = .failure(.cancelled)
        }
        body.transfer.cancel()
        await stream.close()
        return try answer.get()
    }

    private func send(_ stream: UploadStream, _ transfer: Transfer) async throws -> HTTPAnswer {
        try await withThrowingTaskGroup(of: HTTPAnswer?.self) { group in
            group.addTask {
                let head = try await transfer.head()
                // What was sent so far decides nothing any more.
                stream.end()
                if let problem = route.problem(with: head.status) { throw problem }
                var bytes: [UInt8] = []
                do {
                    while bytes.count < 1 << 20, let piece = try await transfer.next() { bytes += piece }
                } catch {
                    return HTTPAnswer(status: head.status, headers: head.headers, body: ReadBody(body: bytes))
                }
                return HTTPAnswer(status: head.status, headers: head.headers, body: ReadBody(body: bytes))
            }
            group.addTask {
                // If the request ends first, its answer says why.
                do { try await stream.send() } catch is CancellationError { return nil }
                return nil
            }
            group.addTask {
                try await stream.watch()
                return nil
            }
            defer { group.cancelAll() }
            while let answer = try await group.next() { if let answer { return answer } }
            throw TransportError.closed
        }
    }

    /// The body of an answer that was read before.
    private struct ReadBody: HTTPBody {
        var body: [UInt8]

        mutating func next() -> [UInt8]? {
            defer { body = [] }
            return body.isEmpty ? nil : body
        }
    }

    func closeIdle() { client.closeIdle() }

    func shutdown() async { await client.shutdown() }

    /// The body of an answer. Dropping it ends the request.
    private final class Body: HTTPBody {
        let transfer: Transfer

        init(_ transfer: Transfer) { self.transfer = transfer }

        deinit { transfer.cancel() }

        func next() async throws(TransportError) -> [UInt8]? { try await transfer.next() }
    }
}

/// The time limits of a server's answers.
struct TimeLimits: Sendable {
    /// The limit for establishing a connection, TLS included.
    var connecting: Duration = .seconds(10)
    /// The limit for the first answers of a server about which nothing is known yet.
    var greeting: Duration = .seconds(20)
    /// The limit for an answer's head. A folder of 50,000 entries keeps some servers busy for minutes before they send
    /// a byte.
    var head: Duration = .seconds(300)
    /// The limit between two pieces of an answer. TCP's own probes notice a peer that is gone long before.
    var silence: Duration = .seconds(300)
    /// The time over which a transfer's pace is measured.
    var pacePeriod: Duration = .seconds(60)
    /// The limit for a small document: from the request to the last byte; the body alone of an answer with an error
    /// status.
    var document: Duration = .seconds(30)
}

extension Connection {
    /// Starts the threads on which answers arrive, if that was not done yet. It is done before accounts are opened: the
    /// threads take descriptors, and without them no request can be sent.
    /// - Throws: `ThreadError` if there is no thread or no descriptor. A later call tries again.
    public static func startThreads() throws(ThreadError) { try TransferThread.start() }
}
