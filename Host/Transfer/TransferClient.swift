import CCurl
import Synchronization
import Threads

/// The connections of one account.
///
///     let client = TransferClient(settings, trust)
///     let transfer = try client.start(request)
///     let head = try await transfer.head()
///     while let bytes = try await transfer.next() { … }
package final class TransferClient: Sendable {
    /// What all requests of a client have in common.
    package struct Settings: Sendable {
        /// The number of connections that are kept for later requests.
        package var connections: Int
        /// The limit for establishing a connection, TLS included.
        package var connecting: Duration
        /// The limit between two pieces of an answer.
        package var silence: Duration
        package var proxy: TransferProxy?
        /// Whether a server may have any name and any authority, since its certificate is known.
        package var isAnyHostTrusted: Bool

        package init(
            connections: Int, connecting: Duration, silence: Duration, proxy: TransferProxy? = nil,
            isAnyHostTrusted: Bool = false
        ) {
            (self.connections, self.connecting, self.silence) = (connections, connecting, silence)
            (self.proxy, self.isAnyHostTrusted) = (proxy, isAnyHostTrusted)
        }
    }

    let settings: Settings
    let trust: ServerTrust
    private let isShutDown = Atomic(false)
    private let lastBatches = Mutex<LastBatches>(LastBatches())

    private struct LastBatches {
        weak var download: BatchTransfer?
        weak var upload: BatchTransfer?
    }

    /// Whether no more requests are sent.
    var isClosed: Bool { isShutDown.load(ordering: .acquiring) }

    package init(_ settings: Settings, _ trust: ServerTrust) { (self.settings, self.trust) = (settings, trust) }

    /// Sends a request. It is sent on the thread that the caller runs on, if that is one for transfers.
    /// - Throws: `badRequest` if the request cannot be sent; `shutDown` after ``shutdown()``; `cannotConnect` if the
    ///   threads cannot be started.
    package func start(_ request: TransferRequest) throws(TransportError) -> Transfer {
        if let problem = request.problem { throw .badRequest(problem) }
        guard !isClosed else { throw .shutDown }
        do throws(ThreadError) { try TransferThread.start() } catch { throw .cannotConnect("\(error)") }
        let thread = TransferThread.downloads.first { $0.isCurrent } ?? .common
        let transfer = Transfer(request, silence: settings.silence, on: thread)
        request.feed?.attach(transfer)
        thread.call { [self] in
            if isClosed { return transfer.end(.failure(.shutDown)) }
            if transfer.isCancelled { return transfer.end(.failure(.cancelled)) }
            guard let line = thread.line(of: self) else { return transfer.end(.failure(.noMemory)) }
            line.start(transfer)
        }
        return transfer
    }

    /// Sends the requests of a batch.
    /// - Parameters:
    ///   - requests: The requests. All go to one server.
    ///   - places: The number of requests that may be under way at a time.
    ///   - turns: The turns that the requests take.
    ///   - number: A number that chooses the thread, always the same for a client.
    ///   - receiver: The one who wants the files. Its functions are called on a thread for downloads.
    /// - Throws: As ``start(_:)``.
    package func start(
        _ requests: BatchRequests, places: Int, _ turns: BatchTurns, number: Int, for receiver: any BatchReceiver
    ) throws(TransportError) -> BatchTransfer {
        guard !isClosed else { throw .shutDown }
        do throws(ThreadError) { try TransferThread.start() } catch { throw .cannotConnect("\(error)") }
        let threads = TransferThread.downloads
        let thread = threads[threads.startIndex + number % threads.count]
        let batch = BatchTransfer(self, requests, places: places, turns, on: thread, for: receiver)
        let earlier = lastBatches.withLock { last in
            switch requests.kind {
            case .download:
                defer { last.download = batch }
                return last.download
            case .upload:
                defer { last.upload = batch }
                return last.upload
            }
        }
        batch.start(after: earlier?.thread === thread ? earlier : nil)
        return batch
    }

    /// The time without a request after which the connections on a thread are closed.
    package static let longestRest = Duration.seconds(60)

    /// Has each thread close the client's connections, unless one of them has a request under way there.
    package func closeIdle() {
        for thread in TransferThread.all { thread.call { [self] in thread.closeIdle(self) } }
    }

    /// Closes all connections. Requests under way fail.
    package func shutdown() async {
        isShutDown.store(true, ordering: .releasing)
        for thread in TransferThread.all {
            await withCheckedContinuation { continuation in
                thread.call { [self] in
                    thread.close(self)
                    continuation.resume()
                }
            }
        }
    }
}

/// The proxy through which requests go.
package struct TransferProxy: Sendable {
    /// The proxy's address for the library: `http://host:port`, or `socks5h://host:port`.
    package var url: String
    /// The proxy's name in errors.
    package var name: String
    package var login: (username: String, password: String)?
    /// Whether requests go to the proxy with the server's whole address, without a connection through it.
    package var forwards: Bool

    package init(url: String, name: String, login: (username: String, password: String)?, forwards: Bool) {
        (self.url, self.name, self.login, self.forwards) = (url, name, login, forwards)
    }
}
