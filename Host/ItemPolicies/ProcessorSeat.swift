import Model
import PluginHost
import Storage
import Synchronization

/// A processor's place in the order, and what is remembered of it between runs.
final class ProcessorSeat: Sendable {
    private struct State {
        /// Which policies it was given last: a count of the changes so far, 0 for none.
        var policiesVersion = 0
        var policies: [ItemPolicy] = []
        /// What its policies cover, and which version of them that is.
        var coverage: (version: Int, condition: ConditionMatcher?)?
        /// What it says itself that it covers.
        var ownCoverage: (version: Int, condition: ConditionMatcher?)?
        /// Whether it left items for lack of room.
        var isPending = false
        /// Conditions by their text: they change seldom, and one over many policies is long.
        var parsed: [Condition.Text: ConditionMatcher] = [:]
    }

    let instance: PluginInstance
    let plugin: PluginID
    private let state = Mutex(State())

    init(_ instance: PluginInstance) {
        self.instance = instance
        plugin = instance.plugin
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

    func covers(_ condition: ConditionMatcher?, version: Int) {
        state.withLock { $0.ownCoverage = (version, condition) }
    }

    /// Any of the conditions of the stored policies of its kind; without one, what it says itself that it covers.
    func coverage(version: Int, in database: Database) throws -> ConditionMatcher? {
        if let known = state.withLock(\.coverage), known.version == version { return known.condition ?? own(version) }
        guard let kind = instance.kind else { return nil }
        let policies = try database.readBlocking { try $0.policies(kind: kind) }
        let condition = try policyCondition(of: policies).map(ConditionMatcher.init)
        state.withLock { $0.coverage = (version, condition) }
        return condition ?? own(version)
    }

    private func own(_ version: Int) -> ConditionMatcher? {
        state.withLock { $0.ownCoverage?.version == version ? $0.ownCoverage?.condition : nil }
    }

    /// The condition in a text that a processor gave.
    func parse(_ text: String) throws(ConditionError) -> ConditionMatcher {
        let key = Condition.Text(text)
        if let known = state.withLock({ $0.parsed[key] }) { return known }
        let condition = ConditionMatcher(try Condition(parsing: text))
        state.withLock { state in
            if state.parsed.count >= 8 { state.parsed.removeAll() }
            state.parsed[key] = condition
        }
        return condition
    }
}

/// Any of the policies' conditions; nil without policies.
func policyCondition(of policies: [ItemPolicy]) throws(Failure) -> Condition? {
    guard !policies.isEmpty else { return nil }
    var terms: [Condition] = []
    for policy in policies { terms.append(try policy.parsedCondition()) }
    return .anyOf(terms)
}
