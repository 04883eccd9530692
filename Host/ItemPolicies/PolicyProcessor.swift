import Database
import Glibc
import Model
import PluginHost
import Synchronization

/// A processor's place in the order, and what is remembered of it between runs.
final class PolicyProcessor: Sendable {
    private struct State {
        /// Which policies it was given last: a count of the changes so far, 0 for none.
        var policiesVersion = 0
        var policies: [ItemPolicy] = []
        /// What its policies cover, and which version of them that is.
        var coverage: (version: Int, condition: ConditionMatcher?)?
        /// What it said last that it covers.
        var own: OwnCoverage?
        /// Whether it left items for lack of room.
        var isPending = false
        /// Whether runs went by without it, since it hung.
        var hasMissed = false
        /// Conditions and their texts: they change seldom, and one over many policies is long, so that it is compared, not hashed.
        var parsed: [(text: String, condition: ConditionMatcher)] = []
    }

    /// What a processor said that it covers.
    private struct OwnCoverage {
        var condition: ConditionMatcher?
        /// The policies that it had been given by then, and which version of them that is.
        var policies: [ItemPolicy]
        var version: Int
        /// What these policies cover, once it was asked for.
        var stored: ConditionMatcher??
    }

    let instance: PluginInstance
    let plugin: PluginID
    private let state = Mutex(State())

    init(_ instance: PluginInstance) {
        self.instance = instance
        plugin = instance.plugin
    }

    /// A run went by without it.
    func miss() { state.withLock { $0.hasMissed = true } }

    /// - Returns: whether runs went by without it, since this was asked last.
    func takeMissed() -> Bool {
        state.withLock { state in
            defer { state.hasMissed = false }
            return state.hasMissed
        }
    }

    /// Whether it left items for lack of room.
    var isPending: Bool {
        get { state.withLock { $0.isPending } }
        set { state.withLock { $0.isPending = newValue } }
    }

    /// The policies that it was given last, if they are of this version.
    func policies(version: Int) -> [ItemPolicy]? {
        state.withLock { $0.policiesVersion == version ? $0.policies : nil }
    }

    func gave(_ policies: [ItemPolicy], version: Int) {
        state.withLock { state in
            state.policies = policies
            state.policiesVersion = version
        }
    }

    /// The processor said what it covers.
    func covers(_ condition: ConditionMatcher?) {
        state.withLock { state in
            state.own = OwnCoverage(
                condition: condition, policies: state.policies, version: state.policiesVersion, stored: nil)
        }
    }

    /// Whether an item meets any of the conditions of the stored policies of its kind, or what the processor covers by itself.
    /// - Parameter version: of the policies now.
    /// - Returns: nil: the stored ones do not cover it, and the processor was not asked yet.
    func covers(_ item: Item, version: Int, now: Timestamp, in database: Database) throws -> Bool? {
        if try stored(version: version, in: database)?.matches(item, now: now) == true { return true }
        guard let own = state.withLock(\.own) else { return nil }
        guard own.condition?.matches(item, now: now) == true else { return false }
        if own.version == version { return true }
        // The policies changed since it was asked: what one of the former ones covered is not what it covers by itself.
        return try former(own)?.matches(item, now: now) != true
    }

    private func stored(version: Int, in database: Database) throws -> ConditionMatcher? {
        if let known = state.withLock(\.coverage), known.version == version { return known.condition }
        guard let kind = instance.kind else { return nil }
        let policies = try database.readBlocking { try $0.policies.all(kind: kind) }
        let condition = try policyCondition(of: policies).map(ConditionMatcher.init)
        state.withLock { $0.coverage = (version, condition) }
        return condition
    }

    private func former(_ own: OwnCoverage) throws -> ConditionMatcher? {
        if let known = own.stored { return known }
        let condition = try policyCondition(of: own.policies).map(ConditionMatcher.init)
        state.withLock { if $0.own?.version == own.version { $0.own?.stored = .some(condition) } }
        return condition
    }

    /// The condition in a text that a processor gave.
    func parse(_ text: String) throws(ConditionError) -> ConditionMatcher {
        let known = state.withLock { state in state.parsed.first { $0.text.equals(text) }?.condition }
        if let known { return known }
        let condition = ConditionMatcher(try Condition(parsing: text))
        state.withLock { state in
            if state.parsed.count >= 8 { state.parsed.removeAll() }
            state.parsed.append((text, condition))
        }
        return condition
    }
}

extension String {
    /// Whether both have the same bytes, for long texts.
    fileprivate func equals(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let answer = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let one = bytes.baseAddress, let two = others.baseAddress else { return true }
                return memcmp(one, two, bytes.count) == 0
            }
        }
        return (answer ?? nil) ?? hasSameBytes(as: other)
    }
}

/// Any of the policies' conditions; nil without policies.
func policyCondition(of policies: [ItemPolicy]) throws(Failure) -> Condition? {
    guard !policies.isEmpty else { return nil }
    var terms: [Condition] = []
    for policy in policies { terms.append(try policy.parsedCondition()) }
    return .anyOf(terms)
}
