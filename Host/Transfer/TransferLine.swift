import CCurl
import CLinux

/// A client's connections and requests on one thread. Used on that thread alone.
final class TransferLine {
    private let client: TransferClient
    private let thread: TransferThread
    private let multi: UnsafeMutableRawPointer
    /// The time at which the library wants to be called.
    private var deadline: Duration?
    /// The time at which the first limit of a request may pass.
    private var firstLimit: Duration?
    private var transfers: [ObjectIdentifier: Exchange] = [:]
    /// The time since which no request has been under way.
    private var restsSince = Duration.uptime

    /// - Returns: nil if the library has no memory for it.
    init?(_ client: TransferClient, on thread: TransferThread) {
        guard let multi = curl_multi_init() else { return nil }
        (self.client, self.thread, self.multi) = (client, thread, multi)
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, client.settings.connections)
        // One request at a time on each connection.
        ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
        ccurl_multi_set_timer(
            multi,
            { _, milliseconds, context in
                guard let context else { return 0 }
                let line = Unmanaged<TransferLine>.fromOpaque(context).takeUnretainedValue()
                line.deadline = milliseconds < 0 ? nil : .uptime + .milliseconds(milliseconds)
                return 0
            }, context)
        ccurl_multi_set_socket(
            multi,
            { _, socket, what, context, _ in
                guard let context else { return 0 }
                Unmanaged<TransferLine>.fromOpaque(context).takeUnretainedValue().watch(socket, what)
                return 0
            }, context)
    }

    private func watch(_ socket: Int32, _ what: Int32) {
        switch what {
        case CURL_POLL_REMOVE: thread.forget(socket)
        // The library's set of what it waits for is the same.
        default: thread.watch(socket, for: UInt32(what & CURL_POLL_INOUT), of: self)
        }
    }

    /// Sends a request.
    func start(_ transfer: Exchange) {
        // Each request has a handle of its own. In one that was used before, libcurl before 8.0 takes a head's first line
        // for the continuation of the last head's, which is freed, if it begins with a blank.
        guard let easy = EasyHandle(client, buffer: transfer.buffer) else {
            return transfer.end(.failure(.noMemory))
        }
        transfers[ObjectIdentifier(transfer)] = transfer
        transfer.begin(with: easy, on: self)
        noteLimit(of: transfer, .uptime)
        guard easy.isWhole, curl_multi_add_handle(multi, easy.handle) == CURLM_OK else {
            return end(transfer, .failure(.noMemory))
        }
    }

    /// Notes that the limits of a request have changed, perhaps to earlier ones.
    func noteLimit(of transfer: Exchange, _ now: Duration) {
        let due: Duration
        if case .success(let next) = transfer.check(now) { due = next } else { due = now }
        firstLimit = min(firstLimit ?? due, due)
    }

    /// Ends a request.
    func end(_ transfer: Exchange, _ result: Result<Void, TransportError>) {
        guard transfers.removeValue(forKey: ObjectIdentifier(transfer)) != nil else { return }
        if let easy = transfer.easy {
            // What the handle sends is freed only when nothing uses it any more.
            curl_multi_remove_handle(multi, easy.handle)
            transfer.release()
        }
        restsSince = .uptime
        transfer.end(result)
    }

    /// Goes on with a request that did not take, or have, more bytes.
    func goOn(_ transfer: Exchange) {
        guard transfers[ObjectIdentifier(transfer)] != nil, let easy = transfer.easy else { return }
        curl_easy_pause(easy.handle, CURLPAUSE_CONT)
    }

    /// Notes that a socket can be read or written.
    func isReady(_ socket: Int32, _ what: UInt32) {
        var running: Int32 = 0
        // The library's set of what is possible is the same.
        curl_multi_socket_action(multi, socket, Int32(what), &running)
        takeEnded()
    }

    /// Does what is due.
    /// - Returns: The time at which something is due next; nil if the line has rested for so long that it can be closed.
    func doDue(_ now: Duration) -> Duration? {
        var rounds = 0
        while let due = deadline, due <= now, rounds < 16 {
            deadline = nil
            rounds += 1
            var running: Int32 = 0
            // The library's timer.
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
            takeEnded()
        }
        if let limit = firstLimit, limit <= now {
            firstLimit = nil
            for transfer in transfers.values {
                switch transfer.check(now) {
                case .none: continue
                case .failure(let error): end(transfer, .failure(error))
                case .success(let due): firstLimit = min(firstLimit ?? due, due)
                }
            }
        }
        if transfers.isEmpty { firstLimit = nil }
        var next = deadline
        if let limit = firstLimit { next = min(next ?? limit, limit) }
        guard transfers.isEmpty else { return next ?? now + .seconds(3_600) }
        let end = restsSince + TransferClient.longestRest
        return end <= now ? nil : min(next ?? end, end)
    }

    private func takeEnded() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let context = ccurl_get_context(handle)
            else { continue }
            let code = message.pointee.data.result
            let transfer = Exchange.of(context)
            end(transfer, code == CURLE_OK ? .success(()) : .failure(client.error(of: code, transfer)))
        }
    }

    /// Whether no request is under way.
    var isIdle: Bool { transfers.isEmpty }

    /// Ends all requests, and closes all connections.
    func close() {
        for transfer in transfers.values { end(transfer, .failure(.shutDown)) }
        curl_multi_cleanup(multi)
    }
}

