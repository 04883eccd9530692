import AsyncHTTPClient
import Model
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A transport over the network, by async-http-client. It uses HTTP/2 where a TLS server offers it, otherwise HTTP/1.1.
struct AsyncHTTPClientTransport: HTTPTransport {
    private struct Client {
        let thread: NetworkThread
        let http: HTTPClient
    }

    /// The first client serves requests from every other thread. Each further client serves the tasks on its own
    /// thread.
    private let clients: [Client]
    private let route: ProxyRoute
    /// The limit between two pieces of an answer.
    private let silence: Duration

    /// The connections beside those of listings, downloads and uploads: for requests of event loops, for what servers
    /// push, and for small requests that change something.
    private static let ungated = 6 + Connection.smallWrites

    /// Creates a transport.
    /// - Parameters:
    ///   - bookmark: The account, with the certificates to trust, its own certificate and the proxy to use.
    ///   - now: The time at which the account's own certificate has to be valid.
    ///   - proxyLogin: The login for the proxy.
    ///   - approvals: The answers about the server, which tell whether a pinned key is accepted.
    ///   - connections: The largest number of listings and downloads at a time.
    ///   - limits: The time limits of requests.
    /// - Throws: The error for a file of authorities, or a certificate of the account's own, that cannot be used.
    init(
        _ bookmark: Bookmark, now: Timestamp, proxyLogin: ProxyLogin?, approvals: ApprovalBook, connections: Int,
        limits: TimeLimits = TimeLimits()
    ) throws(ConnectionError) {
        var tls = try CertificateTrust.configuration(for: bookmark.trust)
        if let client = bookmark.clientCertificate { try ClientIdentity.add(client, to: &tls, now: now) }
        let (trust, route) = (bookmark.trust, ProxyRoute(bookmark, proxyLogin))
        (self.route, silence) = (route, limits.silence)
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            // Redirects are decided in one place, which keeps method, body and credentials together.
            redirectConfiguration: .disallow,
            timeout: .init(connect: .init(limits.connecting)),
            connectionPool: .init(
                idleTimeout: .seconds(60),
                concurrentHTTP1ConnectionsPerHostSoftLimit: 2 * connections + Self.ungated))
        // The library's own attempts would hide an untrusted certificate behind a time limit.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Runs after TLS is set up and before the connection gets its first request, with both versions of HTTP.
        let prepare: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            return SocketOptions.set(on: channel).flatMap {
                route.prepare(channel)
            }.flatMap {
                CertificateTrust.check(trust, approvals, on: channel)
            }
        }
        configuration.http1_1ConnectionDebugInitializer = prepare
        configuration.http2ConnectionDebugInitializer = prepare
        configuration.proxy = route.tunnel
        // Some proxies close a connection after each answer without saying so.
        if case .forward = route { configuration.maximumUsesPerConnection = 1 }
        // The traces are not used.
        configuration.tracing.tracer = nil
        clients = ([.common] + NetworkThread.downloads).map { thread in
            Client(thread: thread, http: HTTPClient(eventLoopGroup: thread.loop, configuration: configuration))
        }
    }

    var downloadThreads: [any TaskExecutor] { NetworkThread.downloads }

    func execute(_ request: HTTPRequest, limits: AnswerLimits) async throws(TransportError) -> HTTPAnswer {
        if let upload = request.upload, !upload.isSmall { return try await send(upload, request, limits) }
        let small = try await request.upload?.whole()
        do {
            var headers = request.headers
            var outgoing = try HTTPClient.Request(
                url: route.url(of: request.address, &headers), method: HTTPMethod(rawValue: request.method))
            outgoing.headers = headers
            if let field = request.authorization.field { outgoing.headers.add(name: "Authorization", value: field) }
            if let small {
                outgoing.body = .byteBuffer(small)
            } else if !request.body.isEmpty {
                outgoing.body = .byteBuffer(ByteBuffer(bytes: request.body))
            }
            let body = Body(limits, silence: silence)
            let client = clients.first { $0.thread.loop.inEventLoop } ?? clients[0]
            let head = try await withTaskCancellationHandler {
                let start = { @Sendable [stream = body.stream, outgoing] in
                    stream.start(outgoing, by: client.http, on: client.thread.loop)
                }
                if client.thread.loop.inEventLoop { start() } else { client.thread.loop.execute(start) }
                return try await body.stream.head()
            } onCancel: { [stream = body.stream] in
                stream.cancel()
            }
            if let problem = route.problem(with: Int(head.status.code)) { throw problem }
            if let upload = request.upload { upload.progress(upload.size) }
            return HTTPAnswer(status: Int(head.status.code), headers: head.headers, body: body)
        } catch {
            throw route.meaning(of: error)
        }
    }

    /// Sends a request whose body is a file, and returns its answer with the whole of the answer's small body.
    private func send(
        _ upload: UploadBody, _ request: HTTPRequest, _ limits: AnswerLimits
    ) async throws(TransportError) -> HTTPAnswer {
        let client = clients.first { $0.thread.loop.inEventLoop } ?? clients[0]
        let stream = UploadStream(upload, limits, on: client.thread.loop)
        let answer: Result<HTTPAnswer, TransportError>
        do throws(TransportError) {
            answer = .success(try await send(stream, of: upload.size, request, limits, by: client.http))
        } catch {
            answer = .failure(error)
        }
        // The library reads on in a task of its own.
        await stream.close()
        return try answer.get()
    }

    private func send(
        _ stream: UploadStream, of size: Int64, _ request: HTTPRequest, _ limits: AnswerLimits, by client: HTTPClient
    ) async throws(TransportError) -> HTTPAnswer {
        do {
            var headers = request.headers
            var outgoing = HTTPClientRequest(url: route.url(of: request.address, &headers))
            outgoing.method = HTTPMethod(rawValue: request.method)
            outgoing.headers = headers
            if let field = request.authorization.field { outgoing.headers.add(name: "Authorization", value: field) }
            outgoing.body = .stream(stream, length: .known(size))
            let answer = try await withThrowingTaskGroup(of: HTTPAnswer?.self) { [outgoing] group in
                group.addTask {
                    let response = try await client.execute(outgoing, deadline: .distantFuture)
                    // What was sent so far decides nothing any more.
                    stream.end()
                    return await Self.whole(response, within: limits.errorDocument)
                }
                group.addTask {
                    try await stream.watch()
                    return nil
                }
                defer { group.cancelAll() }
                while let answer = try await group.next() { if let answer { return answer } }
                throw TransportError.closed
            }
            if let problem = route.problem(with: answer.status) { throw problem }
            return answer
        } catch {
            throw route.meaning(of: error)
        }
    }

    /// Reads an answer's body, as far as it comes within a time. The status has said what matters.
    private static func whole(_ response: HTTPClientResponse, within limit: Duration) async -> HTTPAnswer {
        let body = await withTaskGroup(of: ByteBuffer?.self) { group in
            group.addTask {
                var body = ByteBuffer()
                do {
                    for try await piece in response.body {
                        body.writeImmutableBuffer(piece)
                        if body.readableBytes >= 1 << 20 { break }
                    }
                } catch {
                    return body
                }
                return body
            }
            group.addTask {
                do { try await Task.sleep(for: limit) } catch { return nil }
                return nil
            }
            var body = await group.next() ?? nil
            group.cancelAll()
            while let rest = await group.next() { body = body ?? rest }
            return body ?? ByteBuffer()
        }
        return HTTPAnswer(
            status: Int(response.status.code), headers: response.headers, body: ReadBody(body: body))
    }

    /// The body of an answer that was read before.
    private struct ReadBody: HTTPBody {
        var body: ByteBuffer

        mutating func next() -> ByteBuffer? {
            defer { body = ByteBuffer() }
            return body.readableBytes > 0 ? body : nil
        }
    }

    func shutdown() async {
        for client in clients {
            do { try await client.http.shutdown() } catch {
                // A second shutdown is the only reason for an error here. There is nothing left to close then.
                continue
            }
        }
    }

    /// The body of an answer. Dropping it ends the request.
    private final class Body: HTTPBody {
        let stream: AnswerStream

        init(_ limits: AnswerLimits, silence: Duration) { stream = AnswerStream(limits, silence: silence) }

        deinit { stream.cancel() }

        func next() async throws(TransportError) -> ByteBuffer? {
            do { return try await stream.next() } catch { throw TransportError(error, before: .body) }
        }
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

extension TimeAmount {
    init(_ duration: Duration) { self = .nanoseconds(duration.nanoseconds) }
}
