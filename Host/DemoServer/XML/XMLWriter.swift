/// A writer of elements that uses given prefixes.
package struct XMLWriter: Sendable {
    package typealias Namespace = (prefix: String, name: String)

    /// The namespaces that are declared at a document's root. A namespace with an empty prefix applies to names without
    /// a prefix.
    package let namespaces: [Namespace]

    package static let usual: [Namespace] = [
        ("d", XMLName.davNamespace), ("cal", XMLName.caldavNamespace), ("cs", XMLName.calendarServerNamespace),
    ]

    /// The writer of what concerns files.
    package static let files = XMLWriter(namespaces: [
        ("d", XMLName.davNamespace), ("oc", XMLName.ownCloudNamespace), ("s", XMLName.sabreNamespace),
    ])

    /// The writer for a listing of files.
    package static let listing = XMLWriter(namespaces: [("d", XMLName.davNamespace), ("oc", XMLName.ownCloudNamespace)])

    package init(namespaces: [Namespace]) { self.namespaces = namespaces }

    /// Returns a whole document, with the known namespaces declared at its root.
    package func document(_ root: XMLName, _ content: String) -> String {
        let declarations = namespaces.map { prefix, name in
            " xmlns\(prefix.isEmpty ? "" : ":" + prefix)=\"\(name)\""
        }
        let tag = tag(root)
        return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<\(tag)\(declarations.joined())>\(content)</\(tag)>\n"
    }

    /// Returns an element with its content, which is XML already.
    package func element(_ name: XMLName, _ content: String = "", attributes: String = "") -> String {
        let tag = tag(name)
        let declaration =
            prefix(of: name.namespace) == nil ? " xmlns:x=\"\(Self.escaped(name.namespace))\"" : ""
        let start = "<\(tag)\(declaration)\(attributes)"
        return content.isEmpty ? start + "/>" : "\(start)>\(content)</\(tag)>"
    }

    package func text(_ name: XMLName, _ text: String) -> String { element(name, Self.escaped(text)) }

    /// Returns what is in an element, as XML: its text, then its children.
    package func content(of element: XMLElement) -> String {
        Self.escaped(element.text)
            + element.children.map { child in
                let attributes = child.attributes.filter { !$0.key.contains(":") || $0.key.hasPrefix("xml:") }
                    .sorted { $0.key < $1.key }.map { " \($0.key)=\"\(Self.escaped($0.value))\"" }
                return self.element(child.name, content(of: child), attributes: attributes.joined())
            }.joined()
    }

    package static func escaped(_ text: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): result += "&amp;".utf8
            case UInt8(ascii: "<"): result += "&lt;".utf8
            case UInt8(ascii: ">"): result += "&gt;".utf8
            case UInt8(ascii: "\""): result += "&quot;".utf8
            case 0x0d: result += "&#13;".utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns a name with its prefix.
    package func tag(_ name: XMLName) -> String {
        let prefix = prefix(of: name.namespace) ?? "x"
        return prefix.isEmpty ? name.local : "\(prefix):\(name.local)"
    }

    /// Returns a namespace's prefix; nil for a namespace that is not declared at the root.
    private func prefix(of namespace: String) -> String? { namespaces.first { $0.name == namespace }?.prefix }
}
