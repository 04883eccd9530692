import Transfer

/// An answer whose body has yet to be read. Dropping or closing the answer before its end ends the request.
public struct PlainAnswer: Sendable {
    /// The answer's status.
    public let status: Int
    /// The answer's header fields, in the server's order.
    public let headers: [(name: String, value: String)]
    private let body: BodyReader

    init(status: Int, headers: [(name: String, value: String)], body: BodyReader) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the value of the first field with a name, whatever the name's case.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }

    /// Returns the next bytes of the body as they arrive, of any number; nil after the last bytes, at every further
    /// call too. One call at a time.
    ///
    /// At most 256 KiB are read ahead of the caller, plus the piece that exceeds this limit.
    /// - Throws: `unreachable` if the body ends too soon; `protocolViolation` if it repeats the account's credentials;
    ///   `cancelled` after ``close()`` or if the task is cancelled, which ends the request.
    public func next() async throws(ConnectionError) -> [UInt8]? {
        guard let chunk = try await body.next() else { return nil }
        return chunk
    }

    /// Stops reading the body.
    public func close() async { await body.close() }
}
