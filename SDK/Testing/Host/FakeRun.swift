import CLarder
import LarderFakeHost
import Model
import PluginHost

/// One run of a processor over the stage, in the order of ext/processor.h.
final class FakeRun: PluginRun {
    private let host: FakeHost
    private let trigger: Trigger
    /// The items that the run is about; nil for all items.
    private let changed: [FakeItem]?
    let policies: [ItemPolicy]
    let began: Timestamp
    private let maximum: Int?
    /// The actions of the run's calls that succeeded.
    private var actions = 0
    /// The requests for changes of policies.
    private var policyChanges: [Intent.Change] = []
    /// The facts that conditions about policies and claims depend on.
    private lazy var facts = makeFacts()

    init(_ host: FakeHost, _ trigger: Trigger, changed: [FakeItem]? = nil) {
        (self.host, self.trigger, self.changed) = (host, trigger, changed)
        (policies, began) = (host.policies.all, host.now)
        maximum = host.instance?.maximumRecords
    }

    /// Makes the calls of the run.
    func perform(_ calls: ProcessorCalls) {
        guard calls.triggers().contains(TriggerMask(trigger)) else { return }
        calls.begin(self)
        defer { calls.end() }
        host.number = trigger.rawValue
        if begin(calls) {
            if let text = calls.condition(.policy, trigger) {
                // It takes part in what policies decide, so that it cannot depend on that.
                do throws(ServiceError) { try check(condition: text) } catch { refuse("policy_condition", error) }
            }
            pass(.matching, calls)
            pass(.cleanup, calls)
        }
        calls.didPassTrigger(trigger)
        keepPolicies()
    }

    /// Makes the calls before the passes. After a failure the processor may not know what it has to keep.
    private func begin(_ calls: ProcessorCalls) -> Bool {
        var isGiven = true
        if host.policiesChanged {
            isGiven = calls.updatePolicies(policies, trigger).isOK
            // A processor that failed gets the policies again.
            host.policiesChanged = !isGiven
        }
        let source = trigger == .itemsChanged ? source(changed ?? [], calls.fields) : nil
        let isPrepared = calls.preflight(trigger, changed: source).isOK
        let hasEntered = calls.willEnterTrigger(trigger).isOK
        return isGiven && isPrepared && hasEntered
    }

    private func pass(_ pass: ProcessorCalls.Pass, _ calls: ProcessorCalls) {
        guard let condition = calls.condition(pass == .matching ? .match : .cleanup, trigger),
            let meets = evaluation(of: condition, from: pass == .matching ? "match_condition" : "cleanup_condition")
        else { return }
        // The host goes by path.
        let met = (changed ?? host.items.all).filter(meets).sortedStably { $0.precedes($1, by: LARDER_FIELD_PATH) }
        let source = source(host.isReversed ? met.reversed() : met, calls.fields)
        let each = calls.each(pass, trigger)
        var isBegun = false
        while hasRoom(besides: 0), let item = source.next() {
            if !isBegun { calls.begin(pass, trigger) }
            isBegun = true
            each.perform(item, of: source)
        }
        if isBegun { calls.end(pass, trigger) }
    }

    private func source(_ items: [FakeItem], _ fields: UInt64) -> FakeItemSource {
        FakeItemSource(items, fields: fields, host.lending)
    }

    /// Asks what the processor says of an item.
    /// - Returns: The text; nil if it says nothing or the call failed.
    func explanation(of item: FakeItem, _ calls: ProcessorCalls) -> String? {
        guard calls.explains else { return nil }
        calls.begin(self)
        defer { calls.end() }
        host.number = 0
        let source = source([item], calls.fields)
        return source.next().flatMap { calls.explain($0, of: source) }
    }

    // MARK: Items and conditions

    /// Returns a function that tells whether an item meets a condition of the processor; nil if the condition is not
    /// valid, which is a mistake.
    private func evaluation(of condition: String, from function: String) -> ((FakeItem) -> Bool)? {
        do throws(ServiceError) { return try evaluation(of: condition) } catch {
            refuse(function, error)
            return nil
        }
    }

    /// Notes that a condition of the processor is not valid. The call that gave it has failed.
    private func refuse(_ function: String, _ error: ServiceError) {
        host.journal.mistake(function, error.status, text: error.message)
        if host.firstFailure == LARDER_OK { host.firstFailure = error.status }
    }

