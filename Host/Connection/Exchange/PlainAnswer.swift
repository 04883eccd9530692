import NIOCore

/// An answer whose body has yet to be read. One that is dropped or closed before its end is not fetched any further.
public struct PlainAnswer: Sendable {
    public let status: Int
    public let headers: [(name: String, value: String)]
    private let body: BodyReader

    init(status: Int, headers: [(name: String, value: String)], body: BodyReader) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field of a name, in whatever case.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }

    /// The next bytes of the body as they come, of any number; nil after the last, and then each time. One call at a time.
    ///
    /// No more than 256 KiB are read ahead of the caller.
    /// - Throws: `unreachable` if the body ends too soon, `protocolViolation` if it repeats the account's credentials,
    ///   `cancelled` after ``close()`` or if the task is cancelled, which ends the request.
    public func next() async throws(ConnectionError) -> [UInt8]? {
        guard let chunk = try await body.next() else { return nil }
        return Array(chunk.readableBytesView)
    }

    /// Fetches no more.
    public func close() async { await body.close() }
}
