import CExpat
import Glibc

/// Takes what an XML document holds, piece by piece.
protocol XMLHandler: AnyObject {
    /// - Parameter name: namespace and local name with a line feed between, or the local name alone; valid during the call.
    func start(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes)
    /// A piece of text; one text may come in several pieces, and pieces end between any two bytes of UTF-8's characters' ends.
    func text(_ bytes: UnsafeRawBufferPointer)
    func end()
    /// The document names a type (DOCTYPE). It is not read any further.
    func documentType(_ name: String)
    /// Whether the rest of the document means nothing to it.
    var hasGivenUp: Bool { get }
}

/// The attributes of an element, valid during the call that hands them over.
struct XMLAttributes {
    /// Names and values in turn, then null.
    fileprivate let list: UnsafeMutablePointer<UnsafePointer<CChar>?>?

    /// The value of an attribute without a namespace.
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

/// Reads an XML document while it arrives, by expat. All of the C library's pointers stay in this file.
///
/// A document type is refused: no answer has one, and what is declared in it, entities above all, is only ever meant to harm. Expat
/// loads nothing from elsewhere. Not for use by two threads at a time.
final class XMLReader {
    /// Why a document cannot be read.
    struct Malformed: Error, Equatable {
        var reason: String
        var line: Int
        var column: Int
    }

    private let parser: XML_Parser
    private let handler: any XMLHandler
    private var bytesRead = 0
    private var hasDocumentType = false

    /// The longest tag, comment or instruction, in bytes. Expat looks at one that is not complete from its beginning again whenever
    /// more of it comes.
    private static let longestMarkup = 131_072
    private static let piece = 65_536

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

    /// Reads on, unless the handler has given up. The handler is called from within.
    func read(_ bytes: UnsafeRawBufferPointer) throws(Malformed) {
        var rest = bytes[...]
        while !rest.isEmpty, !handler.hasGivenUp {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.piece))
            rest = rest.dropFirst(piece.count)
            let start = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
            try check(XML_Parse(parser, start, CInt(piece.count), 0))
            bytesRead += piece.count
            if bytesRead - Int(XML_GetCurrentByteIndex(parser)) > Self.longestMarkup {
                throw malformed("a tag or comment without end")
            }
        }
    }

    /// Says that the document has ended; one that is not complete is malformed.
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
