/// One response of a multistatus.
public struct DAVResponse: Hashable, Sendable {
    /// Of the whole response; 200 if it has properties.
    public var status: Int
    /// A path from the origin's root, percent-encoded in one way.
    public var href: String
    /// The properties' texts in the order of the request; nil where the server has none.
    public var values: [String?]
    /// The names inside its `DAV:error`, in Clark notation.
    public var errors: [String]
}

/// The answer to a PROPFIND or REPORT. It is closed when it goes.
public struct DAVAnswer: ~Copyable {
    private let answer: UnsafeMutablePointer<larder_dav_answer>
    private let dav: Host.DAV

    init(_ answer: UnsafeMutablePointer<larder_dav_answer>, of dav: Host.DAV) {
        self.answer = answer
        self.dav = dav
    }

    deinit { dav.close(answer) }

    /// 207; with any other there are no responses. 0: it was sent ahead, and ``next()`` was not called yet, or the request failed.
    public var status: Int { Int(answer.pointee.status) }

    /// The next response; nil past the last. When it throws, what came is not all.
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

    /// What is known at the end, after ``next()`` returned nil.
    public struct End: Hashable, Sendable {
        /// Whether the server left responses out.
        public var isTruncated: Bool
        public var syncToken: String?
        /// The names inside the answer's `DAV:error`, in Clark notation.
        public var errors: [String]
    }

    /// Tells what is known at the end.
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
    /// PROPFIND and REPORT; nil if withheld.
    public var dav: DAV? { table(.dav, as: larder_dav.self).map { DAV(host: pointer, table: $0) } }

    /// The requests of WebDAV whose answers are streams of responses.
    public struct DAV {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_dav>

        /// Sends a PROPFIND and returns when the answer's head is there.
        /// - Parameters:
        ///   - depth: 0 or 1.
        ///   - properties: in Clark notation, at most 64.
        /// - Throws: ``Status/io`` if there is no answer, ``Status/denied`` if the target is at another origin,
        ///   ``Status/cancelled`` if the call should end, ``Status/limit`` if 4 answers are open or more than 64
        ///   properties are named, and ``Status/invalidArgument`` if the depth is another one or a property is not in
        ///   Clark notation.
        public func propfind(
            _ target: String, depth: Int, _ properties: [String]
        ) throws(PluginError) -> DAVAnswer {
            try send("PROPFIND", target, depth: depth, body: nil, properties)
        }

        /// Sends a REPORT and returns when the answer's head is there, or at once if it is sent ahead.
        /// - Parameters:
        ///   - body: the request's XML.
        ///   - properties: which of those that it asks for are handed out, in Clark notation, at most 64.
        ///   - isAhead: does not wait for the answer, so that it is on its way while another one is read. What goes wrong is
        ///     thrown by the answer's first ``DAVAnswer/next()``. Read what was asked for before to its end first.
        /// - Throws: As ``propfind(_:depth:_:)``. Of a request that is sent ahead, only what is wrong with the request
        ///   itself is thrown here.
        public func report(
            _ target: String, depth: Int = 0, body: String, _ properties: [String], isAhead: Bool = false
        ) throws(PluginError) -> DAVAnswer {
            try send("REPORT", target, depth: depth, body: body, properties, isAhead: isAhead)
        }

        private func send(
            _ method: String, _ target: String, depth: Int, body: String?, _ properties: [String], isAhead: Bool = false
        ) throws(PluginError) -> DAVAnswer {
            guard let depth = UInt32(exactly: depth) else {
                throw PluginError(.invalidArgument, "\(depth) is no depth of a \(method)")
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
            guard let answer else { throw PluginError(.internal, "the host's dav.open handed out nothing") }
            return DAVAnswer(answer, of: self)
        }

        func close(_ answer: UnsafeMutablePointer<larder_dav_answer>) { _ = table.pointee.close(host, answer) }
    }
}

extension String {
    /// The text as it stands in XML (XML 1.0, section 2.4).
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
