import CExpat
import Glibc

/// A receiver of the contents of an XML document, piece by piece.
protocol XMLHandler: AnyObject {
    /// Takes the start of an element.
    /// - Parameters:
    ///   - name: The namespace and the local name with a line feed between, or the local name alone. It is valid during
    ///     the call.
    ///   - attributes: The element's attributes, valid during the call.
    func start(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes)
    /// Takes a piece of text. One text may come in several pieces. A piece may end after any character, but not within
    /// the UTF-8 bytes of a character.
    func text(_ bytes: UnsafeRawBufferPointer)
    func end()
    /// Takes a document type (DOCTYPE). The document is not read any further.
    func documentType(_ name: String)
    /// Takes the number of bytes of the document that were just read, after everything in them was passed on.
    func passed(_ bytes: Int)
    /// Whether the rest of the document has no meaning for the handler.
    var hasGivenUp: Bool { get }
}

extension XMLHandler {
    func passed(_ bytes: Int) {}
}

/// The attributes of an element, valid during the call that passes them.
struct XMLAttributes {
    /// The names and values in turn, then null.
    fileprivate let list: UnsafeMutablePointer<UnsafePointer<CChar>?>?

    /// Returns the value of an attribute without a namespace.
    subscript(_ name: StaticString) -> String? {
        guard var next = list else { return nil }
        while let found = next[0], let value = next[1] {
            if strlen(found) == name.utf8CodeUnitCount && memcmp(found, name.utf8Start, strlen(found)) == 0 {
                return String(cString: value)
            }
            next += 2
        }
        return nil
    }
}

/// A reader of an XML document as it arrives, by expat. All of the C library's pointers stay in this file.
///
/// A document type is rejected: no answer has one, and its declarations, above all entities, are only ever meant to
/// harm. Expat loads nothing from elsewhere. Two threads must not use a reader at the same time.
final class XMLReader {
    /// The reason why a document cannot be read.
    struct Malformed: Error, Equatable {
        var reason: String
        var line: Int
        var column: Int
    }

    private let parser: XML_Parser
    private let handler: any XMLHandler
    private var bytesRead = 0
    private var hasDocumentType = false

    /// The largest length of a tag, comment or instruction, in bytes. Whenever more bytes of an incomplete one arrive,
    /// expat scans it again from its beginning.
    private static let longestMarkup = 131_072
    private static let piece = 65_536

    /// Creates a reader that calls a handler.
    /// - Throws: An error only if memory is exhausted.
    init(handler: any XMLHandler) throws(Malformed) {
        guard let parser = XML_ParserCreateNS(nil, CChar(UInt8(ascii: "\n"))) else {
            throw Malformed(reason: "out of memory", line: 0, column: 0)
        }
        self.parser = parser
        self.handler = handler
        // The reader owns the parser and calls the parser only from its own methods, so the reader outlives every
        // callback.
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { data, name, attributes in
                if let name { XMLReader.of(data)?.handler.start(name, XMLAttributes(list: attributes)) }
            },
            { data, _ in XMLReader.of(data)?.handler.end() })
        XML_SetCharacterDataHandler(parser) { data, bytes, count in
            XMLReader.of(data)?.handler.text(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        }
        XML_SetStartDoctypeDeclHandler(parser) { data, name, _, _, _ in
            XMLReader.of(data)?.refuse(documentType: name.map { String(cString: $0) } ?? "")
        }
    }

    deinit { XML_ParserFree(parser) }

    private func refuse(documentType name: String) {
        hasDocumentType = true
        handler.documentType(name)
        XML_StopParser(parser, XML_Bool(0))
    }

    private static func of(_ data: UnsafeMutableRawPointer?) -> XMLReader? {
        data.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Reads the next piece, unless the handler has given up. Calls the handler from within.
    func read(_ bytes: UnsafeRawBufferPointer) throws(Malformed) {
        var rest = bytes[...]
        while !rest.isEmpty, !handler.hasGivenUp {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.piece))
            rest = rest.dropFirst(piece.count)
            let start = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
            try check(XML_Parse(parser, start, CInt(piece.count), 0))
            bytesRead += piece.count
            handler.passed(piece.count)
            if bytesRead - Int(XML_GetCurrentByteIndex(parser)) > Self.longestMarkup {
                throw malformed("a tag or comment without end")
            }
        }
    }

    /// Finishes the document. A document that is not complete is malformed.
    func finish() throws(Malformed) {
        try check(XML_Parse(parser, nil, 0, 1))
    }

    private func check(_ status: XML_Status) throws(Malformed) {
        guard status != XML_STATUS_OK else { return }
        if hasDocumentType {
            if handler.hasGivenUp { return }
            throw malformed("it has a document type (DOCTYPE)")
        }
        throw malformed(XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error")
    }

    private func malformed(_ reason: String) -> Malformed {
        Malformed(
            reason: reason, line: Int(XML_GetCurrentLineNumber(parser)), column: Int(XML_GetCurrentColumnNumber(parser))
        )
    }
}
