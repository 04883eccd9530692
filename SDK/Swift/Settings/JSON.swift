/// A JSON value, as settings are made of.
public enum JSON: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// With a fraction or an exponent, or too large for an integer.
    case number(Double)
    case string(String)
    case array([JSON])
    /// In the order of the text; of a name that is there twice, the last one counts.
    case object([Member])

    /// A member of an object.
    public struct Member: Hashable, Sendable {
        public var name: String
        public var value: JSON

        public init(name: String, value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// The value of an object's member; nil if there is none, or this is no object.
    public subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }

    /// An integer counts as a number too.
    public var number: Double? {
        switch self {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// Reads a text (RFC 8259), at most 64 levels deep.
    /// - Throws: ``Status/invalidArgument`` if the text is no JSON, nested deeper, or has a number that is too large;
    ///   the message says what is wrong and at which byte.
    public init(parsing text: Span<UInt8>) throws(PluginError) {
        var reader = JSONReader(text)
        self = try reader.document()
    }

    /// Reads a text (RFC 8259), at most 64 levels deep.
    /// - Throws: As the other `init(parsing:)`.
    public init(parsing text: String) throws(PluginError) {
        try self.init(parsing: text.utf8.span)
    }
}
