import Transfer

/// A kind of login that a server offers in `WWW-Authenticate`, with its parameters (RFC 9110, section 11.6.1).
struct Challenge: Equatable {
    /// The name of the scheme as the server writes it.
    var name: String
    /// The parameters by their names in lower case. A parameter that stands twice has its first value.
    var parameters: [String: String] = [:]

    /// The name of the scheme in lower case.
    var scheme: String { name.lowercased() }

    /// Returns the challenges of all `WWW-Authenticate` fields in the server's order.
    static func all(in headers: HTTPHeaders) -> [Challenge] {
        headers["WWW-Authenticate"].flatMap { field in
            var reader = ParameterReader(field)
            return reader.challenges()
        }
    }

    /// Returns the parameters of a field without a scheme, such as `Authentication-Info` (RFC 7615, section 3).
    static func parameters(in field: String) -> [String: String] {
        var reader = ParameterReader("x " + field)
        return reader.challenges().first?.parameters ?? [:]
    }
}

/// A reader of a field with challenges. A field may hold several challenges, and commas separate both the challenges
/// and their parameters.
private struct ParameterReader {
    private var rest: ArraySlice<UInt8>

    init(_ field: String) { rest = Array(field.utf8)[...] }

    mutating func challenges() -> [Challenge] {
        var all: [Challenge] = []
        while !rest.isEmpty {
            skip { $0.isSpace || $0 == UInt8(ascii: ",") }
            let word = word()
            guard !word.isEmpty else {
                // A quoted text or a `=` may not stand here and is passed over.
                if rest.first == UInt8(ascii: "\"") { _ = quoted() } else { rest = rest.dropFirst() }
                continue
            }
            skip(\.isSpace)
            if rest.first == UInt8(ascii: "="), let last = all.indices.last {
                rest = rest.dropFirst()
                skip(\.isSpace)
                let value = rest.first == UInt8(ascii: "\"") ? quoted() : self.word()
                if all[last].parameters[word.lowercased()] == nil { all[last].parameters[word.lowercased()] = value }
            } else {
                all.append(Challenge(name: word))
                skipToken68()
            }
        }
        return all
    }

    /// Passes over the data that some schemes have in place of parameters: a word that no value follows.
    private mutating func skipToken68() {
        var ahead = self
        guard !ahead.word().isEmpty else { return }
        ahead.skip(\.isSpace)
        if ahead.rest.first == UInt8(ascii: "=") {
            ahead.rest = ahead.rest.dropFirst()
            ahead.skip(\.isSpace)
            if let next = ahead.rest.first, next != UInt8(ascii: "="), next != UInt8(ascii: ",") { return }
            ahead.skip { $0 == UInt8(ascii: "=") }
        } else if let next = ahead.rest.first, next != UInt8(ascii: ",") {
            return
        }
        self = ahead
    }

    private mutating func word() -> String {
        let word = rest.prefix { !$0.isSpace && !",=\"".utf8.contains($0) }
        rest = rest[word.endIndex...]
        return String(decoding: word, as: UTF8.self)
    }

    /// Reads a quoted text, without its quotes and without the backslashes before quoted characters.
    private mutating func quoted() -> String {
        rest = rest.dropFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let next = rest.popFirst() { bytes.append(next) } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) { rest = rest.drop(while: isSkipped) }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x09 }
}
