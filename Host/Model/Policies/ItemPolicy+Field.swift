extension ItemPolicy {
    /// A part of a policy that can change. The id and the kind of a policy never change. The raw values are the names
    /// in output.
    public enum Field: String, Hashable, Sendable, CaseIterable {
        case condition = "where"
        case description
        case path
        case identifier
        case localID
        case removeWhenNone
        case data
    }

    /// Returns a field's value, in UTF-8 if it is text, or nil if the field has no value.
    public func bytes(of field: Field) -> [UInt8]? {
        switch field {
        case .condition: Array(condition.utf8)
        case .description: description.map { Array($0.utf8) }
        case .path: path.map { Array($0.text.utf8) }
        case .identifier: identifier.map { Array($0.utf8) }
        case .localID: localID.map { Array($0.text.utf8) }
        case .removeWhenNone: removeWhenNone.map { Array($0.utf8) }
        case .data: data
        }
    }

    /// Sets a field to its value in another policy.
    public mutating func take(_ field: Field, from other: ItemPolicy) {
        switch field {
        case .condition: condition = other.condition
        case .description: description = other.description
        case .path: path = other.path
        case .identifier: identifier = other.identifier
        case .localID: localID = other.localID
        case .removeWhenNone: removeWhenNone = other.removeWhenNone
        case .data: data = other.data
        }
    }

    /// Returns the fields in which two policies differ.
    public func fields(differingFrom other: ItemPolicy) -> [Field] {
        Field.allCases.filter { bytes(of: $0) != other.bytes(of: $0) }
    }
}
