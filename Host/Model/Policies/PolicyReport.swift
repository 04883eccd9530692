/// A policy, with the number and size of the items that it covers. They are encoded as one object.
public struct PolicyReport: Hashable, Codable, Sendable {
    private enum CodingKeys: CodingKey { case items, bytes }

    /// The policy.
    public var policy: ItemPolicy
    /// The number of files and folders that meet the policy's condition; nil if they were not counted.
    public var items: Int64?
    /// The total size of the files among them, in bytes; nil if they were not counted.
    public var bytes: Int64?

    /// Creates a report.
    public init(_ policy: ItemPolicy, items: Int64? = nil, bytes: Int64? = nil) {
        (self.policy, self.items, self.bytes) = (policy, items, bytes)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        policy = try ItemPolicy(from: decoder)
        items = try container.decodeIfPresent(Int64.self, forKey: .items)
        bytes = try container.decodeIfPresent(Int64.self, forKey: .bytes)
    }

    public func encode(to encoder: any Encoder) throws {
        try policy.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(items, forKey: .items)
        try container.encodeIfPresent(bytes, forKey: .bytes)
    }
}
