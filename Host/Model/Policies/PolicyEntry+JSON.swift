extension PolicyEntry {
    private static let format: Int64 = 1

    /// The entry as a JSON object, as the journal and the history store it.
    public var json: String {
        var members: [JSONValue.Member] = [.init(name: "format", value: .integer(Self.format))]
        switch self {
        case .step(let step):
            members += step.author.members
            members.append(.init(name: "quiet", value: .bool(step.isQuiet)))
            members.append(.init(name: "changes", value: .array(step.changes.map(\.json))))
        case .move(let move):
            members += move.author.members
            members.append(.init(name: "move", value: .string(move.direction.rawValue)))
            members.append(.init(name: "step", value: .string(move.step)))
            members.append(.init(name: "last", value: .string(move.last)))
        }
        return JSONValue.object(members).text
    }

    /// Parses the text that ``json`` returned.
    /// - Throws: `.localIO` if the text is not such an entry, or if a newer Larder wrote it.
    public init(json text: String) throws(Failure) {
        do throws(JSONValue.ParsingError) {
            let object = try JSONValue(parsing: text)
            if case .integer(let format) = object["format"], format > Self.format {
                throw JSONValue.ParsingError(message: "a newer Larder wrote it (format \(format))", offset: 0)
            }
            let author = try PolicyAuthor(object)
            if let direction = try? object.string("move") {
                guard let direction = PolicyMove.Direction(rawValue: direction) else { throw .missing("move") }
                self = .move(
                    PolicyMove(
                        direction, step: try object.string("step"), last: try object.string("last"), author: author))
            } else {
                guard case .array(let changes) = object["changes"], case .bool(let isQuiet) = object["quiet"] else {
                    throw .missing("changes")
                }
                var differences: [PolicyDifference] = []
                for change in changes {
                    differences.append(
                        PolicyDifference(
                            before: try ItemPolicy(ifAny: change["before"]),
                            after: try ItemPolicy(ifAny: change["after"])))
                }
                self = .step(PolicyStep(author: author, isQuiet: isQuiet, changes: differences))
            }
        } catch {
            throw Failure(.localIO, "a change in the history of the policies cannot be read: \(error.message)")
        }
    }
}

extension PolicyAuthor {
    fileprivate var members: [JSONValue.Member] {
        let (kind, name): (String, String?) =
            switch who {
            case .person(let name): ("person", name)
            case .plugin(let id): ("plugin", id.text)
            case .host: ("host", nil)
            }
        var by = [JSONValue.Member(name: "kind", value: .string(kind))]
        if let name { by.append(.init(name: "name", value: .string(name))) }
        return [.init(name: "by", value: .object(by)), .init(name: "time", value: .string(time.description))]
    }

    fileprivate init(_ object: JSONValue) throws(JSONValue.ParsingError) {
        guard let by = object["by"], let time = Timestamp(rfc3339: try object.string("time")) else {
            throw .missing("time")
        }
        switch try by.string("kind") {
        case "person": self = .person(try by.string("name"), at: time)
        case "plugin": self = .plugin(PluginID(try by.string("name")), at: time)
        case "host": self = .host(at: time)
        default: throw .missing("by")
        }
    }
}

extension PolicyDifference {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let before { members.append(.init(name: "before", value: before.json)) }
        if let after { members.append(.init(name: "after", value: after.json)) }
        return .object(members)
    }
}

extension ItemPolicy {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init(name: "id", value: .string(id.text)), .init(name: "kind", value: .string(kind.text)),
        ]
        for field in Field.allCases {
            guard let bytes = bytes(of: field) else { continue }
            let text = field == .data ? hex(bytes) : String(decoding: bytes, as: UTF8.self)
            members.append(.init(name: field.rawValue, value: .string(text)))
        }
        return .object(members)
    }

    fileprivate init?(ifAny object: JSONValue?) throws(JSONValue.ParsingError) {
        guard let object, object != .null else { return nil }
        func text(_ field: Field) throws(JSONValue.ParsingError) -> String? {
            object[field.rawValue] == nil ? nil : try object.string(field.rawValue)
        }
        self.init(
            id: PolicyID(try object.string("id")), kind: PolicyKind(try object.string("kind")),
            identifier: try text(.identifier), description: try text(.description),
            condition: try object.string(Field.condition.rawValue),
            path: try text(.path).map(ItemPath.init(unchecked:)), localID: try text(.localID).map(LocalID.init),
            removeWhenNone: try text(.removeWhenNone))
        guard let digits = try text(.data) else { return }
        guard let bytes = decodedHex(digits) else { throw .missing(Field.data.rawValue) }
        data = bytes
    }
}

extension JSONValue {
    fileprivate func string(_ name: String) throws(ParsingError) -> String {
        guard case .string(let text) = self[name] else { throw .missing(name) }
        return text
    }
}

extension JSONValue.ParsingError {
    fileprivate static func missing(_ name: String) -> Self { .init(message: "`\(name)` is missing", offset: 0) }
}

private func hex(_ bytes: [UInt8]) -> String {
    let alphabet = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [alphabet[Int($0 >> 4)], alphabet[Int($0 & 15)]] }, as: UTF8.self)
}

private func decodedHex(_ text: String) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}
