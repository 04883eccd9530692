import CCurl
import Synchronization

/// A request on its way, and its answer as it arrives. Any task may wait for the answer; one at a time.
///
/// The thread puts in what arrives. The reader takes out everything that is there, so that a small answer costs one
/// change of threads. When the reader falls behind, no more is read from the network.
package final class Transfer: Exchange, @unchecked Sendable {
    /// The beginning of an answer.
    package struct Head: Sendable {
        package var status: Int
        package var headers: HTTPHeaders
        /// The time from the moment at which the request could be sent to the first byte of the answer.
        package var waited: Duration
    }

    private struct State {
        var head: Head?
        /// The bytes that wait for the reader.
        var waiting: [UInt8] = []
        /// The result with which the request ended; nil while the request is under way.
        var end: Result<Void, TransportError>?
        var reader: CheckedContinuation<Void, Never>?
        /// Whether nothing is read from the network, since too many bytes wait.
        var isPaused = false
        var isCancelled = false
        /// The time at which the request is given up, or at which its pace is measured.
        var limit = Duration.zero
        /// The time at which something arrived last, or at which the reader had room for more again.
        var heard = Duration.zero
        /// The pace at which the body arrives; nil before the head, and if the body may take any time.
        var pace: TransferPace?
    }

    private let state = Mutex(State())
    private let request: TransferRequest
    private let silence: Duration
    private let thread: TransferThread
    private let began = Duration.uptime

    // What follows is used on the thread alone.
    /// The head that arrives.
    private var arriving = AnswerHead()
    private var headSize = 0
    private var hasHead = false
    /// The place of a batch that has sent the request; nil if the request was sent by itself.
    private var sender: BatchPlace?

    /// The number of bytes that may wait for the reader. When more wait, nothing further is read from the network.
    private static let most = 98_304
    /// The room for the bytes that wait, once they are many, and for those that are read from the network at a time. What
    /// the library gives at a time still fits above ``most``. Each larger block of memory would come from the system and
    /// go back to it, which costs more than the answer.
    private static let room = 114_688

    /// - Parameter silence: The limit between two pieces of the answer. Time in which the reader has no room for more
    ///   does not count.
    init(_ request: TransferRequest, silence: Duration, on thread: TransferThread) {
        (self.request, self.silence, self.thread) = (request, silence, thread)
    }

    /// Ends the request if it is still under way.
    package func cancel() {
        let isUnderWay = state.withLock { state in
            state.isCancelled = true
            return state.end == nil
        }
        guard isUnderWay else { return }
        thread.call { [self] in line?.end(sender ?? self, .failure(.cancelled)) }
    }

    /// The status of the answer; 0 before the head has arrived.
    package var status: Int { state.withLock { $0.head?.status ?? 0 } }

    // MARK: On the thread

    /// Whether the request was cancelled before it began.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Takes over a request that a place of a batch has sent, with the head of its answer.
    /// - Parameter head: The lines of the head, with the empty one at the end.
    func takeOver(from place: BatchPlace, on line: TransferLine?, head lines: UnsafeRawBufferPointer) {
        (sender, self.line) = (place, line)
        var rest = lines[...]
        while let end = rest.firstIndex(of: 0x0a) {
            _ = takeHeader(UnsafeRawBufferPointer(rebasing: rest[...end]))
            rest = rest[(end + 1)...]
        }
    }

    override func begin(with easy: EasyHandle, on line: TransferLine) {
        super.begin(with: easy, on: line)
        let handle = easy.handle
        easy.set(CURLOPT_URL, request.url)
        var left = ["Accept", "Expect"]
        if let feed = request.feed {
            easy.set(CURLOPT_UPLOAD, 1)
            easy.keep(ccurl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(feed.size)))
            ccurl_set_progress(handle) { context, _, _, _, up in
                if let context { Exchange.of(context).wasSent(Int64(up)) }
                return 0
            }
        } else if !request.body.isEmpty || ["PUT", "POST", "PATCH"].contains(request.method) {
            easy.keep(ccurl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)))
            easy.keep(
                ccurl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, request.body.isEmpty ? [0] : request.body))
            left.append("Content-Type")
        } else if request.method == "HEAD" {
            easy.set(CURLOPT_NOBODY, 1)
        }
        easy.set(CURLOPT_CUSTOMREQUEST, request.method)
        var lines = request.headers.map { $1.isEmpty ? "\($0);" : "\($0): \($1)" }
        // The library's own fields are left out.
        lines += left.filter { !request.headers.contains(name: $0) }.map { "\($0):" }
        for line in lines {
            guard let longer = curl_slist_append(fields, line) else {
                easy.keep(CURLE_OUT_OF_MEMORY)
                break
            }
            fields = longer
        }
        easy.keep(ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, fields))
        state.withLock { $0.limit = request.feed == nil ? began + request.limits.head : .uptime + .seconds(3_600) }
    }

    override func release() {
        if let easy { request.feed?.wasSent(ccurl_get_sent(easy.handle)) }
        super.release()
    }

    override func wasSent(_ bytes: Int64) { request.feed?.wasSent(bytes) }

    override var buffer: Int { thread.isForDownloads ? Self.room : 65_536 }

    override var isRepeatable: Bool { request.isRepeatable }

    override func read(into memory: UnsafeMutableRawBufferPointer) -> Int {
        guard let feed = request.feed else { return 0 }
        return feed.take(into: memory) ?? Int(CURL_READFUNC_PAUSE)
    }

    /// Takes a line of an answer's head, or of the fields after its body, which mean nothing here.
    override func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        if hasHead { return bytes.count }
        noteAnswer()
        headSize += bytes.count
        guard headSize <= Self.largestHead else {
            problem = .notHTTP("the head of the answer is too large")
            return 0
        }
        // An answer before the answer (RFC 9110, section 15.2) has an end too.
        if arriving.take(bytes), arriving.status >= 200 { takeHead() }
        return bytes.count
    }

    private func takeHead() {
        hasHead = true
        let status = arriving.status
        let head = Head(status: status, headers: arriving.headers, waited: (sender ?? self).waited ?? .zero)
        let limits = request.limits
        let isError = !(200..<300).contains(status)
        // The time for an error document begins with the head, since the head of a listing may take minutes.
        let body = isError ? .whole(within: limits.errorDocument) : limits.body
        let reader = state.withLock { state in
            let now = Duration.uptime
            (state.head, state.heard) = (head, now)
            switch body {
            case .none: state.limit = now + .seconds(1 << 32)
            case .whole(let duration): state.limit = (isError || request.feed != nil ? now : began) + duration
            case .pace(let least):
                state.pace = TransferPace(least)
                state.limit = now + TransferPace.interval(of: least)
            }
            return state.reader.take()
        }
        line?.noteLimit(of: self, .uptime)
        reader?.resume()
    }

    /// Takes bytes of the body.
    /// - Returns: The number of bytes, or that there is no room for them now.
    override func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let (isTaken, reader) = state.withLock { state in
            guard state.waiting.count <= Self.most else {
                state.isPaused = true
                return (false, CheckedContinuation<Void, Never>?.none)
            }
            let now = Duration.uptime
            if state.waiting.count + bytes.count > 32_768 { state.waiting.reserveCapacity(Self.room) }
            state.waiting.append(contentsOf: bytes)
            state.heard = now
            state.pace?.arrived(bytes.count)
            if state.reader != nil { state.pace?.endWaiting(at: now) }
            return (true, state.reader.take())
        }
        reader?.resume()
        return isTaken ? bytes.count : Int(CURL_WRITEFUNC_PAUSE)
    }

    /// Checks the request's limits.
    /// - Returns: The time of the next check, or the error with which the request ends; nil if it has ended.
    override func check(_ now: Duration) -> Result<Duration, TransportError>? {
        state.withLock { state in
            if state.end != nil { return nil }
            if state.limit <= now {
                if let pace = state.pace {
                    if let rate = state.pace?.tick(at: now) { return .failure(.tooSlow(rate, pace.least)) }
                    state.limit = now + TransferPace.interval(of: pace.least)
                } else if state.head == nil, request.feed == nil {
                    return .failure(.timedOut(.head))
                } else if let head = state.head {
                    let isError = !(200..<300).contains(head.status)
                    if case .whole(let duration) = isError
                        ? .whole(within: request.limits.errorDocument) : request.limits.body
                    {
                        return .failure(.endless(within: duration))
                    }
                } else {
                    state.limit = now + .seconds(3_600)
                }
            }
            guard state.head != nil else { return .success(state.limit) }
            if state.isPaused { state.heard = now }
            guard now - state.heard < silence else { return .failure(.timedOut(.body)) }
            return .success(min(state.limit, state.heard + silence))
        }
    }

    /// Notes that the request has ended.
    override func end(_ result: Result<Void, TransportError>) {
        (sender, line) = (nil, nil)
        let reader = state.withLock { state in
            state.end = result
            return state.reader.take()
        }
        request.feed?.end()
        reader?.resume()
    }
}

