/// The header fields of a request or an answer, in their order. Names are compared without case (RFC 9110, section 5.1).
///
///     var headers: HTTPHeaders = ["Depth": "1"]
///     headers.add(name: "If-Match", value: "\"v1\"")
package struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral, Sequence, CustomStringConvertible {
    private struct Field: Sendable, Equatable {
        var name: String
        var value: String
    }

    private var fields: [Field]

    package init(_ fields: [(String, String)] = []) { self.fields = fields.map { Field(name: $0.0, value: $0.1) } }

    package init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }

    package var description: String { map { "\($0.name): \($0.value)" }.joined(separator: "\n") }

    package func makeIterator() -> some IteratorProtocol<(name: String, value: String)> {
        fields.lazy.map { (name: $0.name, value: $0.value) }.makeIterator()
    }

    package var isEmpty: Bool { fields.isEmpty }

    package mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    package mutating func add(name: String, value: String) { fields.append(Field(name: name, value: value)) }

    package mutating func remove(name: String) { fields.removeAll { Self.areEqual($0.name, name) } }

    package mutating func replaceOrAdd(name: String, value: String) {
        remove(name: name)
        add(name: name, value: value)
    }

    /// Adds text to the value of the last field.
    mutating func extendLast(by text: String) {
        guard !fields.isEmpty else { return }
        fields[fields.count - 1].value += " " + text
    }

    package func contains(name: String) -> Bool { fields.contains { Self.areEqual($0.name, name) } }

    /// Returns the value of the first field with a name.
    package func first(name: String) -> String? { fields.first { Self.areEqual($0.name, name) }?.value }

    /// The values of all fields with a name.
    package subscript(name: String) -> [String] {
        fields.lazy.filter { Self.areEqual($0.name, name) }.map(\.value)
    }

    /// The members of all lists that fields with a name have, without the blanks around them.
    package subscript(canonicalForm name: String) -> [Substring] {
        self[name].flatMap { value in
            value.split(separator: ",").map { member in
                let isBlank = { (character: Character) in character == " " || character == "\t" }
                var member = member.drop(while: isBlank)
                while let last = member.last, isBlank(last) { member.removeLast() }
                return member
            }
        }
    }

    /// The first coding of the body that is not the plain one (RFC 9110, section 8.4); nil if there is none.
    package var contentCoding: String? {
        self[canonicalForm: "Content-Encoding"].first { !$0.isEmpty && $0.lowercased() != "identity" }.map(String.init)
    }

    private static func areEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (one.utf8, other.utf8)
        guard one.count == other.count else { return false }
        return zip(one, other).allSatisfy {
            $0 == $1 || ($0 | 0x20 == $1 | 0x20 && ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7a)
        }
    }
}