/// A handle of the library for one request, with the options that all requests of a client have.
final class EasyHandle {
    let handle: UnsafeMutableRawPointer
    /// Whether the library has taken all options. Of a request that lacks one, such as a condition, nothing may be sent.
    private(set) var isWhole = true
    /// The library's words for an error.
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    /// The number of bytes beyond which the kernel takes no more of what the network has not room for yet. What lies
    /// there counts as sent, and goes out although the request was given up. Without a limit it grows to many megabytes.
    private static let mostUnsent = 262_144

    /// - Parameter buffer: The number of bytes that are read from the network at a time.
    /// - Returns: nil if the library has no memory for it.
    init?(_ client: TransferClient, buffer: Int) {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        words[0] = 0
        let settings = client.settings
        keep(ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, words))
        set(CURLOPT_NOSIGNAL, 1)
        // A name server that does not answer must not hold up the end of a request.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_PATH_AS_IS, 1)
        // Not HTTP/2, even if a server offers it. In a client that spoke both, libcurl 7.88 sent a request in the middle of
        // another one's body.
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_BUFFERSIZE, buffer)
        set(CURLOPT_CONNECTTIMEOUT_MS, settings.connecting.milliseconds)
        set(CURLOPT_MAXAGE_CONN, 60)
        ccurl_set_sockets(handle, Self.mostUnsent)
        client.trust.use(for: handle)
        if settings.isAnyHostTrusted {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        // An empty text keeps the library from the environment's variables.
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_PROXY, settings.proxy?.url ?? "")
        if let proxy = settings.proxy {
            if let login = proxy.login {
                set(CURLOPT_PROXYUSERNAME, login.username)
                set(CURLOPT_PROXYPASSWORD, login.password)
            }
            // Some proxies close a connection after each answer without saying so.
            if proxy.forwards { set(CURLOPT_FORBID_REUSE, 1) }
        }
        ccurl_set_data(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            return Exchange.of(context).write(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_set_data(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            return Exchange.of(context).takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_set_data(handle, CURLOPT_READFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return Int(CURL_READFUNC_ABORT) }
            return Exchange.of(context).read(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_set_before_request(handle) { context, _, _, _, _ in
            guard let context else { return CURL_PREREQFUNC_ABORT }
            return Exchange.of(context).mayBeSent() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        guard isWhole else { return nil }
    }

    func set(_ option: CURLoption, _ value: Int) { keep(ccurl_set_long(handle, option, value)) }

    func set(_ option: CURLoption, _ text: String) { keep(ccurl_set_pointer(handle, option, text)) }

    /// Notes whether the library has taken an option.
    func keep(_ code: CURLcode) { if code != CURLE_OK { isWhole = false } }

    deinit {
        curl_easy_cleanup(handle)
        words.deallocate()
    }

    /// The library's words for the last error.
    var problem: String { String(cString: words) }
}

extension TransportError {
    /// The error for a request for which the library has no memory.
    static let noMemory = TransportError.cannotConnect("there is no memory for the request")
}

extension Duration {
    /// The number of whole milliseconds.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
