import Model

/// Conversions of command-line arguments to the program's own values.
enum CLIArgument {
    /// Returns the item path that a person typed.
    /// - Throws: `badData` if the text cannot be an item's path.
    static func path(_ text: String) throws(Failure) -> ItemPath {
        // An unset shell variable expands to an empty text, which must not mean the root.
        guard !text.isEmpty else { throw Failure(.badData, "the path is empty", hint: "`/` stands for everything") }
        do throws(ItemPath.Problem) {
            return try ItemPath(typed: text)
        } catch {
            let why =
                switch error {
                case .emptyName: "it contains two slashes in a row"
                case .dotName: "`.` and `..` are not names on the server"
                case .nul: "it contains a NUL character"
                case .nameTooLong: "one of its names is longer than \(ItemPath.longestName) bytes"
                case .pathTooLong: "it is longer than \(ItemPath.longestPath) bytes"
                case .reserved: "the name is reserved for Larder's own files"
                case .notAbsolute, .slashInName, .notUTF8: "it does not begin at the root"
                }
            throw Failure(.badData, "`\(Text.visible(text))` is not a path: \(why)")
        }
    }

    /// Parses the condition of a policy.
    /// - Throws: `badData` with the column of the mistake.
    static func condition(_ text: String, of option: String) throws(Failure) -> Condition {
        do {
            return try Condition(parsing: text)
        } catch {
            throw error.failure(in: option)
        }
    }

    /// Parses the condition of a query.
    /// - Throws: `badData` with the column of the mistake.
    static func itemCondition(_ text: String, of option: String) throws(Failure) -> ItemCondition {
        do {
            return try ItemCondition(parsing: text)
        } catch {
            throw error.failure(in: option)
        }
    }

    /// Returns a policy's id.
    /// - Throws: `badData` if the id could not be typed again in the form in which it is shown.
    static func policyID(_ text: String) throws(Failure) -> PolicyID {
        let isPlain = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f && Text.isVisible($0) }
        guard isPlain, (1...255).contains(text.utf8.count), !text.hasPrefix("-") else {
            throw Failure(
                .badData, "--id: `\(Text.visible(String(text.prefix(300))))` cannot be a policy's id",
                hint: "use 1 to 255 bytes without spaces and control characters, not beginning with `-`")
        }
        return PolicyID(text)
    }

    /// Returns the property of this name, to sort by.
    /// - Throws: `usage`, with the property whose name is nearest, if there is no such property or it has no order.
    static func property(_ text: String) throws(Failure) -> Condition.Property {
        if let property = Condition.Property(rawValue: text) {
            if property.isSortable { return property }
            throw Failure(.usage, "items cannot be sorted by `\(text)`", hint: "`--where` can select by it")
        }
        let sortable = Condition.Property.allCases.filter(\.isSortable)
        let meant = nearestName(to: text, among: sortable.map(\.rawValue))
        throw Failure(
            .usage, "there is no property `\(Text.visible(text))`", hint: meant.map { "did you mean `\($0)`?" })
    }

    /// Parses a time in RFC 3339 form.
    /// - Throws: `badData` if the text is no time.
    static func time(_ text: String, of option: String) throws(Failure) -> Timestamp {
        guard let time = Timestamp(rfc3339: text) else {
            throw Failure(
                .badData, "\(option): `\(Text.visible(text))` is not a time",
                hint: "write it as 2026-11-26T09:30:00Z or 2026-11-26T10:30:00+01:00, of the years 1678 to 2261")
        }
        return time
    }

    /// Parses a duration.
    /// - Throws: `usage` if the text is no duration.
    static func duration(_ text: String, of option: String) throws(Failure) -> Duration {
        do {
            return try ConfigScalar.duration(text)
        } catch {
            throw Failure(.usage, "\(option): \(error.message)")
        }
    }
}