    /// Returns a function that tells whether an item meets a condition.
    private func evaluation(of condition: String) throws(ServiceError) -> (FakeItem) -> Bool {
        if let evaluator = host.evaluator {
            return { item in
                let arena = Arena()
                let text = arena.text(condition)
                return item.withWholeView { evaluator(text, $0) }
            }
        }
        do throws(ConditionError) {
            let matcher = ConditionMatcher(try ItemCondition(parsing: condition).resolved { () in facts })
            return { [now = host.now] in matcher.matches($0.item, now: now) }
        } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, "the condition: \(error)")
        }
    }

    private func makeFacts() -> ConditionFacts {
        let items = host.items.all
        // What the test says of an item has precedence over the policies on the stage.
        let told = items.filter { $0.integer(LARDER_FIELD_AVAILABLE_OFFLINE) != nil }
        let others = Condition.not(.anyOf(told.map { .property(.localID, equals: $0.localID.text) }))
        var offline = policies.filter { $0.kind == PolicyKind("availableOffline") }.compactMap { policy in
            do throws(ConditionError) {
                let condition = try Condition(parsing: policy.condition)
                return (policy, told.isEmpty ? condition : .allOf([condition, others]))
            } catch { return nil }
        }
        for item in told {
            let level = UInt32(item.integer(LARDER_FIELD_AVAILABLE_OFFLINE) ?? 0)
            guard level != LARDER_AVAILABLE_OFFLINE_NONE else { continue }
            let isDirect = level == LARDER_AVAILABLE_OFFLINE_DIRECT
            let policy = ItemPolicy(
                kind: PolicyKind("availableOffline"), condition: "", localID: isDirect ? item.localID : nil)
            offline.append((policy, .property(.localID, equals: item.localID.text)))
        }
        let claims = items.filter { $0.integer(LARDER_FIELD_CLAIMS) ?? 0 != 0 }.map {
            Claim(item: $0.localID, kind: .read, validity: .explicit)
        }
        return ConditionFacts(
            policies: offline, claims: claims, world: ClaimWorld(now: host.now, isAlive: { _ in true }))
    }

    func items(_ query: PluginQuery) throws(ServiceError) -> any ItemSource {
        host.journal.add(LARDER_FAKE_QUERY, Journal.Entry(name: "open", text: query.condition))
        var found = host.items.all.filter(try evaluation(of: query.condition))
        if let sort = query.sort {
            found = found.sortedStably { one, other in
                query.isDescending ? other.precedes(one, by: sort) : one.precedes(other, by: sort)
            }
        }
        if let limit = query.limit { found = Array(found.prefix(Int(limit))) }
        return source(found, query.fields)
    }

    func check(condition: String) throws(ServiceError) {
        do throws(ConditionError) { _ = try Condition(parsing: condition) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, "the condition: \(error)")
        }
    }

    func usage() -> PluginUsage { host.usage }

    func hasItem(_ localID: LocalID) -> Bool { host.items[localID] != nil }

    func path(of item: LocalID) -> ItemPath? { host.items[item]?.path.map { ItemPath(unchecked: $0) } }

    func record(_ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields) -> Record? {
        host.record(key, in: collection, fields)
    }

    func records(
        in collection: RecordCollection, after key: RecordKey?, _ fields: RecordFields
    ) -> any RecordSource { host.records(in: collection, after: key, fields) }

    func value(for key: [UInt8]) -> [UInt8]? { host.values[key] }

    func valueSize(of key: [UInt8]?) -> Int64 { host.valueSize(of: key) }

    // MARK: Requests

    func hasRoom(besides actions: Int) -> Bool { maximum.map { self.actions + actions < $0 } ?? true }

    func mayUpload(besides uploads: Int) -> Bool { true }

    func accept(_ intents: [Intent], during call: StaticString) {
        host.journal.add(
            intents, path: { [host] in host.items[$0]?.path }, upload: { [host] in host.projects.upload($0) })
        for intent in intents {
            switch intent.change {
            case .putValue(let key, let value): host.values[key] = value
            case .deleteValue(let key): host.values[key] = nil
            case .addPolicy, .updatePolicy, .removePolicy: policyChanges.append(intent.change)
            case .download, .update, .removeLocalCopy, .purge, .server: actions += 1
            }
        }
    }

    private func keepPolicies() {
        for change in policyChanges {
            switch change {
            case .addPolicy(let policy, _): host.put(policy)
            case .updatePolicy(var policy, _):
                policy.revision += 1
                host.put(policy)
            case .removePolicy(let id, _): host.dropPolicy(id)
            default: break
            }
        }
    }
}

extension Array {
    /// Returns the elements in an order, those that are equal in it as they were.
    /// - Parameter precedes: Tells which of two elements comes first; nil if they are equal.
    func sortedStably(_ precedes: (Element, Element) -> Bool?) -> [Element] {
        enumerated().sorted { one, other in precedes(one.element, other.element) ?? (one.offset < other.offset) }
            .map(\.element)
    }
}
