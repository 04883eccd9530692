import Database
import ItemPolicies
import Logging
import Model
import Vault

/// What a finished scan makes of a policy that says when it is of no use any more (P30, P31).
enum AutoRemoval {
    /// Something that is not removed meets the policy's condition for staying, or it has none.
    case stays
    /// What the policy was for is gone, and something else is at its path by now: the policy is for that.
    case aimedAnew(ItemPolicy)
    case goes

    /// One search by an index, if the condition names an item as those of pins do.
    init(of policy: ItemPolicy, in reads: some DatabaseReads, now: Timestamp) throws {
        guard let staying = try policy.parsedRemoveWhenNone() else {
            self = .stays
            return
        }
        if try reads.items.contains(staying, now: now) {
            self = .stays
        } else if let path = policy.path, let item = try reads.items.item(at: path),
            let aimed = try policy.aimed(at: item), try aimed.parsedRemoveWhenNone()?.matches(item, now: now) == true
        {
            self = .aimedAnew(aimed)
        } else {
            self = .goes
        }
    }
}

extension AccountHost {
    /// Removes policies whose condition for staying no item meets any more, or aims them anew. To be called when a scan has just
    /// finished: at no other time is it certain that what is flagged as removed has not moved.
    ///
    /// Policies of kinds that no plugin processes here are left alone. All that changes is one transaction, and so gives one
    /// `policiesChanged`.
    /// - Parameter trigger: the one that the scan gives. One that found nothing new is looked at only if policies changed.
    func removeObsoletePolicies(after trigger: Trigger) async throws {
        let version = policies.policiesVersion
        let areNew = state.checkedPolicies != version
        guard trigger == .itemListUpdateCompleted || areNew else { return }
        let (ids, now, time) = (try await obsoletePolicies(), clock.agesTo(), clock.now())
        // Read before the look: what changed meanwhile is looked at again.
        state.noteCheckedPolicies(version)
        if areNew { try await nameUnmetPolicies() }
        guard !ids.isEmpty else { return }
        let done = try await database.write { tx in
            var done: [(policy: ItemPolicy, removal: AutoRemoval)] = []
            for policy in try ids.compactMap({ try tx.policies.policy($0) }) {
                let removal = try AutoRemoval(of: policy, in: tx, now: now)
                switch removal {
                case .stays: continue
                case .aimedAnew(let aimed): try tx.policies.update(aimed, by: .host(at: time))
                case .goes: try tx.policies.remove(policy.id, by: .host(at: time))
                }
                done.append((policy, removal))
            }
            return done
        }
        for (policy, removal) in done {
            let name = policy.path?.text ?? policy.condition
            let word: Logger.Message =
                if case .goes = removal {
                    "The policy for \(name) was removed: nothing that it was for is on the server any more"
                } else {
                    "The policy for \(name) stays: what it was for is gone from the server, and something new is there"
                }
            logger.notice(word, metadata: ["policy": "\(policy.id)", "kind": "\(policy.kind)"])
        }
    }
}

extension AccountHost {
    /// The policies of kinds that are processed here whose condition for staying no item meets.
    func obsoletePolicies() async throws -> [PolicyID] {
        let (kinds, now) = (policies.kinds, clock.agesTo())
        return try await database.read { reads in
            try reads.policies.all().filter { policy in
                guard kinds.contains(policy.kind) else { return false }
                if case .stays = try AutoRemoval(of: policy, in: reads, now: now) { return false }
                return true
            }.map(\.id)
        }
    }

    /// Says which policies are for a path at which the server has nothing: a name may have been mistyped.
    private func nameUnmetPolicies() async throws {
        for policy in try await database.read({ try $0.policies.unmet() }) {
            logger.warning(
                "There is nothing at \(policy.path?.text ?? ""), which a policy is for: what comes there is covered, or the policy can be removed",
                metadata: ["policy": "\(policy.id)", "kind": "\(policy.kind)"])
        }
    }
}

extension ItemPolicy {
    fileprivate func parsedRemoveWhenNone() throws(Failure) -> Condition? {
        guard let removeWhenNone else { return nil }
        do throws(ConditionError) { return try Condition(parsing: removeWhenNone) } catch {
            throw error.failure(in: "the policy \(id)")
        }
    }

    /// The policy for what is at its path now, in place of what was there; nil if it does not say by its id what it was for. A
    /// file's is no folder's: of what is in it nobody spoke.
    fileprivate func aimed(at item: Item) throws -> ItemPolicy? {
        guard let old = localID, old != item.localID else { return nil }
        var aimed = self
        aimed.localID = item.localID
        if let condition = try parsedCondition().replacing(old, with: item.localID) {
            guard item.kind == .file else { return nil }
            aimed.condition = condition.text
        }
        guard let staying = try parsedRemoveWhenNone()?.replacing(old, with: item.localID) else { return nil }
        aimed.removeWhenNone = staying.text
        return aimed
    }
}
