/// The name of an XML element: `{DAV:}getetag` in Clark's notation.
struct ElementName: Hashable, Sendable {
    var namespace: String
    var local: String

    /// Reads a name in Clark's notation.
    /// - Returns: nil if the text is not in Clark's notation or cannot stand in a document.
    init?(clark text: String) {
        let text = text.utf8
        guard text.first == UInt8(ascii: "{"), let end = text.firstIndex(of: UInt8(ascii: "}")) else { return nil }
        let (namespace, local) = (text[text.index(after: text.startIndex)..<end], text[text.index(after: end)...])
        guard let first = local.first, first.isNamePart, !first.isInnerNamePart, local.allSatisfy(\.isNamePart),
            namespace.allSatisfy({ $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "{") })
        else { return nil }
        self.namespace = String(Substring(namespace))
        self.local = String(Substring(local))
    }

    /// The name in the form that `XMLHandler.start` gets.
    var expanded: String { namespace.isEmpty ? local : "\(namespace)\n\(local)" }

    /// An element with this name and without content, which is valid inside any other element.
    var emptyElement: String {
        var escaped = ""
        for character in namespace {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return "<\(local) xmlns=\"\(escaped)\"/>"
    }

    /// Returns a name that `XMLHandler.start` got in Clark's notation.
    static func clark(_ name: UnsafePointer<CChar>) -> String {
        let text = String(cString: name)
        guard let end = text.utf8.firstIndex(of: 0x0a) else { return "{}\(text)" }
        return "{\(text[..<end])}\(text[text.utf8.index(after: end)...])"
    }
}

extension UInt8 {
    /// Whether a name may contain the byte. Every byte beyond ASCII is accepted: if such a character is not a letter,
    /// the server's answer says so.
    fileprivate var isNamePart: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x80...0xff: true
        default: false
        }
    }

    /// Whether the byte is a digit, `-` or `.`, with which a name must not begin.
    fileprivate var isInnerNamePart: Bool { (0x2d...0x39).contains(self) }
}
