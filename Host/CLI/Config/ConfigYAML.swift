import Yams

/// A reader that turns a config file's text into values with their places.
///
/// The reader does not resolve scalars. The YAML parser's own resolution follows YAML 1.1, where `no` is false.
struct ConfigYAML {
    /// The file's name in messages.
    let file: String
    private(set) var problems: [ConfigProblem] = []
    /// The names of keys that are repeated further below, by the place of the first occurrence.
    private var repeated: [Place: String] = [:]
    private var valuesLeft = 100_000

    init(file: String) { self.file = file }

    private struct Place: Hashable {
        var line: Int
        var column: Int
    }

    /// Parses a document.
    /// - Returns: the document; nil if it cannot be read, in which case `problems` say why. An empty file is null.
    mutating func parse(_ text: String) -> ConfigValue? {
        // An editor's byte order mark is no character of the document. The places are those behind it.
        var text = text.unicodeScalars.first == "\u{feff}" ? String(text.unicodeScalars.dropFirst()) : text
        while true {
            do {
                // The nodes refer to the parser, so it stays alive while they are converted.
                let parser = try Parser(yaml: text, encoding: .utf8)
                guard let root = try parser.singleRoot() else {
                    return ConfigValue(content: .scalar("", isPlain: true), source: source(line: 1, column: 1))
                }
                return value(root)
            } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
                guard let without = hide(context.mark, of: keys, in: text) else { return nil }
                text = without
            } catch {
                problems.append(problem(of: error))
                return nil
            }
        }
    }

    /// Renames the first occurrence of a repeated key in a copy of the text. The parser stops at a repeated key; with
    /// the copy, the rest of the file is checked too.
    private mutating func hide(_ mark: Mark, of keys: [String], in text: String) -> String? {
        let offset = TextPlaces(text).offset(line: mark.line, column: mark.column)
        let rest = offset.map { Array(text.utf8.dropFirst($0)) } ?? []
        let quote = rest.first == UInt8(ascii: "\"") || rest.first == UInt8(ascii: "'") ? 1 : 0
        guard let offset, let key = keys.first(where: { !$0.isEmpty && rest.dropFirst(quote).starts(with: $0.utf8) }),
            key.utf8.first?.isASCIILetter == true, repeated.count < 100
        else {
            let names = keys.map { "`\($0)`" }.joined(separator: ", ")
            problems.append(ConfigProblem(source: source(mark), message: "the map has \(names) more than once"))
            return nil
        }
        repeated[Place(line: mark.line, column: mark.column)] = key
        var bytes = Array(text.utf8)
        bytes[offset + quote] = UInt8(ascii: "0") + UInt8(repeated.count % 10)
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func value(_ node: Node) -> ConfigValue {
        let source = source(node.mark)
        valuesLeft -= 1
        guard valuesLeft > 0 else {
            // Aliases of aliases can stand for more values than fit in memory.
            if valuesLeft == 0 {
                problems.append(ConfigProblem(source: source, message: "the file has more than 100,000 values"))
            }
            return ConfigValue(content: .scalar("", isPlain: true), source: source)
        }
        switch node {
        case .scalar(let scalar):
            return ConfigValue(content: .scalar(scalar.string, isPlain: scalar.style == .plain), source: source)
        case .sequence(let nodes):
            return ConfigValue(content: .list(nodes.map { value($0) }), source: source)
        case .mapping(let mapping):
            return ConfigValue(content: .map(pairs(mapping)), source: source)
        case .alias:
            problems.append(ConfigProblem(source: source, message: "this alias refers to no anchor"))
            return ConfigValue(content: .scalar("", isPlain: true), source: source)
        }
    }

    private mutating func pairs(_ mapping: Node.Mapping) -> [ConfigPair] {
        var pairs: [ConfigPair] = []
        var again: [(name: String, first: ConfigSource)] = []
        for (key, node) in mapping {
            let place = source(key.mark)
            guard case .scalar(let scalar) = key else {
                problems.append(
                    ConfigProblem(source: place, message: "a key must be a single word, not a list or a map"))
                continue
            }
            if let mark = key.mark, let name = repeated[Place(line: mark.line, column: mark.column)] {
                again.append((name, place))
                continue
            }
            pairs.append(ConfigPair(key: scalar.string, source: place, value: value(node)))
        }
        for (name, first) in again {
            problems.append(
                ConfigProblem(
                    source: pairs[name]?.source ?? first,
                    message: "`\(name)` is given a second time; the first is at \(first)"))
        }
        return pairs
    }

    private func source(_ mark: Mark?) -> ConfigSource { source(line: mark?.line ?? 1, column: mark?.column ?? 1) }

    private func source(line: Int, column: Int) -> ConfigSource { .file(file, line: line, column: column) }

    private func problem(of error: any Error) -> ConfigProblem {
        switch error as? YamlError {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let what = context.map { "\($0.text), \(problem)" } ?? problem
            return ConfigProblem(source: source(mark), message: "not YAML: \(what)")
        case .reader(let problem, _, _, _):
            return ConfigProblem(source: source(nil), message: "not YAML: \(problem)")
        default:
            return ConfigProblem(source: source(nil), message: "not YAML")
        }
    }
}

extension UInt8 {
    var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
