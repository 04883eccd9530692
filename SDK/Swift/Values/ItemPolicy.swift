/// A policy of one kind for the items that a condition names.
///
/// ```swift
/// let photos: Condition = .path == "/Photos" || .path.startsWith("/Photos/")
/// try host.policies?.add(ItemPolicy(condition: photos.text, path: "/Photos"))
/// ```
public struct ItemPolicy: Sendable {
    /// The id, a UUID. Empty until the host has stored the policy.
    public private(set) var id = ""
    /// The kind, which belongs to one processor. Empty until the host has stored the policy.
    public private(set) var kind = ""
    /// The revision, which rises with each update.
    public private(set) var revision: Int64 = 0
    /// A stable name. A name that begins with `_sys.` is listed only on request.
    public var identifier: String?
    /// A description for people.
    public var description: String?
    /// The condition of the items that the policy is for, in the condition language.
    public var condition: String
    /// A path for the processor's own use: the place of the policy's target.
    public var path: String?
    /// An id for the processor's own use: that of the policy's target.
    public var localID: String?
    /// A condition: the host removes the policy when a finished scan leaves no item that meets it.
    public var removeWhenNone: String?
    /// Bytes for the processor's own use, at most 1 MiB.
    public var data: [UInt8]?

    /// Creates a policy, which ``Host/Policies/add(_:quietly:)`` adds.
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
    /// Copies a policy of the host's.
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

    /// Copies the host's list. Its policies may be longer or shorter than those of these headers.
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

    /// Lends the policy to a call into the host.
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
