import FoundationEssentials

/// The sentence in which a server tells why it refuses a request. A value without I/O.
///
/// Servers of the ownCloud family write it into `message` of Sabre's namespace in an error document, and into
/// `ocs/meta/message` of an OCS document, as XML or JSON. Web pages tell nothing that is worth a line.
enum ServerSentence {
    /// The number of characters after which a sentence is cut.
    static let longest = 200
    /// The number of bytes of a sentence that are read.
    private static let mostBytes = 2_000

    /// Returns the sentence in a document, as one line without control characters; nil if there is none.
    static func read(_ document: [UInt8]) -> String? {
        guard let first = document.first(where: { $0 > 0x20 }) else { return nil }
        if first == UInt8(ascii: "{") {
            do {
                return line(try JSONDecoder().decode(OCSDocument.self, from: Data(document)).ocs.meta.message ?? "")
            } catch {
                return nil
            }
        }
        let handler = Handler()
        let xml: XMLReader
        do { xml = try XMLReader(handler: handler) } catch { return nil }
        document.withUnsafeBytes { bytes in
            // What came before a cut still counts.
            do throws(XMLReader.Malformed) { try xml.read(bytes) } catch { return }
        }
        return handler.message.flatMap { line(String(decoding: $0, as: UTF8.self)) }
    }

    /// Returns a text as one line: blanks and control characters in a row become one blank, and a long text is cut.
    static func line(_ text: String) -> String? {
        var line = ""
        var isBlank = false
        for character in text {
            if character.isWhitespace || character.unicodeScalars.contains(where: isLayout) {
                isBlank = true
                continue
            }
            if line.count >= longest { return line + "…" }
            if isBlank, !line.isEmpty { line.append(" ") }
            isBlank = false
            line.append(character)
        }
        return line.isEmpty ? nil : line
    }

    /// Tells whether a character controls how others are shown.
    private static func isLayout(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: false
        }
    }

    private struct OCSDocument: Decodable { var ocs: OCS }
    private struct OCS: Decodable { var meta: Meta }
    private struct Meta: Decodable { var message: String? }

    private final class Handler: XMLHandler {
        private(set) var message: [UInt8]?
        private(set) var hasGivenUp = false
        private var names: [Name] = []

        private enum Name { case error, sabreMessage, ocs, meta, message, other }

        private static let table = XMLNameTable([
            ("DAV:\nerror", Name.error), ("http://sabredav.org/ns\nmessage", .sabreMessage), ("ocs", .ocs),
            ("meta", .meta), ("message", .message),
        ])

        private var isInMessage: Bool { names == [.error, .sabreMessage] || names == [.ocs, .meta, .message] }

        func start(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes) {
            names.append(Self.table[name] ?? .other)
            if names.count > 64 { hasGivenUp = true }
            if isInMessage, message == nil { message = [] }
        }

        func text(_ bytes: UnsafeRawBufferPointer) {
            guard isInMessage, let told = message else { return }
            message?.append(contentsOf: bytes.prefix(max(0, ServerSentence.mostBytes - told.count)))
        }

        func end() {
            if isInMessage { hasGivenUp = true }
            names.removeLast()
        }

        func documentType(_ name: String) { hasGivenUp = true }
    }
}
