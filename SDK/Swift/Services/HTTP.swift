/// An answer, whose body is read piece by piece. The end of its life closes it.
///
/// ```swift
/// let http = try host.require(host.http, .http)
/// var answer = try http.send("GET", "/apps/news/newest")
/// if answer.status == 200, answer.header("Content-Type") == "application/json" {
///     let body = try answer.body()
///     host.log?.debug(try JSON(parsing: body.span).text)
/// }
/// ```
public struct HTTPAnswer: ~Copyable {
    private let answer: UnsafeMutablePointer<larder_http_answer>
    private let http: Host.HTTP

    init(_ answer: UnsafeMutablePointer<larder_http_answer>, of http: Host.HTTP) {
        self.answer = answer
        self.http = http
    }

    deinit { http.close(answer) }

    /// The status code.
    public var status: Int { Int(answer.pointee.status) }

    /// Returns a header's value; if there are several, that of the first one; nil if there is none. The name's case
    /// does not matter.
    public func header(_ name: String) -> String? {
        var loan = Loan()
        var value = larder_str()
        guard answer.pointee.header(answer, loan.text(name), &value) == LARDER_OK else { return nil }
        return Text(unsafe: value).copied()
    }

    /// Returns the next bytes of the body as they arrive, or nil at its end.
    /// - Throws: ``Status/io`` if the body ended too soon, ``Status/cancelled`` if the call should end.
    public mutating func next() throws(PluginError) -> [UInt8]? {
        var bytes = larder_bytes()
        try Status.check(answer.pointee.read(answer, &bytes), "http_answer.read")
        return bytes.ptr.map { Array(UnsafeBufferPointer(start: $0, count: Int(bytes.len))) }
    }

    /// Returns the whole body.
    /// - Parameter limit: The greatest size in bytes.
    /// - Throws: ``Status/limit`` if the body is longer than the limit, and what ``next()`` throws.
    public mutating func body(atMost limit: Int = 16 << 20) throws(PluginError) -> [UInt8] {
        var body: [UInt8] = []
        while let chunk = try next() {
            guard body.count + chunk.count <= limit else {
                throw PluginError(.limit, "the server's answer is longer than \(limit) bytes")
            }
            body += chunk
        }
        return body
    }
}

extension Host {
    /// The requests to the account's server. Nil if the service is withheld.
    public var http: HTTP? { table(.http, as: larder_http.self).map { HTTP(host: pointer, table: $0) } }

    /// Requests to the account's origin, which the host sends with the account's credentials.
    ///
    /// ```swift
    /// let http = try host.require(host.http, .http)
    /// let isThere = try http.send("HEAD", "/apps/news/newest").status == 200
    /// ```
    public struct HTTP {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_http>

        /// Sends a request, and returns when the head of the answer has arrived.
        /// - Parameters:
        ///   - method: The method: `GET`.
        ///   - target: A percent-encoded path from the origin's root, with or without a query, or a whole address at
        ///     the account's origin.
        ///   - headers: The names and values of at most 64 headers.
        ///   - body: The body. Nil: none.
        /// - Throws: ``Status/io`` if there is no answer, ``Status/denied`` for another origin, a header that the host
        ///   sets itself or a method that it does not send, ``Status/limit`` if 4 answers are open or there are more
        ///   than 64 headers, and ``Status/cancelled`` if the call should end. An answer with an error status is
        ///   returned, not thrown.
        public func send(
            _ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
        ) throws(PluginError) -> HTTPAnswer {
            var loan = Loan()
            let list = UnsafeMutableBufferPointer<larder_http_header>.allocate(capacity: max(1, headers.count))
            defer { list.deallocate() }
            for (index, header) in headers.enumerated() {
                list.initializeElement(
                    at: index, to: larder_http_header(name: loan.text(header.name), value: loan.text(header.value)))
            }
            var request = larder_http_request(
                struct_size: UInt32(MemoryLayout<larder_http_request>.size),
                header_stride: UInt32(MemoryLayout<larder_http_header>.stride), method: loan.text(method),
                target: loan.text(target), headers: UnsafePointer(list.baseAddress),
                header_count: UInt64(headers.count), body: loan.bytes(body))
            var answer: UnsafeMutablePointer<larder_http_answer>?
            try Status.check(table.pointee.open(host, &request, &answer), "http.open")
            guard let answer else { throw PluginError(.internal, "the host's http.open returned no answer") }
            return HTTPAnswer(answer, of: self)
        }

        func close(_ answer: UnsafeMutablePointer<larder_http_answer>) { _ = table.pointee.close(host, answer) }
    }
}
