import CCurl

/// A request that the library has under way for a line. All functions are called on the line's thread alone.
package class Exchange: @unchecked Sendable {
    private(set) var easy: EasyHandle?
    unowned(unsafe) var line: TransferLine?
    /// The header fields of the request. They are freed with the handle.
    var fields: UnsafeMutablePointer<curl_slist>?
    /// The number of times that the request was about to be sent.
    private var attempts = 0
    /// The time at which the request was about to be sent on a connection.
    private var sentAt = Duration.zero
    /// The time from there to the first byte of the answer; nil before it.
    private(set) var waited: Duration?
    /// The reason for which the library was told to give up.
    var problem: TransportError?

    /// The greatest size of an answer's head in bytes.
    static let largestHead = 262_144

    init() {}

    /// The number of bytes that are read from the network at a time. For more than 128 KiB the allocator asks the kernel,
    /// each time.
    var buffer: Int { 65_536 }

    static func of(_ context: UnsafeMutableRawPointer) -> Exchange {
        Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    }

    /// Gives the handle what it sends.
    func begin(with easy: EasyHandle, on line: TransferLine) {
        (self.easy, self.line, attempts, problem, waited) = (easy, line, 0, nil, nil)
        let (handle, context) = (easy.handle, Unmanaged.passUnretained(self).toOpaque())
        for option in [
            CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_PREREQDATA,
            CURLOPT_XFERINFODATA,
        ] { easy.keep(ccurl_set_pointer(handle, option, context)) }
        easy.set(CURLOPT_HTTPGET, 1)
    }

    /// Leaves the handle, which the library no longer uses.
    func release() {
        curl_slist_free_all(fields)
        (easy, line, fields) = (nil, nil, nil)
    }

    /// Tells whether the request may be sent. The library sends it once more if a connection that was kept is closed
    /// without an answer; then it may have arrived.
    final func mayBeSent() -> Bool {
        attempts += 1
        sentAt = .uptime
        guard attempts > 1, !isRepeatable else { return true }
        problem = .closed
        return false
    }

    /// The time of the answer until now; nil if none has begun.
    final var time: AnswerTime? { waited.map { AnswerTime(head: $0, body: .uptime - sentAt - $0) } }

    /// Notes that bytes of an answer have arrived.
    final func noteAnswer() { if waited == nil { waited = .uptime - sentAt } }

    /// Whether the request may have been sent, although the library has perhaps begun to connect anew.
    final var mayHaveBeenSent: Bool { attempts > 0 }

    /// Whether it does not matter how often the server gets the request.
    var isRepeatable: Bool { true }

    /// Puts the next bytes of the request's body into memory.
    func read(into memory: UnsafeMutableRawBufferPointer) -> Int { 0 }

    /// Notes how many bytes of the request's body were sent.
    func wasSent(_ bytes: Int64) {}

    /// Takes a line of an answer's head, or of the fields after its body.
    /// - Returns: The number of bytes; any other number ends the request.
    func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.count }

    /// Takes bytes of the answer's body.
    /// - Returns: The number of bytes, or `CURL_WRITEFUNC_PAUSE`; any other number ends the request.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.count }

    /// Checks the request's limits.
    /// - Returns: The time of the next check, or the error with which the request ends; nil if it has ended.
    func check(_ now: Duration) -> Result<Duration, TransportError>? { nil }

    /// Notes that the request has ended.
    func end(_ result: Result<Void, TransportError>) {}
}
