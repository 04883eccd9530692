/// One response of a multistatus.
///
/// ```swift
/// let dav = try host.require(host.dav, .dav)
/// var answer = try dav.propfind("/cal/ada/", depth: 1, ["{DAV:}getetag"])
/// var etags: [String: String] = [:]
/// while let response = try answer.next() {
///     if response.status == 200 { etags[response.href] = response.values[0] }
/// }
/// ```
public struct DAVResponse: Hashable, Sendable {
    /// The status of the whole response; 200 if the response has properties.
    public var status: Int
    /// A path from the origin's root. It is always percent-encoded in the same way.
    public var href: String
    /// The texts of the properties in the order of the request. A text is nil if the server has no such property. XML
    /// makes a line feed of a CRLF (XML 1.0, section 2.11), unless the server wrote it as a character reference.
    public var values: [String?]
    /// The element names inside the response's `DAV:error`, in Clark notation.
    public var errors: [String]
}

/// The answer to a PROPFIND or REPORT. The end of its life closes it.
///
/// ```swift
/// let dav = try host.require(host.dav, .dav)
/// let body = #"<sync-collection xmlns="DAV:"><sync-token/><prop><getetag/></prop></sync-collection>"#
/// var answer = try dav.report("/cal/ada/", body: body, ["{DAV:}getetag"])
/// while let response = try answer.next() { host.log?.debug(response.href) }
/// let token = try answer.end().syncToken
/// ```
public struct DAVAnswer: ~Copyable {
    private let answer: UnsafeMutablePointer<larder_dav_answer>
    private let dav: Host.DAV

    init(_ answer: UnsafeMutablePointer<larder_dav_answer>, of dav: Host.DAV) {
        self.answer = answer
        self.dav = dav
    }

    deinit { dav.close(answer) }

    /// The status code. It is 207 if there are responses; with any other status there are none. It is 0 if the request
    /// was sent ahead and ``next()`` was not called yet, or the request failed.
    public var status: Int { Int(answer.pointee.status) }

    /// Returns the next response, or nil past the last one. If it throws, the responses so far are incomplete.
    /// - Throws: ``Status/io`` if the answer ended too soon or is no multistatus, ``Status/cancelled`` if the call
    ///   should end. The first call for an answer that was sent ahead throws what
    ///   ``Host/DAV/report(_:depth:body:_:isAhead:)`` would have thrown.
    public mutating func next() throws(PluginError) -> DAVResponse? {
        var response: UnsafePointer<larder_dav_response>?
        try Status.check(answer.pointee.next(answer, &response), "dav_answer.next")
        guard let response = response?.pointee else { return nil }
        let values = UnsafeBufferPointer(start: response.values, count: Int(response.value_count))
        return DAVResponse(
            status: Int(response.status), href: Text(unsafe: response.href).copied(),
            values: values.map { $0.ptr == nil ? nil : Text(unsafe: $0).copied() }, errors: names(response.error))
    }

    /// The facts that are known at the end, after ``next()`` returned nil.
    public struct End: Hashable, Sendable {
        /// Whether the server left responses out.
        public var isTruncated: Bool
        /// The sync-token. Nil if the answer has none.
        public var syncToken: String?
        /// The element names inside the answer's `DAV:error`, in Clark notation.
        public var errors: [String]
    }

    /// Returns the facts that are known at the end.
    /// - Throws: ``Status/wrongState`` before ``next()`` returned nil.
    public mutating func end() throws(PluginError) -> End {
        var end = larder_dav_end()
        end.struct_size = UInt32(MemoryLayout<larder_dav_end>.size)
        try Status.check(answer.pointee.end(answer, &end), "dav_answer.end")
        return End(
            isTruncated: end.truncated != 0,
            syncToken: end.sync_token.ptr == nil ? nil : Text(unsafe: end.sync_token).copied(),
            errors: names(end.error))
    }
}

private func names(_ text: larder_str) -> [String] {
    text.ptr == nil ? [] : Text(unsafe: text).copied().split(separator: " ").map(String.init)
}

