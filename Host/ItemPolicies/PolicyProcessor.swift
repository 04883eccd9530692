import Database
import Glibc
import Model
import PluginHost
import Synchronization

/// A policy processor of an account, and the state that is remembered between its runs.
final class PolicyProcessor: Sendable {
    private struct State {
        /// The version of the policies that the processor was given last: a count of the changes so far, 0 for none.
        var policiesVersion = 0
        var policies: [ItemPolicy] = []
        /// The condition of the processor's stored policies, and the version of the policies.
        var coverage: (version: Int, condition: ConditionMatcher?)?
        /// The coverage that the processor named last.
        var own: OwnCoverage?
        /// Whether the processor left items for lack of room.
        var isPending = false
        /// Whether the processor missed runs because it hung.
        var hasMissed = false
        /// Parsed conditions and their texts. Conditions change seldom, and a condition over many policies is long, so
        /// texts are compared and not hashed.
        var parsed: [(text: String, condition: ParsedCondition)] = []
    }

    /// The coverage that a processor named.
    private struct OwnCoverage {
        var condition: ConditionMatcher?
        /// The policies that the processor had been given by then, and their version.
        var policies: [ItemPolicy]
        var version: Int
        /// The condition of these policies, once it was needed.
        var stored: ConditionMatcher??
    }

    let instance: PluginInstance
    let plugin: PluginID
    private let state = Mutex(State())

    init(_ instance: PluginInstance) {
        self.instance = instance
        plugin = instance.plugin
    }

    /// The failure for the call under way that was found to hang; nil if there is none.
    var hangs: Failure? {
        instance.hanging.map { call in
            Failure(.failed, "the plugin \(plugin.shortName) hangs: \(call.sentence)", hint: .explainPlugin(plugin))
        }
    }

    /// Notes that the processor missed a run.
    func miss() { state.withLock { $0.hasMissed = true } }

    /// Tells whether the processor missed runs since the last call.
    func takeMissed() -> Bool {
        state.withLock { state in
            defer { state.hasMissed = false }
            return state.hasMissed
        }
    }

    /// Whether the processor left items for lack of room.
    var isPending: Bool {
        get { state.withLock { $0.isPending } }
        set { state.withLock { $0.isPending = newValue } }
    }

    /// Returns the policies that the processor was given last; nil if they are not of this version.
    func policies(version: Int) -> [ItemPolicy]? {
        state.withLock { $0.policiesVersion == version ? $0.policies : nil }
    }

    func gave(_ policies: [ItemPolicy], version: Int) {
        state.withLock { state in
            state.policies = policies
            state.policiesVersion = version
        }
    }

    /// Notes the coverage that the processor named.
    /// - Returns: Whether it may be another one than before.
    func covers(_ condition: ConditionMatcher?) -> Bool {
        state.withLock { state in
            let isSame =
                state.own.map { $0.version == state.policiesVersion && $0.condition?.condition == condition?.condition }
                ?? false
            state.own = OwnCoverage(
                condition: condition, policies: state.policies, version: state.policiesVersion, stored: nil)
            return !isSame
        }
    }

    /// Tells whether an item meets the condition of a stored policy of the processor's kind, or is covered by the
    /// processor itself.
    /// - Parameters:
    ///   - item: The item.
    ///   - version: The version of the policies now.
    ///   - now: The time now.
    ///   - database: The account's database.
    /// - Returns: Whether the item is covered; nil if the stored policies do not cover it and the processor has not
    ///   named its own coverage yet.
    func covers(_ item: Item, version: Int, now: Timestamp, in database: Database) throws -> Bool? {
        if try stored(version: version, in: database)?.matches(item, now: now) == true { return true }
        guard let own = state.withLock(\.own) else { return nil }
        guard own.condition?.matches(item, now: now) == true else { return false }
        if own.version == version { return true }
        // The policies changed since the processor named its coverage: an item that one of the former policies covered
        // is not covered by the processor itself.
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

    /// Returns the parsed condition of a text that a processor gave.
    func parse(_ text: String) throws(ConditionError) -> ParsedCondition {
        let known = state.withLock { state in state.parsed.first { $0.text.equals(text) }?.condition }
        if let known { return known }
        let condition = ParsedCondition(try ItemCondition(parsing: text))
        state.withLock { state in
            if state.parsed.count >= 8 { state.parsed.removeAll() }
            state.parsed.append((text, condition))
        }
        return condition
    }
}

/// A condition that a processor gave, parsed.
enum ParsedCondition: Sendable {
    case ready(ConditionMatcher)
    /// A condition that depends on policies or claims, which differ from run to run.
    case unresolved(ItemCondition)

    init(_ condition: ItemCondition) {
        self = condition.plain.map { .ready(ConditionMatcher($0)) } ?? .unresolved(condition)
    }

    /// Returns the prepared condition.
    /// - Parameter facts: Returns the policies and claims. Called only if the condition depends on them.
    func matcher(_ facts: () throws(Failure) -> ConditionFacts) throws(Failure) -> ConditionMatcher {
        switch self {
        case .ready(let matcher): matcher
        case .unresolved(let condition): ConditionMatcher(try condition.resolved(by: facts))
        }
    }
}

extension String {
    /// Tells whether both texts have the same bytes. This comparison is for long texts.
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

/// Returns the condition that any of the policies' conditions is met; nil without policies.
func policyCondition(of policies: [ItemPolicy]) throws(Failure) -> Condition? {
    guard !policies.isEmpty else { return nil }
    var terms: [Condition] = []
    for policy in policies { terms.append(try policy.parsedCondition()) }
    return .anyOf(terms)
}
