/// The position in a calendar's history that a sync token stands for.
enum SyncToken: Equatable {
    /// The beginning: all members follow.
    case initial
    /// The position after the change of this number.
    case after(Int)
    /// A position within an initial listing at version `version`, of which `given` members were listed.
    case within(version: Int, given: Int)
    /// A token in the server's own form whose variable part is not a number.
    case nonsense

    /// Reads a token; nil for a text that the server never gave, including its own tokens with blanks around them.
    init?(_ text: String, form: CalendarManner.Tokens) {
        let (prefix, suffix) = form.surroundings
        if text.isEmpty {
            self = .initial
            return
        }
        // Compares byte by byte: Swift's `hasPrefix` may find different texts equal.
        guard text.utf8.starts(with: prefix.utf8), text.utf8.reversed().starts(with: suffix.utf8.reversed()) else {
            return nil
        }
        let value = text.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        let parts = String(decoding: value, as: UTF8.self).split(separator: "_", omittingEmptySubsequences: false)
        if value.contains(0x20) { return nil }
        if parts.count == 3, parts[0] == "init", let version = Int(parts[1]), let given = Int(parts[2]), given >= 0 {
            self = .within(version: version, given: given)
        } else if parts.count == 1, let number = Int(parts[0]), number >= 0 {
            self = number == 0 ? .initial : .after(number)
        } else {
            self = .nonsense
        }
    }

    static func text(after number: Int, form: CalendarManner.Tokens) -> String { text("\(number)", form) }

    static func text(within version: Int, given: Int, form: CalendarManner.Tokens) -> String {
        text("init_\(version)_\(given)", form)
    }

    private static func text(_ value: String, _ form: CalendarManner.Tokens) -> String {
        form.surroundings.prefix + value + form.surroundings.suffix
    }
}

extension CalendarManner.Tokens {
    /// The texts before and after the number.
    fileprivate var surroundings: (prefix: String, suffix: String) {
        switch self {
        case .sabre: ("http://sabre.io/ns/sync/", "")
        case .bare: ("5bafa61850d3aab8865d9f9215668b243c33", "")
        case .quoted: ("\"", "\"")
        case .entities: ("urn:x?a&b=<c>'\"&amp;", ";é")
        }
    }
}
