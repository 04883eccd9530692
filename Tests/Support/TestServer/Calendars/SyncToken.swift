/// Where in a calendar's history a sync token stands.
enum SyncToken: Equatable {
    /// From the beginning: all members.
    case initial
    /// After the change of this number.
    case after(Int)
    /// An initial listing at version `version`, of which so many members were given.
    case within(version: Int, given: Int)
    /// The server's own form with something in it that is no number.
    case nonsense

    /// - Returns: nil for what the server never gave, blanks around its own tokens included.
    init?(_ text: String, form: CalendarManner.Tokens) {
        let (prefix, suffix) = form.surroundings
        if text.isEmpty {
            self = .initial
            return
        }
        // Byte by byte: to Swift's `hasPrefix` a text may be equal that is another one.
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
    /// What stands around the number.
    fileprivate var surroundings: (prefix: String, suffix: String) {
        switch self {
        case .sabre: ("http://sabre.io/ns/sync/", "")
        case .bare: ("5bafa61850d3aab8865d9f9215668b243c33", "")
        case .quoted: ("\"", "\"")
        case .entities: ("urn:x?a&b=<c>'\"&amp;", ";é")
        }
    }
}
