/// What stands on a side of a comparison: a property of items, a constant, or a time or duration that is computed.
///
/// Where it is expected, a property is written with a leading dot: `.size > 5`, `.lastModified > .lastUsed`. A comparison with
/// nil asks whether an item has a value: `.lastUsed != nil`.
public struct Operand<Value: ConditionValue>: Sendable {
    let text: String
    private let isComputed: Bool

    private init(_ text: String, isComputed: Bool) {
        self.text = text
        self.isComputed = isComputed
    }

    /// A constant.
    public init(_ value: Value) { self.init(value.literal, isComputed: false) }

    init(property: String) { self.init(property, isComputed: false) }

    /// At most 8 of these make up a value.
    init<Left, Right>(_ left: Operand<Left>, _ sign: String, _ right: Operand<Right>) {
        self.init("\(left.text) \(sign) \(right.isComputed ? "(\(right.text))" : right.text)", isComputed: true)
    }

    private func compared(_ sign: String, _ other: String) -> Condition {
        Condition("\(text) \(sign) \(other)", .relation)
    }
}

extension Operand {
    public static func == (left: Self, right: Value?) -> Condition { left.compared("==", right?.literal ?? "null") }
    public static func != (left: Self, right: Value?) -> Condition { left.compared("!=", right?.literal ?? "null") }
    public static func == (left: Self, right: Self) -> Condition { left.compared("==", right.text) }
    public static func != (left: Self, right: Self) -> Condition { left.compared("!=", right.text) }

    /// Equals one of the values, as `==` compares.
    public func isIn(_ values: [Value?]) -> Condition {
        compared("in", "[\(values.map { $0?.literal ?? "null" }.joined(separator: ", "))]")
    }
}

extension Operand where Value: OrderedConditionValue {
    public static func < (left: Self, right: Value) -> Condition { left.compared("<", right.literal) }
    public static func <= (left: Self, right: Value) -> Condition { left.compared("<=", right.literal) }
    public static func > (left: Self, right: Value) -> Condition { left.compared(">", right.literal) }
    public static func >= (left: Self, right: Value) -> Condition { left.compared(">=", right.literal) }
    public static func < (left: Self, right: Self) -> Condition { left.compared("<", right.text) }
    public static func <= (left: Self, right: Self) -> Condition { left.compared("<=", right.text) }
    public static func > (left: Self, right: Self) -> Condition { left.compared(">", right.text) }
    public static func >= (left: Self, right: Self) -> Condition { left.compared(">=", right.text) }
}

extension Operand where Value == String {
    /// Tests whether the text begins with the part, byte by byte.
    public func startsWith(_ part: String) -> Condition { tested("startsWith", part.literal) }
    /// Tests whether the text ends with the part, byte by byte.
    public func endsWith(_ part: String) -> Condition { tested("endsWith", part.literal) }
    /// Tests whether the part stands anywhere in the text, byte by byte.
    public func contains(_ part: String) -> Condition { tested("contains", part.literal) }
    public func startsWith(_ part: Self) -> Condition { tested("startsWith", part.text) }
    public func endsWith(_ part: Self) -> Condition { tested("endsWith", part.text) }
    public func contains(_ part: Self) -> Condition { tested("contains", part.text) }

    private func tested(_ test: String, _ part: String) -> Condition { Condition("\(text).\(test)(\(part))", .unary) }
}

extension Operand where Value == Moment {
    /// The start of the run.
    public static var now: Self { Self(property: "now") }

    public static func + (time: Self, duration: Duration) -> Self { Self(time, "+", Operand<Duration>(duration)) }
    public static func - (time: Self, duration: Duration) -> Self { Self(time, "-", Operand<Duration>(duration)) }
    public static func + (time: Self, duration: Operand<Duration>) -> Self { Self(time, "+", duration) }
    public static func - (time: Self, duration: Operand<Duration>) -> Self { Self(time, "-", duration) }
    public static func - (later: Self, earlier: Self) -> Operand<Duration> { Operand<Duration>(later, "-", earlier) }
}

extension Operand where Value == Duration {
    public static func + (a: Self, b: Duration) -> Self { Self(a, "+", Self(b)) }
    public static func - (a: Self, b: Duration) -> Self { Self(a, "-", Self(b)) }
    public static func + (a: Self, b: Self) -> Self { Self(a, "+", b) }
    public static func - (a: Self, b: Self) -> Self { Self(a, "-", b) }
}
