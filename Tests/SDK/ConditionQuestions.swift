import LarderSDK
import Model
import TestSupport

/// A condition built by the SDK, and the same condition as a Swift function of an item.
struct Question {
    typealias Built = LarderSDK.Condition

    let condition: Built
    let holds: (Model.Item) -> Bool

    static func && (a: Question, b: Question) -> Question {
        Question(condition: a.condition && b.condition) { a.holds($0) && b.holds($0) }
    }
    static func || (a: Question, b: Question) -> Question {
        Question(condition: a.condition || b.condition) { a.holds($0) || b.holds($0) }
    }
    static prefix func ! (a: Question) -> Question { Question(condition: !a.condition) { !a.holds($0) } }
}

/// A generator of questions and items with few, odd values, so that the values often match.
struct QuestionMaker {
    typealias Built = LarderSDK.Condition

    var random: SeededGenerator
    static let now: Int64 = 1_795_262_400_000_000_000

    private mutating func one<T>(of choices: [T]) -> T { choices[Int.random(in: choices.indices, using: &random)] }
    private mutating func maybe<T>(_ value: T) -> T? { Int.random(in: 0..<4, using: &random) == 0 ? nil : value }

    // MARK: Values

    private mutating func text() -> String {
        let texts = [
            "", "a", "A", "ab", "a_b", "100%", "\\", "\"", "'", "new\nline", "\t\r", "é", "e\u{301}", "😀", "\u{1}",
            "\u{85}\u{2028}", "/", "null", "b\"c\\", "true || removed", "\u{10FFFF}",
        ]
        return Bool.random(using: &random) ? one(of: texts) : one(of: texts) + one(of: texts)
    }

    private mutating func number() -> Int64 { one(of: [0, 1, -1, 5, 1_000_000, .max, .min]) }
    private mutating func time() -> Int64 {
        Self.now + one(of: [0, 1, -1, 3_600_000_000_000, -3_600_000_000_000, -86_400_000_000_000, -123_456_789])
    }
    private mutating func span() -> (Duration, Int64) {
        let milliseconds = one(
            of: [0, 1, -1, 999, 1_000, 60_000, 3_600_000, -3_600_000, 604_800_000, 5_400_001] as [Int64])
        return (.milliseconds(milliseconds), milliseconds * 1_000_000)
    }

    mutating func item(_ number: Int) -> Model.Item {
        let time = Timestamp(nanoseconds: Self.now)
        let etag = maybe(ETag(opaque: text(), strength: .strong))
        let status = one(of: Model.CloudStatus.allCases)
        let copy = LocalCopy(
            etag: Bool.random(using: &random)
                ? etag ?? ETag(opaque: text(), strength: .strong)
                : ETag(opaque: text(), strength: .strong),
            digest: [1], mark: FileMark(inode: 1, size: 1, modified: time, changed: time, recorded: time))
        return Model.Item(
            localID: LocalID(text()), fileID: maybe(FileID(text())), path: ItemPath(unchecked: "/" + text()),
            kind: Bool.random(using: &random) ? .file : .folder, size: maybe(self.number()), mimeType: maybe(text()),
            etag: etag, lastModified: maybe(Timestamp(nanoseconds: self.time())),
            isFavorite: Bool.random(using: &random), removedAt: maybe(time), cloudStatus: status,
            copy: status == .localCopy || status == .locallyModified ? copy : nil,
            downloadTrigger: maybe(DownloadTrigger(text())), lastUsed: maybe(Timestamp(nanoseconds: self.time())))
    }

    // MARK: Questions

