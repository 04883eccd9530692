import LarderSDK

/// Policies that follow their targets. When a folder moves, its policy gets the new path. When the target of a policy
/// for an unknown path appears, the policy gets the target's id. A condition that somebody else wrote stays unchanged.
struct FollowingPolicies {
    private(set) var all: [ItemPolicy]
    /// Indexes into `all` by the target's id, and by its path for policies without an id. The keys are bytes, not
    /// strings: two spellings of an accented letter are equal strings, but different names.
    private var byLocalID: [[UInt8]: [Int]] = [:]
    private var byPath: [[UInt8]: [Int]] = [:]
    private var changed: Set<Int> = []

    init(_ policies: [ItemPolicy]) {
        all = policies
        for (index, policy) in policies.enumerated() {
            if let localID = policy.localID {
                byLocalID[Array(localID.utf8), default: []].append(index)
            } else if let path = policy.path {
                byPath[Array(path.utf8), default: []].append(index)
            }
        }
    }

    /// The condition of the policies' targets. Nil if no policy has a target.
    var targets: Condition? {
        let targets = all.compactMap { policy -> Condition? in
            if let localID = policy.localID { return .localID == localID }
            return policy.path.map { .path == $0 }
        }
        return targets.isEmpty ? nil : !.removed && .any(of: targets)
    }

    /// Returns the policies that changed since the last call.
    mutating func takeChanges() -> [ItemPolicy] {
        defer { changed = [] }
        return changed.sorted().map { all[$0] }
    }

    /// Notes where an item is now.
    mutating func see(_ item: Item) {
        guard !byLocalID.isEmpty || !byPath.isEmpty, item.isRemoved != true,
            let localID = item.localID, let path = item.path
        else { return }
        for index in byLocalID[localID.bytes] ?? [] {
            follow(index, to: path.copied(), isFolder: item.type == .folder)
        }
        for index in byPath.removeValue(forKey: path.bytes) ?? [] {
            byLocalID[localID.bytes, default: []].append(index)
            learn(index, localID: localID.copied(), isFolder: item.type == .folder)
        }
    }

    private mutating func follow(_ index: Int, to path: String, isFolder: Bool) {
        var policy = all[index]
        guard let former = policy.path, !former.utf8.elementsEqual(path.utf8) else { return }
        if isFolder {
            guard policy.has(Rules.below(former)) else { return }
            policy.condition = Rules.below(path).text
        } else {
            guard let localID = policy.localID, policy.has(Rules.file(localID)) else { return }
        }
        policy.path = path
        replace(index, policy)
    }

    private mutating func learn(_ index: Int, localID: String, isFolder: Bool) {
        var policy = all[index]
        guard let path = policy.path, policy.has(Rules.below(path)) else { return }
        policy.localID = localID
        if !isFolder { policy.condition = Rules.file(localID).text }
        if policy.removeWhenNone == nil { policy.removeWhenNone = Rules.gone(localID).text }
        replace(index, policy)
    }

    private mutating func replace(_ index: Int, _ policy: ItemPolicy) {
        all[index] = policy
        changed.insert(index)
    }
}

extension ItemPolicy {
    fileprivate func has(_ condition: Condition) -> Bool { self.condition.utf8.elementsEqual(condition.text.utf8) }
}

extension Text {
    fileprivate var bytes: [UInt8] { utf8.withUnsafeBufferPointer { Array($0) } }
}
