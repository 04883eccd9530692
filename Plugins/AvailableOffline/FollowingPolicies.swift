import LarderSDK

/// Policies that go with their targets: a moved folder's policy is written anew for its new path, and a policy for a path
/// of which nothing was known learns what is there. A condition that somebody else wrote is left alone.
struct FollowingPolicies {
    private(set) var all: [ItemPolicy]
    /// Indexes into `all`, by the target's id, and of those that do not know it by its path. Bytes and not strings: two
    /// spellings of an accented letter are one string and two names.
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

    /// The items that the policies are for; nil if none of them has such a target.
    var targets: Condition? {
        let targets = all.compactMap { policy -> Condition? in
            if let localID = policy.localID { return .localID == localID }
            return policy.path.map { .path == $0 }
        }
        return targets.isEmpty ? nil : !.removed && .any(of: targets)
    }

    /// The policies that changed since this was asked last.
    mutating func takeChanges() -> [ItemPolicy] {
        defer { changed = [] }
        return changed.sorted().map { all[$0] }
    }

    /// Takes note of where an item is now.
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
