/// An element of a request's body, with everything in it.
package struct XMLElement: Sendable {
    package var name: XMLName
    /// The values by their names as written, without declarations of namespaces.
    package var attributes: [String: String] = [:]
    /// The text directly in the element, as written, including white space.
    package var text = ""
    package var children: [XMLElement] = []

    /// Parses a document; nil if the document is not well-formed.
    /// - Parameter document: XML without a document type.
    package init?(document: [UInt8]) {
        var parser = XMLParser(document)
        guard let root = parser.document() else { return nil }
        self = root
    }

    init(name: XMLName, attributes: [String: String]) { (self.name, self.attributes) = (name, attributes) }

    package func child(_ name: XMLName) -> XMLElement? { children.first { $0.name == name } }
}

/// A parser that reads a document's elements one after the other. It is separate code, so that the server shares no
/// parser with the clients that are tested with it.
private struct XMLParser {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() -> XMLElement? {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
        guard skipMisc(), let root = element(scope: ["xml": "http://www.w3.org/XML/1998/namespace"], depth: 0),
            skipMisc(), index == bytes.count
        else { return nil }
        return root
    }

    /// Skips white space, comments and processing instructions.
    private mutating func skipMisc() -> Bool {
        while true {
            skipBlanks()
            if take("<?") {
                guard skip(past: "?>") else { return false }
            } else if take("<!--") {
                guard skip(past: "-->") else { return false }
            } else {
                return true
            }
        }
    }

    private mutating func element(scope: [String: String], depth: Int) -> XMLElement? {
        guard depth < 32, take("<"), let tag = name() else { return nil }
        var scope = scope
        var attributes: [String: String] = [:]
        while true {
            let before = index
            skipBlanks()
            if take("/>") { return qualified(tag, scope).map { XMLElement(name: $0, attributes: attributes) } }
            if take(">") { break }
            guard index > before, let attribute = name(), let value = attributeValue() else { return nil }
            if attribute == "xmlns" {
                scope[""] = value
            } else if attribute.hasPrefix("xmlns:") {
                scope[String(attribute.dropFirst(6))] = value
            } else {
                attributes[attribute] = value
            }
        }
        guard let name = qualified(tag, scope) else { return nil }
        var element = XMLElement(name: name, attributes: attributes)
        var text: [UInt8] = []
        while index < bytes.count {
            if take("</") {
                guard self.name() == tag else { return nil }
                skipBlanks()
                guard take(">") else { return nil }
                element.text = String(decoding: text, as: UTF8.self)
                return element
            } else if take("<!--") {
                guard skip(past: "-->") else { return nil }
            } else if take("<![CDATA[") {
                let start = index
                guard skip(past: "]]>") else { return nil }
                text += bytes[start..<index - 3]
            } else if bytes[index] == UInt8(ascii: "<") {
                guard let child = self.element(scope: scope, depth: depth + 1) else { return nil }
                element.children.append(child)
            } else {
                guard let character = character() else { return nil }
                text += character
            }
        }
        return nil
    }

    private func qualified(_ tag: String, _ scope: [String: String]) -> XMLName? {
        let parts = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return XMLName(namespace: scope[""] ?? "", local: tag) }
        return scope[parts[0]].map { XMLName(namespace: $0, local: parts[1]) }
    }

    private mutating func name() -> String? {
        let start = index
        while index < bytes.count, !Self.endsName(bytes[index]) { index += 1 }
        return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
    }

    private static func endsName(_ byte: UInt8) -> Bool { byte <= 0x20 || "<>/=\"'&".utf8.contains(byte) }

    private mutating func attributeValue() -> String? {
        skipBlanks()
        guard take("=") else { return nil }
        skipBlanks()
        guard index < bytes.count, "\"'".utf8.contains(bytes[index]) else { return nil }
        let quote = bytes[index]
        index += 1
        var value: [UInt8] = []
        while index < bytes.count, bytes[index] != quote {
            guard bytes[index] != UInt8(ascii: "<"), let character = character() else { return nil }
            value += character
        }
        index += 1
        return index <= bytes.count ? String(decoding: value, as: UTF8.self) : nil
    }

    /// Returns a byte of text, or the character that a reference stands for.
    private mutating func character() -> [UInt8]? {
        guard bytes[index] == UInt8(ascii: "&") else {
            index += 1
            return [bytes[index - 1]]
        }
        guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let entity = String(decoding: bytes[index + 1..<end], as: UTF8.self)
        index = end + 1
        switch entity {
        case "amp": return Array("&".utf8)
        case "lt": return Array("<".utf8)
        case "gt": return Array(">".utf8)
        case "quot": return Array("\"".utf8)
        case "apos": return Array("'".utf8)
        default:
            guard entity.hasPrefix("#") else { return nil }
            let isHexadecimal = entity.hasPrefix("#x")
            return UInt32(entity.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
                .flatMap(Unicode.Scalar.init).map { Array(String($0).utf8) }
        }
    }

    private mutating func skipBlanks() {
        while index < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[index...].starts(with: text.utf8) else { return false }
        index += text.utf8.count
        return true
    }

    private mutating func skip(past text: String) -> Bool {
        while index < bytes.count {
            if take(text) { return true }
            index += 1
        }
        return false
    }
}
