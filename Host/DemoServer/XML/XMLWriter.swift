/// Writes elements with the prefixes that a server is meant to use.
struct XMLWriter: Sendable {
    let prefixes: CalendarManner.Prefixes

    private static let declared = [
        XMLName.davNamespace, XMLName.caldavNamespace, XMLName.calendarServerNamespace, XMLName.nextcloudNamespace,
    ]

    /// A whole document; the known namespaces are declared at its root.
    func document(_ root: XMLName, _ content: String) -> String {
        let namespaces = Self.declared.map { namespace in
            let prefix = prefix(of: namespace) ?? ""
            return " xmlns\(prefix.isEmpty ? "" : ":" + prefix)=\"\(namespace)\""
        }
        let tag = tag(root)
        return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<\(tag)\(namespaces.joined())>\(content)</\(tag)>\n"
    }

    /// An element with what stands in it, written already.
    func element(_ name: XMLName, _ content: String = "", attributes: String = "") -> String {
        let tag = tag(name)
        let declaration =
            prefix(of: name.namespace) == nil ? " xmlns:x=\"\(Self.escaped(name.namespace))\"" : ""
        let start = "<\(tag)\(declaration)\(attributes)"
        return content.isEmpty ? start + "/>" : "\(start)>\(content)</\(tag)>"
    }

    func text(_ name: XMLName, _ text: String) -> String { element(name, Self.escaped(text)) }

    func tags(_ name: XMLName) -> (start: String, end: String) { ("<\(tag(name))>", "</\(tag(name))>") }

    static func escaped(_ text: String) -> String {
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

    private func tag(_ name: XMLName) -> String {
        let prefix = prefix(of: name.namespace) ?? "x"
        return prefix.isEmpty ? name.local : "\(prefix):\(name.local)"
    }

    /// nil for a namespace that is not declared at the root.
    private func prefix(of namespace: String) -> String? {
        guard let index = Self.declared.firstIndex(of: namespace) else { return nil }
        return switch prefixes {
        case .usual: ["d", "cal", "cs", "nc"][index]
        case .none: ["", "C", "CS", "NC"][index]
        case .numbered: "ns\(index)"
        }
    }
}
