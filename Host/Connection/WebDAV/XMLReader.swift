import CExpat

/// Takes what an XML document holds, piece by piece.
protocol XMLHandler: AnyObject {
    /// - Parameter name: namespace and local name with a line feed between, or the local name alone; valid during the call.
    func start(_ name: UnsafePointer<CChar>)
    /// A piece of text; one text may come in several pieces, and pieces end between any two bytes of UTF-8's characters' ends.
    func text(_ bytes: UnsafeRawBufferPointer)
    func end()
}

/// Reads an XML document while it arrives, by expat. All of the C library's pointers stay in this file.
///
/// Expat loads nothing from elsewhere and limits what entities expand to. Not for use by two threads at a time.
final class XMLReader {
    /// Why a document cannot be read.
    struct Malformed: Error, Equatable {
        var reason: String
        var line: Int
        var column: Int
    }

    private let parser: XML_Parser
    private let handler: any XMLHandler

    /// - Throws: only when memory is exhausted.
    init(handler: any XMLHandler) throws(Malformed) {
        guard let parser = XML_ParserCreateNS(nil, CChar(UInt8(ascii: "\n"))) else {
            throw Malformed(reason: "out of memory", line: 0, column: 0)
        }
        self.parser = parser
        self.handler = handler
        // The reader owns the parser, and calls it only from its own methods: it outlives every callback.
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser, { data, name, _ in if let name { XMLReader.of(data)?.handler.start(name) } },
            { data, _ in XMLReader.of(data)?.handler.end() })
        XML_SetCharacterDataHandler(parser) { data, bytes, count in
            XMLReader.of(data)?.handler.text(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        }
    }

    deinit { XML_ParserFree(parser) }

    private static func of(_ data: UnsafeMutableRawPointer?) -> XMLReader? {
        data.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Reads on. The handler is called from within.
    func read(_ bytes: UnsafeRawBufferPointer) throws(Malformed) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 20))
            rest = rest.dropFirst(piece.count)
            let start = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
            try check(XML_Parse(parser, start, CInt(piece.count), 0))
        }
    }

    /// Says that the document has ended; one that is not complete is malformed.
    func finish() throws(Malformed) {
        try check(XML_Parse(parser, nil, 0, 1))
    }

    private func check(_ status: XML_Status) throws(Malformed) {
        guard status != XML_STATUS_OK else { return }
        let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
        throw Malformed(
            reason: reason, line: Int(XML_GetCurrentLineNumber(parser)), column: Int(XML_GetCurrentColumnNumber(parser))
        )
    }
}
