/// Why a text is no condition, and where.
public struct ConditionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The class of a mistake, for whoever tells one from another.
    public enum Kind: Sendable {
        case syntax, unknownProperty, unknownFunction, unknownValue, unlikeTypes, tooLong, tooDeep
    }

    public let kind: Kind
    /// What is wrong: one sentence without a full stop.
    public let message: String
    /// What to write instead, if that can be told.
    public let hint: String?
    /// Where, in characters as a reader counts them, from 1: a letter with its accents is one, an emoji too, and a tab.
    /// A line break is one as well: columns run on from line to line.
    public let column: Int
    /// Where, in bytes of UTF-8 from the beginning of the text.
    public let byteOffset: Int

    init(_ fault: ConditionFault, in text: String) {
        kind = fault.kind
        message = fault.message
        hint = fault.hint
        byteOffset = fault.offset
        column = String(decoding: text.utf8.prefix(fault.offset), as: UTF8.self).count + 1
    }

    public var description: String { "column \(column): \(message)" + (hint.map { "; \($0)" } ?? "") }

    /// The same for a person who wrote the condition.
    /// - Parameter origin: what it was written for, such as `--where`.
    public func failure(in origin: String) -> Failure {
        Failure(.badData, "\(origin): the condition has an error at column \(column): \(message)", hint: hint)
    }
}

/// An error whose place is known in bytes only.
struct ConditionFault: Error {
    let kind: ConditionError.Kind
    let message: String
    var hint: String?
    let offset: Int

    init(_ kind: ConditionError.Kind, at offset: Int, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.offset = offset
    }
}
