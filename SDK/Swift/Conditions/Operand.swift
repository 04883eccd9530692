/// One side of a comparison: a property of items, a constant, or a computed time or duration.
///
/// Where an operand is expected, write a property with a leading dot. A comparison with nil asks whether an item has a
/// value.
///
/// ```swift
/// let changedSinceUse: Condition = .lastModified > .lastUsed
/// let used: Condition = .lastUsed != nil
/// ```
public struct Operand<Value: ConditionValue>: Sendable {
    let text: String
    private let isComputed: Bool

    private init(_ text: String, isComputed: Bool) {
        self.text = text
        self.isComputed = isComputed
    }

    /// Creates a constant.
    public init(_ value: Value) { self.init(value.literal, isComputed: false) }

    init(property: String) { self.init(property, isComputed: false) }

    /// Creates the sum or difference of two operands. The host reads a value of at most 8 operands.
    init<Left, Right>(_ left: Operand<Left>, _ sign: String, _ right: Operand<Right>) {
        self.init("\(left.text) \(sign) \(right.isComputed ? "(\(right.text))" : right.text)", isComputed: true)
    }

    private func compared(_ sign: String, _ other: String) -> Condition {
        Condition("\(text) \(sign) \(other)", .relation)
    }
}

extension Operand {
    /// Compares with a constant; nil asks whether the item has no value.
    public static func == (left: Self, right: Value?) -> Condition { left.compared("==", right?.literal ?? "null") }
    /// Compares with a constant; nil asks whether the item has a value.
    public static func != (left: Self, right: Value?) -> Condition { left.compared("!=", right?.literal ?? "null") }
    /// Compares two operands. Two operands without a value are equal.
    public static func == (left: Self, right: Self) -> Condition { left.compared("==", right.text) }
    /// Compares two operands. Two operands without a value are equal.
    public static func != (left: Self, right: Self) -> Condition { left.compared("!=", right.text) }

    /// Tests whether the operand equals one of the values, as `==` compares.
    public func isIn(_ values: [Value?]) -> Condition {
        compared("in", "[\(values.map { $0?.literal ?? "null" }.joined(separator: ", "))]")
    }
}

extension Operand where Value: OrderedConditionValue {
    /// Compares with a constant. Without a value the result is false.
    public static func < (left: Self, right: Value) -> Condition { left.compared("<", right.literal) }
    /// Compares with a constant. Without a value the result is false.
    public static func <= (left: Self, right: Value) -> Condition { left.compared("<=", right.literal) }
    /// Compares with a constant. Without a value the result is false.
    public static func > (left: Self, right: Value) -> Condition { left.compared(">", right.literal) }
    /// Compares with a constant. Without a value the result is false.
    public static func >= (left: Self, right: Value) -> Condition { left.compared(">=", right.literal) }
    /// Compares two operands. If one has no value, the result is false.
    public static func < (left: Self, right: Self) -> Condition { left.compared("<", right.text) }
    /// Compares two operands. If one has no value, the result is false.
    public static func <= (left: Self, right: Self) -> Condition { left.compared("<=", right.text) }
    /// Compares two operands. If one has no value, the result is false.
    public static func > (left: Self, right: Self) -> Condition { left.compared(">", right.text) }
    /// Compares two operands. If one has no value, the result is false.
    public static func >= (left: Self, right: Self) -> Condition { left.compared(">=", right.text) }
}

extension Operand where Value == String {
    /// Tests whether the text begins with the part, byte by byte.
    public func startsWith(_ part: String) -> Condition { tested("startsWith", part.literal) }
    /// Tests whether the text ends with the part, byte by byte.
    public func endsWith(_ part: String) -> Condition { tested("endsWith", part.literal) }
    /// Tests whether the text contains the part, byte by byte.
    public func contains(_ part: String) -> Condition { tested("contains", part.literal) }
    /// Tests whether the text begins with another property's text, byte by byte.
    public func startsWith(_ part: Self) -> Condition { tested("startsWith", part.text) }
    /// Tests whether the text ends with another property's text, byte by byte.
    public func endsWith(_ part: Self) -> Condition { tested("endsWith", part.text) }
    /// Tests whether the text contains another property's text, byte by byte.
    public func contains(_ part: Self) -> Condition { tested("contains", part.text) }

    private func tested(_ test: String, _ part: String) -> Condition { Condition("\(text).\(test)(\(part))", .unary) }
}

extension Operand where Value == Moment {
    /// The time at the start of the run.
    public static var now: Self { Self(property: "now") }

    /// Returns the time that is later by a duration.
    public static func + (time: Self, duration: Duration) -> Self { Self(time, "+", Operand<Duration>(duration)) }
    /// Returns the time that is earlier by a duration.
    public static func - (time: Self, duration: Duration) -> Self { Self(time, "-", Operand<Duration>(duration)) }
    /// Returns the time that is later by a duration.
    public static func + (time: Self, duration: Operand<Duration>) -> Self { Self(time, "+", duration) }
    /// Returns the time that is earlier by a duration.
    public static func - (time: Self, duration: Operand<Duration>) -> Self { Self(time, "-", duration) }
    /// Returns the duration between two times. It is negative if `later` is the earlier one.
    public static func - (later: Self, earlier: Self) -> Operand<Duration> { Operand<Duration>(later, "-", earlier) }
}

extension Operand where Value == Duration {
    /// Returns the sum of two durations.
    public static func + (a: Self, b: Duration) -> Self { Self(a, "+", Self(b)) }
    /// Returns the difference of two durations.
    public static func - (a: Self, b: Duration) -> Self { Self(a, "-", Self(b)) }
    /// Returns the sum of two durations.
    public static func + (a: Self, b: Self) -> Self { Self(a, "+", b) }
    /// Returns the difference of two durations.
    public static func - (a: Self, b: Self) -> Self { Self(a, "-", b) }
}
