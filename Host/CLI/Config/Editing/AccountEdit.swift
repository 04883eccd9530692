import Model

/// An edit that adds an account to a config's text or takes one out, and leaves every other byte unchanged.
///
/// The new text is parsed to check the edit: its meaning must be that of the old text with the one account more or less.
enum AccountEdit {
    /// An account as it is written in the config.
    struct Entry {
        /// The keys and their values in the order in which they are written. The values are YAML.
        private var settings: [(key: String, value: String)] = []

        /// Adds a setting whose value is a text.
        mutating func set(_ key: String, _ text: String) { settings.append((key, Self.scalar(text))) }

        /// Adds a setting whose value is a map with one text.
        mutating func set(_ key: String, _ inner: String, _ text: String) {
            settings.append((key, "{ \(inner): \(Self.scalar(text)) }"))
        }

        /// The lines of the entry in a block.
        /// - Parameter indent: what stands before the dash.
        func lines(_ indent: String = "  ") -> [String] {
            settings.enumerated().map { "\(indent)\($0 == 0 ? "- " : "  ")\($1.key): \($1.value)" }
        }

        /// The entry as a map in one line.
        var line: String { "{ \(settings.map { "\($0.key): \($0.value)" }.joined(separator: ", ")) }" }

        /// Returns a text as a YAML scalar, quoted unless it is plain beyond doubt.
        private static func scalar(_ text: String) -> String {
            let isPlain =
                text.utf8.first.map { $0.isASCIILetter || "/~".utf8.contains($0) } ?? false
                && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "/~._-@:+".utf8.contains($0) }
                && !text.hasSuffix(":")
                && !["true", "false", "null", "yes", "no", "on", "off"].contains(text.lowercased())
            return isPlain && text != "~" ? text : JSONValue.string(text).text
        }
    }

    /// Returns the text with one more account, after the others.
    /// - Throws: the reason why the text is not changed.
    static func adding(_ entry: Entry, to text: String) throws(PluginSwitch.EditError) -> String {
        guard let root = ConfigValue(parsing: text),
            let added = ConfigValue(parsing: entry.lines("").joined(separator: "\n")).flatMap(\.list)?.first
        else { throw PluginSwitch.EditError(reason: "the file is not YAML, or has a key twice") }
        let editor = TextEditor(text)
        let accounts = root.pairs?["accounts"]
        let known = accounts?.value.list ?? []
        var wanted = root
        wanted.set(["accounts"], to: ConfigValue(content: .list(known + [added]), source: .builtIn))
        var edits: [TextEdit] = []
        if let accounts {
            if let offset = try? editor.offset(of: accounts.value, after: accounts),
                editor.bytes[offset] == UInt8(ascii: "[")
            {
                // In a flow list the new account stands first: where the last one ends is unknown.
                wanted.set(["accounts"], to: ConfigValue(content: .list([added] + known), source: .builtIn))
                edits = [editor.insert(entry.line, intoFlowAt: offset, isEmpty: known.isEmpty)]
            } else {
                let indent = known.first.flatMap { editor.indent(of: $0) } ?? "  "
                edits = editor.ends(of: known.last ?? accounts.value, accounts, in: root)
                    .map { editor.insertion(of: entry.lines(indent), at: $0) }
            }
        } else {
            let block = ["accounts:"] + entry.lines()
            edits = [try editor.append("accounts: [ \(entry.line) ]", orInto: root, block: block)]
        }
        return try editor.first(of: edits, in: text, meaning: wanted)
    }

    /// Returns the text without an account.
    /// - Parameter index: the account's index in the list.
    /// - Throws: the reason why the text is not changed.
    static func removing(_ index: Int, from text: String) throws(PluginSwitch.EditError) -> String {
        let editor = TextEditor(text)
        guard let root = ConfigValue(parsing: text), let accounts = root.pairs?["accounts"],
            let known = accounts.value.list, known.indices.contains(index)
        else { throw editor.tooClever }
        let entry = known[index]
        guard let line = editor.line(of: entry), let start = editor.places.start(ofLine: line),
            editor.indent(of: entry) != nil
        else { throw editor.tooClever }
        let ends = editor.ends(of: entry, accounts, in: root)
        let rest = known.enumerated().filter { $0.offset != index }.map(\.element)
        var wanted = root
        let empty = ConfigValue(content: .scalar("", isPlain: true), source: .builtIn)
        wanted.set(["accounts"], to: rest.isEmpty ? empty : ConfigValue(content: .list(rest), source: .builtIn))
        let edits = ends.map { TextEdit(offset: start, removed: $0 - start, inserted: "") }
        return try editor.first(of: edits, in: text, meaning: wanted)
    }
}

extension ConfigValue {
    /// The values of a list; nil for any other value.
    var list: [ConfigValue]? { if case .list(let values) = content { values } else { nil } }

    /// The last line on which a value or a key below this value begins.
    fileprivate var lastLine: Int {
        var last = if case .file(_, let line, _) = source { line } else { 0 }
        for value in list ?? [] { last = max(last, value.lastLine) }
        if case .map(let pairs) = content { for pair in pairs { last = max(last, pair.value.lastLine) } }
        return last
    }
}

extension TextEditor {
    /// Returns the first edit after which the text has the wanted meaning.
    fileprivate func first(
        of edits: [TextEdit], in text: String, meaning wanted: ConfigValue
    ) throws(PluginSwitch.EditError) -> String {
        for edit in edits {
            if let changed = edit.apply(to: text), ConfigValue(parsing: changed)?.meansSame(as: wanted) == true {
                return changed
            }
        }
        throw tooClever
    }

    fileprivate func line(of value: ConfigValue) -> Int? {
        if case .file(_, let line, _) = value.source { line } else { nil }
    }

    /// Returns what stands before the dash of a list's entry; nil if anything but spaces does.
    fileprivate func indent(of entry: ConfigValue) -> String? {
        guard let line = line(of: entry), let start = places.start(ofLine: line) else { return nil }
        let spaces = bytes[start...].prefix { $0 == UInt8(ascii: " ") }
        return bytes[spaces.endIndex...].starts(with: "- ".utf8) ? String(decoding: spaces, as: UTF8.self) : nil
    }

    /// Returns the offsets at which a value of the accounts may end: behind the line on which its last part begins, and
    /// before the next entry or setting, for values of several lines.
    fileprivate func ends(of value: ConfigValue, _ accounts: ConfigPair, in root: ConfigValue) -> [Int] {
        let own = line(of: value) ?? 0
        let entries = (accounts.value.list ?? []).compactMap(line(of:))
        let settings = (root.pairs ?? []).map { line(of: ConfigValue(content: .list([]), source: $0.source)) ?? 0 }
        let next = (entries + settings).filter { $0 > own }.min()
        return [
            places.start(ofLine: value.lastLine + 1) ?? bytes.count, next.flatMap(places.start(ofLine:)) ?? bytes.count,
        ]
    }

    fileprivate func insertion(of lines: [String], at offset: Int) -> TextEdit {
        let isComplete = offset == 0 || bytes[offset - 1] == UInt8(ascii: "\n")
        let text = lines.map { $0 + lineEnd }.joined()
        return TextEdit(offset: offset, removed: 0, inserted: (isComplete ? "" : lineEnd) + text)
    }
}
