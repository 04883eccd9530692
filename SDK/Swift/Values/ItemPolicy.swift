/// A rule of one kind for the items that a condition matches.
public struct ItemPolicy: Sendable {
    /// Empty until the host has stored it.
    public private(set) var id = ""
    public private(set) var kind = ""
    /// Rises with each update.
    public private(set) var revision: Int64 = 0
    /// A stable name; one that begins with `_sys.` is not listed unless asked for.
    public var identifier: String?
    /// For people.
    public var description: String?
    public var condition: String
    /// For the processor's own use: where the policy's target is.
    public var path: String?
    /// For the processor's own use: the target's id.
    public var localID: String?
    /// The policy goes when a finished scan leaves no item that meets this condition.
    public var removeWhenNone: String?
    /// For the processor's own use, at most 1 MiB.
    public var data: [UInt8]?

    public init(
        condition: String, identifier: String? = nil, description: String? = nil, path: String? = nil,
        localID: String? = nil, removeWhenNone: String? = nil, data: [UInt8]? = nil
    ) {
        self.condition = condition
        self.identifier = identifier
        self.description = description
        self.path = path
        self.localID = localID
        self.removeWhenNone = removeWhenNone
        self.data = data
    }
}

extension ItemPolicy {
    /// Copies what the host has.
    init(_ policy: larder_policy) {
        func text(_ text: larder_str) -> String? { text.ptr == nil ? nil : Text(unsafe: text).copied() }
        self.init(
            condition: text(policy.condition) ?? "", identifier: text(policy.identifier),
            description: text(policy.description), path: text(policy.path), localID: text(policy.local_id),
            removeWhenNone: text(policy.remove_when_none),
            data: policy.data.ptr.map { Array(UnsafeBufferPointer(start: $0, count: Int(policy.data.len))) })
        id = text(policy.id) ?? ""
        kind = text(policy.kind) ?? ""
        revision = policy.revision
    }

    /// Copies the host's list, whose policies may be longer or shorter than ours.
    static func all(in list: larder_policy_list) -> [ItemPolicy] {
        guard let first = list.policies else { return [] }
        return (0..<Int(list.count)).map { index in
            let bytes = first + index * Int(list.stride)
            var policy = larder_policy()
            let size = min(Int(bytes.load(as: UInt32.self)), MemoryLayout<larder_policy>.size)
            withUnsafeMutableBytes(of: &policy) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: size))
            }
            return ItemPolicy(policy)
        }
    }

    /// Lends the policy to a call of the host's.
    func lend<Result>(_ body: (UnsafePointer<larder_policy>) -> Result) -> Result {
        var loan = Loan()
        var policy = larder_policy(
            struct_size: UInt32(MemoryLayout<larder_policy>.size), reserved: 0, revision: revision, id: loan.text(id),
            kind: loan.text(kind), identifier: loan.text(identifier), description: loan.text(description),
            condition: loan.text(condition), path: loan.text(path), local_id: loan.text(localID),
            remove_when_none: loan.text(removeWhenNone), data: loan.bytes(data))
        return body(&policy)
    }
}