extension Host {
    /// The PROPFIND and REPORT requests. Nil if the service is withheld.
    public var dav: DAV? { table(.dav, as: larder_dav.self).map { DAV(host: pointer, table: $0) } }

    /// The requests of WebDAV whose answers are streams of responses.
    ///
    /// ```swift
    /// let dav = try host.require(host.dav, .dav)
    /// let answer = try dav.propfind("/cal/ada/", depth: 0, ["{DAV:}sync-token"])
    /// host.log?.debug("the server answered \(answer.status)")
    /// ```
    public struct DAV {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_dav>

        /// Sends a PROPFIND, and returns when the head of the answer has arrived.
        /// - Parameters:
        ///   - target: A percent-encoded path from the origin's root, or a whole address at the account's origin.
        ///   - depth: 0 or 1.
        ///   - properties: The names of at most 64 properties, in Clark notation: `{DAV:}getetag`.
        /// - Throws: ``Status/io`` if there is no answer, ``Status/denied`` if the target is at another origin,
        ///   ``Status/cancelled`` if the call should end, ``Status/limit`` if 4 answers are open or there are more than
        ///   64 properties, and ``Status/invalidArgument`` if the depth is another one or a property is not in Clark
        ///   notation.
        public func propfind(
            _ target: String, depth: Int, _ properties: [String]
        ) throws(PluginError) -> DAVAnswer {
            try send("PROPFIND", target, depth: depth, body: nil, properties)
        }

        /// Sends a REPORT, and returns when the head of the answer has arrived, or at once if the request is sent
        /// ahead.
        /// - Parameters:
        ///   - target: As in ``propfind(_:depth:_:)``.
        ///   - depth: 0 or 1.
        ///   - body: The request's XML.
        ///   - properties: The names of those properties of the request that the answer hands out, at most 64, in Clark
        ///     notation.
        ///   - isAhead: Does not wait for the answer, so that it arrives while another one is read. A failure is thrown
        ///     by the answer's first ``DAVAnswer/next()``. Before that call, read the answers that you asked for
        ///     earlier to their end.
        /// - Throws: As ``propfind(_:depth:_:)``. A request that is sent ahead throws only errors that are about the
        ///   request itself.
        public func report(
            _ target: String, depth: Int = 0, body: String, _ properties: [String], isAhead: Bool = false
        ) throws(PluginError) -> DAVAnswer {
            try send("REPORT", target, depth: depth, body: body, properties, isAhead: isAhead)
        }

        private func send(
            _ method: String, _ target: String, depth: Int, body: String?, _ properties: [String], isAhead: Bool = false
        ) throws(PluginError) -> DAVAnswer {
            guard let depth = UInt32(exactly: depth) else {
                throw PluginError(.invalidArgument, "a \(method) cannot have the depth \(depth)")
            }
            var loan = Loan()
            let names = UnsafeMutableBufferPointer<larder_str>.allocate(capacity: max(1, properties.count))
            defer { names.deallocate() }
            for (index, property) in properties.enumerated() {
                names.initializeElement(at: index, to: loan.text(property))
            }
            var request = larder_dav_request(
                struct_size: UInt32(MemoryLayout<larder_dav_request>.size), depth: depth,
                method: loan.text(method), target: loan.text(target), body: loan.text(body),
                properties: UnsafePointer(names.baseAddress), property_count: UInt64(properties.count),
                flags: isAhead ? LARDER_DAV_AHEAD : 0, reserved: 0)
            var answer: UnsafeMutablePointer<larder_dav_answer>?
            try Status.check(table.pointee.open(host, &request, &answer), "dav.open")
            guard let answer else { throw PluginError(.internal, "the host's dav.open returned no answer") }
            return DAVAnswer(answer, of: self)
        }

        func close(_ answer: UnsafeMutablePointer<larder_dav_answer>) { _ = table.pointee.close(host, answer) }
    }
}

extension String {
    /// The text with the characters escaped that XML reserves (XML 1.0, section 2.4).
    public var escapedForXML: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\r": escaped += "&#13;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