    mutating func question(depth: Int) -> Question {
        guard depth > 0 else { return leaf() }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return !question(depth: depth - 1)
        case 1: return question(depth: depth - 1) && question(depth: depth - 1)
        case 2: return question(depth: depth - 1) || question(depth: depth - 1)
        case 3, 4:
            let parts = (0..<Int.random(in: 0..<4, using: &random)).map { _ in question(depth: depth - 1) }
            let conditions = parts.map(\.condition)
            return Bool.random(using: &random)
                ? Question(condition: .all(of: conditions)) { item in parts.allSatisfy { $0.holds(item) } }
                : Question(condition: .any(of: conditions)) { item in parts.contains { $0.holds(item) } }
        default: return leaf()
        }
    }

    private mutating func leaf() -> Question {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return aboutText()
        case 1: return partOfText()
        case 2:
            let number = number()
            return ordered(.size, \.size, number, Operand(number), number)
        case 3:
            let time = time()
            return one(of: [
                ordered(.lastModified, \.lastModified?.nanoseconds, Moment.at(time), Operand(Moment.at(time)), time),
                ordered(.lastUsed, \.lastUsed?.nanoseconds, Moment.at(time), Operand(Moment.at(time)), time),
                ordered(.removedAt, \.removedAt?.nanoseconds, Moment.at(time), Operand(Moment.at(time)), time),
            ])
        case 4: return aboutTimes()
        case 5:
            let (type, status, version) = (
                maybe(one(of: [ItemType.file, .folder])),
                maybe(one(of: [LarderSDK.CloudStatus.cloudOnly, .localCopy, .locallyModified, .localOnly])),
                maybe(one(of: [LarderSDK.RemoteVersion.current, .newer]))
            )
            return one(of: [
                same(.type, { $0.kind == .file ? .file : .folder }, type),
                same(.cloudStatus, { .init(rawValue: UInt32($0.cloudStatus.rawValue)) }, status),
                same(.remoteVersion, { $0.remoteVersion.flatMap { .init(rawValue: UInt32($0.rawValue)) } }, version),
            ])
        case 6:
            let flag = maybe(Bool.random(using: &random))
            return one(of: [same(.removed, \.isRemoved, flag), same(.favorite, \.isFavorite, flag)])
        default:
            return one(of: [
                Question(condition: .removed) { $0.isRemoved }, Question(condition: .favorite) { $0.isFavorite },
            ])
        }
    }

    /// Returns a question with `==`, `!=` or a list. These operators treat nil as a value.
    private mutating func same<Value: ConditionValue & Equatable>(
        _ property: Operand<Value>, _ read: @escaping (Model.Item) -> Value?, _ value: Value?
    ) -> Question {
        one(of: [
            Question(condition: property == value) { read($0) == value },
            Question(condition: property != value) { read($0) != value },
            Question(condition: property.isIn([value, value])) { read($0) == value },
            Question(condition: property.isIn([])) { _ in false },
            Question(condition: property == property) { _ in true },
        ])
    }

    /// Returns a question with a comparison, for a property that items also give as a number.
    private mutating func ordered<Value: OrderedConditionValue>(
        _ property: Operand<Value>, _ read: @escaping (Model.Item) -> Int64?, _ value: Value, _ operand: Operand<Value>,
        _ number: Int64
    ) -> Question {
        func asked(_ condition: Built, _ compare: @escaping (Int64, Int64) -> Bool) -> Question {
            Question(condition: condition) { read($0).map { compare($0, number) } ?? false }
        }
        return one(of: [
            asked(property < value, <), asked(property <= value, <=), asked(property > value, >),
            asked(property >= value, >=), asked(property < operand, <), asked(property <= operand, <=),
            asked(property > operand, >), asked(property >= operand, >=), asked(property == value, ==),
            Question(condition: property != operand) { read($0) != number },
            Question(condition: property == nil) { read($0) == nil },
            Question(condition: property.isIn([nil, value])) { read($0).map { $0 == number } ?? true },
        ])
    }

    private mutating func aboutTimes() -> Question {
        let (span, nanoseconds) = span()
        let (other, more) = self.span()
        let now = Self.now
        let used: (Model.Item) -> Int64? = \.lastUsed?.nanoseconds
        let modified: (Model.Item) -> Int64? = \.lastModified?.nanoseconds
        func asked(_ condition: Built, _ holds: @escaping (Int64, Int64) -> Bool) -> Question {
            Question(condition: condition) { item in
                guard let used = used(item), let modified = modified(item) else { return false }
                return holds(used, modified)
            }
        }
        return one(of: [
            Question(condition: .lastUsed < .now - span) { used($0).map { $0 < now - nanoseconds } ?? false },
            Question(condition: .lastModified >= .now + span - other) {
                modified($0).map { $0 >= now + nanoseconds - more } ?? false
            },
            Question(condition: .now - .lastUsed > span) { used($0).map { now - $0 > nanoseconds } ?? false },
            asked(.lastUsed - .lastModified <= Operand(span) - other) { $0 - $1 <= nanoseconds - more },
            asked(.lastModified - (.now - .lastUsed) < .now + span) { $1 - (now - $0) < now + nanoseconds },
            asked(.lastUsed > .lastModified, >),
            asked(.lastUsed <= .lastModified + (Operand(span) + other)) {
                $0 <= $1 + nanoseconds + more
            },
        ])
    }

    private mutating func property() -> (Operand<String>, (Model.Item) -> String?) {
        one(of: [
            (.path, \.path.text), (.name, \.path.name), (.mimeType, \.mimeType), (.etag, \.etag?.opaque),
            (.fileID, \.fileID?.text), (.localID, \.localID.text), (.downloadTrigger, \.downloadTrigger?.text),
        ])
    }

    private mutating func aboutText() -> Question {
        let (property, read) = property()
        let (other, readOther) = self.property()
        let text = maybe(text())
        func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }
        func ordered(_ condition: Built, _ holds: @escaping ([UInt8], [UInt8]) -> Bool) -> Question {
            Question(condition: condition) { item in
                guard let one = bytes(read(item)), let two = bytes(text) else { return false }
                return holds(one, two)
            }
        }
        guard let text else {
            return one(of: [
                Question(condition: property == nil) { read($0) == nil },
                Question(condition: property != nil) { read($0) != nil },
                Question(condition: property == other) { bytes(read($0)) == bytes(readOther($0)) },
            ])
        }
        return one(of: [
            Question(condition: property == text) { bytes(read($0)) == bytes(text) },
            Question(condition: property != text) { bytes(read($0)) != bytes(text) },
            Question(condition: property != other) { bytes(read($0)) != bytes(readOther($0)) },
            Question(condition: property.isIn([nil, text])) { read($0) == nil || bytes(read($0)) == bytes(text) },
            ordered(property < text) { $0.lexicographicallyPrecedes($1) },
            ordered(property <= text) { !$1.lexicographicallyPrecedes($0) },
            ordered(property > text) { $1.lexicographicallyPrecedes($0) },
            ordered(property >= text) { !$0.lexicographicallyPrecedes($1) },
        ])
    }

    private mutating func partOfText() -> Question {
        let (property, read) = property()
        let (other, readOther) = self.property()
        let part = text()
        func asked(
            _ condition: Built, of text: @escaping (Model.Item) -> String?,
            has part: @escaping (Model.Item) -> String?, _ holds: @escaping ([UInt8], [UInt8]) -> Bool
        ) -> Question {
            Question(condition: condition) { item in
                guard let text = text(item), let part = part(item) else { return false }
                return holds(Array(text.utf8), Array(part.utf8))
            }
        }
        let begins: ([UInt8], [UInt8]) -> Bool = { $0.starts(with: $1) }
        let ends: ([UInt8], [UInt8]) -> Bool = { $0.reversed().starts(with: $1.reversed()) }
        let has: ([UInt8], [UInt8]) -> Bool = { text, part in
            text.count >= part.count && (0...text.count - part.count).contains { text[$0...].starts(with: part) }
        }
        return one(of: [
            asked(property.startsWith(part), of: read, has: { _ in part }, begins),
            asked(property.endsWith(part), of: read, has: { _ in part }, ends),
            asked(property.contains(part), of: read, has: { _ in part }, has),
            asked(property.startsWith(other), of: read, has: readOther, begins),
            asked(property.endsWith(other), of: read, has: readOther, ends),
            asked(property.contains(other), of: read, has: readOther, has),
            asked(Operand(part).contains(property), of: { _ in part }, has: read, has),
        ])
    }
}
