extension Condition {
    /// A property of an item: a field of the item's JSON, or the time when the item was removed.
    public enum Property: String, Sendable, CaseIterable {
        case path, name, type, size, mimeType, etag, fileID, localID, lastModified, lastUsed, cloudStatus
        case downloadTrigger, removed, favorite, remoteVersion, removedAt
        case parentPath, owner, availableOffline, syncActivity, claimed

        /// The type of the property's values.
        public var valueType: ValueType {
            switch self {
            case .path, .name, .type, .mimeType, .etag, .fileID, .localID, .cloudStatus, .downloadTrigger,
                .remoteVersion, .parentPath, .owner, .availableOffline:
                .text
            case .size: .integer
            case .lastModified, .lastUsed, .removedAt: .time
            case .removed, .favorite, .claimed: .boolean
            case .syncActivity: .list
            }
        }

        /// Whether items can be sorted by the property.
        public var isSortable: Bool { !isDecided && valueType != .list }

        /// Whether policies or claims decide the property, and not the item itself. Such a property is known in an
        /// ``ItemCondition`` only.
        public var isDecided: Bool { self == .availableOffline || self == .claimed }

        /// The texts that the property can have, in the order of their raw values in the database, or nil if the
        /// property can have any text.
        public var knownTexts: [String]? {
            switch self {
            case .type: ["file", "folder"]
            case .cloudStatus: CloudStatus.allCases.map(\.name)
            case .remoteVersion: [RemoteVersion.current.name, RemoteVersion.newer.name]
            case .availableOffline: AvailableOfflineLevel.allCases.map(\.rawValue)
            default: nil
            }
        }
    }

    /// The type of a value in a condition.
    public enum ValueType: Sendable {
        case text, integer, boolean, time, duration
        /// A set of names, of which each is there or not.
        case list
    }

    /// A text in a condition. Texts are equal only if their bytes are the same.
    public struct Text: ByteText {
        public let text: String
        /// Creates a text in a condition.
        public init(_ text: String) { self.text = text }
    }

    /// A value in a condition.
    public indirect enum Operand: Hashable, Sendable {
        case null
        case text(Text)
        case integer(Int64)
        case boolean(Bool)
        case time(Timestamp)
        /// A duration of at most 292 years, so that it fits into nanoseconds.
        case duration(milliseconds: Int64)
        /// The moment when the run started.
        case now
        case property(Property)
        case sum(Operand, Operand)
        case difference(Operand, Operand)

        /// The type of the value. Nil for `null`, and for a sum or difference of values that cannot be added.
        public var valueType: ValueType? {
            switch self {
            case .null: nil
            case .text: .text
            case .integer: .integer
            case .boolean: .boolean
            case .time, .now: .time
            case .duration: .duration
            case .property(let property): property.valueType
            case .sum(let a, let b):
                switch (a.valueType, b.valueType) {
                case (.time, .duration), (.duration, .time): .time
                case (.duration, .duration): .duration
                default: nil
                }
            case .difference(let a, let b):
                switch (a.valueType, b.valueType) {
                case (.time, .duration): .time
                case (.time, .time), (.duration, .duration): .duration
                default: nil
                }
            }
        }

        /// The number of `+` and `-` in the operand.
        var operations: Int {
            switch self {
            case .sum(let a, let b), .difference(let a, let b): a.operations + b.operations + 1
            default: 0
            }
        }

        /// Whether the value differs from item to item.
        public var dependsOnItem: Bool {
            switch self {
            case .property: true
            case .sum(let a, let b), .difference(let a, let b): a.dependsOnItem || b.dependsOnItem
            default: false
            }
        }
    }
}
