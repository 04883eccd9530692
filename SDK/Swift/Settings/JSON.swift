/// A JSON value, such as the plugin's settings.
///
/// ```swift
/// let settings = try JSON(parsing: #"{"years": 5, "keep": ["*.pdf"]}"#)
/// let years = settings["years"]?.integer ?? 1
/// let patterns = settings["keep"]?.array?.compactMap(\.string) ?? []
/// ```
public enum JSON: Hashable, Sendable {
    /// The value `null`.
    case null
    /// The value `true` or `false`.
    case boolean(Bool)
    /// A number without a fraction or an exponent that 64 bits hold.
    case integer(Int64)
    /// A number with a fraction or an exponent, or one that is too large for ``integer(_:)``.
    case number(Double)
    /// A text without its escapes.
    case string(String)
    /// A list of values.
    case array([JSON])
    /// An object's members in the order of the text, each with a name of its own.
    case object([Member])

    /// A member of an object.
    public struct Member: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSON

        /// Creates a member.
        public init(name: String, value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// The value of an object's member with this name. Nil if there is none, or the value is not an object.
    public subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The boolean. Nil if the value is not a boolean.
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// The integer. Nil if the value is not an integer.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The text. Nil if the value is not a string.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The list. Nil if the value is not an array.
    public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }

    /// The number, also of an integer. Nil if the value is not a number.
    public var number: Double? {
        switch self {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// Parses a text (RFC 8259) of at most 64 levels.
    /// - Throws: ``Status/invalidArgument`` if the text is not JSON, has more levels, an object with two members of one
    ///   name, or a number that is too large; the message says what is wrong and at which byte.
    public init(parsing text: Span<UInt8>) throws(PluginError) {
        var reader = JSONReader(text)
        self = try reader.document()
    }

    /// Parses a text (RFC 8259) of at most 64 levels.
    /// - Throws: As the other `init(parsing:)`.
    public init(parsing text: String) throws(PluginError) {
        try self.init(parsing: text.utf8.span)
    }
}