// MARK: In the reader's task

extension Transfer {
    /// Returns the answer's head as soon as it has arrived. If the task is cancelled, the request ends.
    package func head() async throws(TransportError) -> Head {
        while true {
            let (head, end) = state.withLock { ($0.head, $0.end) }
            if let head { return head }
            if let end {
                try end.get()
                throw .closed
            }
            await wait { $0.head != nil }
        }
    }

    /// Returns the next bytes of the body; nil after the last ones. If the task is cancelled, the request ends.
    package func next() async throws(TransportError) -> [UInt8]? {
        while true {
            let (bytes, goesOn, end) = state.withLock { state in
                let bytes = state.waiting.isEmpty ? nil : state.waiting
                if bytes != nil { state.waiting = [] }
                let goesOn = state.isPaused && bytes != nil
                if goesOn { (state.isPaused, state.heard) = (false, .uptime) }
                return (bytes, goesOn, state.end)
            }
            if goesOn { thread.call { [self] in line?.goOn(sender ?? self) } }
            if let bytes { return bytes }
            if let end {
                try end.get()
                return nil
            }
            await wait { !$0.waiting.isEmpty }
        }
    }

    /// Returns when the expected part may have arrived or the request has ended.
    private func wait(_ isThere: @Sendable (borrowing State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.end != nil || isThere(state) { return true }
                    state.reader = continuation
                    state.pace?.beginWaiting(at: .uptime)
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Has the thread go on with a request whose body has more bytes.
    func hasMore() { thread.call { [self] in line?.goOn(sender ?? self) } }
}
