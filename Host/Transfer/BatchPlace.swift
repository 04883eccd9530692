import CCurl

/// A place of a batch: a request at a time, one after the other.
final class BatchPlace: Exchange, @unchecked Sendable {
    private enum Progress { case head, body, taken }

    private unowned let batch: BatchTransfer
    /// Keeps the batch until the request under way has ended.
    private var held: BatchTransfer?
    let number: Int
    /// The content of the file that is sent; empty if files are asked for.
    private let content: UnsafeMutableRawBufferPointer
    private let thread: TransferThread
    var file = 0 {
        didSet { progress = .head }
    }
    private var head: [UInt8] = []
    private var progress = Progress.head
    private var received: Int64 = 0
    /// The reader of an answer that is not ordinary.
    private var heir: Transfer?
    private var limit = Duration.zero
    private var heard = Duration.zero
    private var pace: TransferPace?

    /// - Parameter size: The size in bytes of the largest file that is sent; 0 if files are asked for.
    init(_ batch: BatchTransfer, number: Int, holding size: Int, on thread: TransferThread) {
        (self.batch, self.number, self.thread) = (batch, number, thread)
        content = .allocate(byteCount: size, alignment: 1)
        super.init()
        head.reserveCapacity(1_024)
    }

    deinit { content.deallocate() }

    private var isUpload: Bool { batch.requests.kind == .upload }

    private var request: BatchRequests.Request { batch.requests.requests[file] }

    /// Reads the content of the file that is sent next.
    func readContent(from receiver: any BatchReceiver) -> Bool {
        receiver.read(file, into: UnsafeMutableRawBufferPointer(rebasing: content[..<Int(request.size)]))
    }

    override var isRepeatable: Bool { !isUpload }

    override func begin(with easy: EasyHandle, on line: TransferLine) {
        super.begin(with: easy, on: line)
        held = batch
        head.removeAll(keepingCapacity: true)
        (received, pace) = (0, nil)
        limit = .uptime + batch.requests.limits.head
        if isUpload {
            easy.keep(ccurl_set_offset(easy.handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.size)))
            easy.keep(ccurl_set_pointer(easy.handle, CURLOPT_POSTFIELDS, content.baseAddress))
        }
        fields = batch.prepare(easy, for: file)
    }

    override func release() {
        batch.free(fields)
        fields = nil
        super.release()
    }

    override func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        if let heir { return heir.takeHeader(bytes) }
        guard progress == .head else { return bytes.count }
        noteAnswer()
        guard head.count + bytes.count <= Self.largestHead else {
            problem = .notHTTP("the head of the answer is too large")
            return 0
        }
        // An answer before the answer (RFC 9110, section 15.2).
        if bytes.starts(with: Array("HTTP/".utf8)) { head.removeAll(keepingCapacity: true) }
        head.append(contentsOf: bytes)
        let isEnd = bytes.first == 0x0a || bytes.first == 0x0d
        if isEnd, !Self.isInterim(head) { takeHead() }
        return bytes.count
    }

    private static func isInterim(_ head: [UInt8]) -> Bool { head.count > 9 && head[9] == UInt8(ascii: "1") }

    private func takeHead() {
        let request = request
        guard !isUpload else {
            guard head.withUnsafeBytes({ OrdinaryHead.isMade($0) }) else { return giveAway() }
            return takeBody()
        }
        let kind = batch.requests.texts.withUnsafeBytes { texts in
            head.withUnsafeBytes { head in
                OrdinaryHead.of(
                    head, tag: UnsafeRawBufferPointer(rebasing: texts[request.tag.range]), size: request.size)
            }
        }
        let isTaken: Bool
        switch kind {
        case .ordinary: isTaken = batch.receiver.begin(file, at: number, sha1: nil)
        case .withSHA1(let sum): isTaken = batch.receiver.begin(file, at: number, sha1: sum.bytes)
        case .other: isTaken = false
        }
        guard isTaken else { return giveAway() }
        takeBody()
    }

    private func takeBody() {
        let now = Duration.uptime
        (progress, heard) = (.body, now)
        switch batch.requests.limits.body {
        case .none: limit = now + .seconds(1 << 32)
        case .whole(let duration): limit = now + duration
        case .pace(let least):
            pace = TransferPace(least)
            pace?.beginWaiting(at: now)
            limit = now + TransferPace.interval(of: least)
        }
        line?.noteLimit(of: self, now)
    }

    /// Leaves an answer that is not ordinary to a reader.
    private func giveAway() {
        progress = .taken
        let request = TransferRequest(
            method: isUpload ? "PUT" : "GET", url: "", headers: HTTPHeaders(), limits: batch.requests.limits)
        let heir = Transfer(request, silence: batch.silence, on: thread)
        self.heir = heir
        batch.gaveAway(self)
        head.withUnsafeBytes { heir.takeOver(from: self, on: line, head: $0) }
        batch.receiver.end(file, at: number, .answer(heir))
        // No request can begin within a function that the library has called.
        thread.call { [batch = held] in batch?.exchangeEnded() }
    }

    override func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        if let heir { return heir.write(bytes) }
        guard progress == .body else { return 0 }
        received += Int64(bytes.count)
        heard = .uptime
        pace?.arrived(bytes.count)
        // What a server says beside its status after an upload matters to nobody. Of a long page the rest is not read.
        if isUpload { return received <= Self.longestPage ? bytes.count : 0 }
        return batch.receiver.take(bytes, of: file, at: number) ? bytes.count : 0
    }

    /// The number of bytes of an answer to an upload that are read, so that its connection can be used again.
    private static let longestPage: Int64 = 65_536

    override func check(_ now: Duration) -> Result<Duration, TransportError>? {
        if let heir { return heir.check(now) }
        if limit <= now {
            guard progress == .body else { return .failure(.timedOut(.head)) }
            guard let least = pace?.least else { return .failure(.timedOut(.body)) }
            if let rate = pace?.tick(at: now) { return .failure(.tooSlow(rate, least)) }
            limit = now + TransferPace.interval(of: least)
        }
        guard progress == .body else { return .success(limit) }
        guard now - heard < batch.silence else { return .failure(.timedOut(.body)) }
        return .success(min(limit, heard + batch.silence))
    }

    override func end(_ result: Result<Void, TransportError>) {
        let batch = held ?? batch
        held = nil
        if let heir {
            self.heir = nil
            heir.end(result)
            return batch.exchangeEnded()
        }
        let end: BatchEnd
        switch (progress, result) {
        // Whichever way the page beside the status ended.
        case (.body, _) where isUpload: end = .made(AnswerHead(head), time ?? AnswerTime(head: .zero, body: .zero))
        case (.body, .success) where received == request.size: end = .complete
        case (.body, _): end = .brokenOff
        case (_, .failure(let error)): end = .failed(error)
        case (_, .success): end = .failed(.closed)
        }
        batch.receiver.end(file, at: number, end)
        batch.isFree(self, after: progress == .body ? time : nil)
        batch.exchangeEnded()
    }
}
