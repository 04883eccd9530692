/// An edit of a text: some bytes at one offset are replaced by others.
struct TextEdit {
    var offset: Int
    var removed: Int
    var inserted: String

    func apply(to text: String) -> String? {
        var bytes = Array(text.utf8)
        guard offset + removed <= bytes.count else { return nil }
        bytes.replaceSubrange(offset..<offset + removed, with: inserted.utf8)
        return String(validating: bytes, as: UTF8.self)
    }
}

/// A value that finds the place of an edit in a YAML text.
///
/// The parser replaces an alias by the value that the alias stands for, so the value's place lies before the alias's
/// key. An edit there would change other values too, so it is refused.
struct TextEditor {
    let bytes: [UInt8]
    let places: TextPlaces
    let lineEnd: String

    init(_ text: String) {
        bytes = Array(text.utf8)
        places = TextPlaces(text)
        lineEnd =
            text.utf8.firstIndex(of: UInt8(ascii: "\n")).map { end in
                end > text.utf8.startIndex && text.utf8[text.utf8.index(before: end)] == UInt8(ascii: "\r")
                    ? "\r\n" : "\n"
            } ?? "\n"
    }

    /// Returns the edit that replaces a pair's plain value.
    func replace(_ old: String, of pair: ConfigPair, with new: String) throws(PluginSwitch.EditError) -> TextEdit {
        let offset = try offset(of: pair.value, after: pair)
        guard bytes[offset...].starts(with: old.utf8) else { throw tooClever }
        return TextEdit(offset: offset, removed: old.utf8.count, inserted: new)
    }

    /// Returns the edit that adds `key: value` as the first entry of a pair's map, which may be empty.
    func insert(_ entry: String, into pair: ConfigPair) throws(PluginSwitch.EditError) -> TextEdit {
        if pair.value.isNull { return try fill(pair, with: "{ \(entry) }") }
        let offset = try offset(of: pair.value, after: pair)
        let first = pair.value.pairs?.first
        if bytes[offset] == UInt8(ascii: "{") { return insert(entry, intoFlowAt: offset, isEmpty: first == nil) }
        guard let first else { throw tooClever }
        return try insert(entry, above: first)
    }

    /// Returns the edit that adds lines at the end of the text, or an entry if the root is a flow map.
    func append(
        _ entry: String, orInto root: ConfigValue, block lines: [String]
    ) throws(PluginSwitch.EditError) -> TextEdit {
        if root.pairs?.isEmpty == false, case .file(_, let line, let column) = root.source,
            let offset = places.offset(line: line, column: column), bytes[offset] == UInt8(ascii: "{")
        {
            return insert(entry, intoFlowAt: offset, isEmpty: false)
        }
        let isComplete = bytes.isEmpty || bytes.last == UInt8(ascii: "\n")
        let text = lines.map { $0 + lineEnd }.joined()
        return TextEdit(offset: bytes.count, removed: 0, inserted: (isComplete ? "" : lineEnd) + text)
    }

    func insert(_ entry: String, intoFlowAt offset: Int, isEmpty: Bool) -> TextEdit {
        let isTight = offset + 1 < bytes.count && [UInt8(ascii: "}"), UInt8(ascii: "]")].contains(bytes[offset + 1])
        return TextEdit(
            offset: offset + 1, removed: 0, inserted: " " + entry + (isEmpty ? (isTight ? " " : "") : ","))
    }

    private func insert(_ entry: String, above first: ConfigPair) throws(PluginSwitch.EditError) -> TextEdit {
        guard case .file(_, let line, let column) = first.source, let start = places.start(ofLine: line),
            let key = places.offset(line: line, column: column),
            bytes[start..<key].allSatisfy({ $0 == UInt8(ascii: " ") })
        else { throw tooClever }
        let indent = String(repeating: " ", count: key - start)
        return TextEdit(offset: start, removed: 0, inserted: indent + entry + lineEnd)
    }

    /// Returns the edit that gives a value to a pair without one.
    private func fill(_ pair: ConfigPair, with value: String) throws(PluginSwitch.EditError) -> TextEdit {
        guard case .scalar(let written, _) = pair.value.content else { throw tooClever }
        if !written.isEmpty {
            let offset = try offset(of: pair.value, after: pair)
            guard bytes[offset...].starts(with: written.utf8) else { throw tooClever }
            return TextEdit(offset: offset, removed: written.utf8.count, inserted: value)
        }
        guard case .file(_, let line, let column) = pair.source, let key = places.offset(line: line, column: column)
        else { throw tooClever }
        var end = key + pair.key.utf8.count
        // A quoted key has two quotation marks.
        if bytes[key] != pair.key.utf8.first { end += 2 }
        while end < bytes.count, bytes[end] == UInt8(ascii: " ") { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: ":") else { throw tooClever }
        return TextEdit(offset: end + 1, removed: 0, inserted: " " + value)
    }

    func offset(of value: ConfigValue, after pair: ConfigPair) throws(PluginSwitch.EditError) -> Int {
        guard case .file(_, let line, let column) = value.source,
            case .file(_, let keyLine, let keyColumn) = pair.source,
            let offset = places.offset(line: line, column: column),
            let key = places.offset(line: keyLine, column: keyColumn), offset < bytes.count
        else { throw tooClever }
        guard offset > key else {
            throw PluginSwitch.EditError(reason: "`\(pair.key)` is a YAML alias, whose value others may share")
        }
        return offset
    }

    var tooClever: PluginSwitch.EditError {
        PluginSwitch.EditError(reason: "the file is written in a way that leaves no safe place for the change")
    }
}
