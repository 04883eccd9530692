/// The error of a text that is not a condition, with its position.
public struct ConditionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The class of a mistake, so that callers can tell mistakes apart.
    public enum Kind: Sendable {
        case syntax, unknownProperty, unknownFunction, unknownValue, unlikeTypes, tooLong, tooDeep
        /// A property that policies or claims decide, in the condition of a policy.
        case notInPolicy
    }

    /// The class of the mistake.
    public let kind: Kind
    /// The description of the mistake: one sentence without a full stop.
    public let message: String
    /// The text to write instead, if it is known.
    public let hint: String?
    /// The position in characters as a reader counts them, from 1: a letter with its accents is one character, and so
    /// are an emoji, a tab and a line break. Columns are counted on from line to line.
    public let column: Int
    /// The position in bytes of UTF-8 from the beginning of the text.
    public let byteOffset: Int

    init(_ fault: ConditionFault, in text: String) {
        kind = fault.kind
        message = fault.message
        hint = fault.hint
        byteOffset = fault.offset
        column = String(decoding: text.utf8.prefix(fault.offset), as: UTF8.self).count + 1
    }

    public var description: String { "column \(column): \(message)" + (hint.map { "; \($0)" } ?? "") }

    /// Returns the error as a failure for the person who wrote the condition.
    /// - Parameter origin: The place of the condition, such as `--where`.
    public func failure(in origin: String) -> Failure {
        Failure(.badData, "\(origin): the condition has an error at column \(column): \(message)", hint: hint)
    }
}

/// An error whose position is known in bytes only.
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
