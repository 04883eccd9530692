import Database
import ItemPolicies
import Logging
import Model
import Vault

/// The decision, after a finished scan, on a policy whose condition for staying may no longer be met (P30 and P31 in
/// `Tests/BEHAVIOURS.md`).
enum AutoRemoval {
    /// The policy stays: an item that is not removed meets the policy's condition for staying, or the policy has no
    /// such condition.
    case stays
    /// The policy is changed to cover the new item: the policy's item is gone, and another item is at its path now.
    case aimedAnew(ItemPolicy)
    /// The policy is removed.
    case goes

    /// Decides on a policy. This takes one search by an index if the condition names an item, as the conditions of pins
    /// do.
    init(of policy: ItemPolicy, in reads: some DatabaseReads, now: Timestamp) throws {
        guard let staying = try policy.parsedRemoveWhenNone() else {
            self = .stays
            return
        }
        if try reads.items.contains(staying, now: now) {
            self = .stays
        } else if let id = policy.localID, let item = try reads.items.item(localID: id),
            try reads.items.deletion(of: item.databaseID) != nil
        {
            // The server may refuse to delete the item, or a person may take the deletion back.
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
    /// Removes the policies whose condition for staying no item meets any more, or changes them to cover the new item
    /// at their path. Call this function only when a scan has just finished: at no other time is it certain that an
    /// item flagged as removed has not moved.
    ///
    /// Policies of kinds that no plugin processes here are left alone. All changes are one transaction and thus give
    /// one `policiesChanged`.
    /// - Parameter trigger: The trigger of the scan. After a scan that found nothing new, policies are checked only if
    ///   policies changed.
    func removeObsoletePolicies(after trigger: Trigger) async throws {
        let version = policies.policiesVersion
        let areNew = state.checkedPolicies != version
        guard trigger == .itemListUpdateCompleted || areNew else { return }
        let (ids, now, time) = (try await obsoletePolicies(), clock.agesTo(), clock.now())
        // The version was read before the check, so policies that changed meanwhile are checked again.
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
                    "The policy for \(name) was removed, because the server no longer has any item that it was for"
                } else {
                    "The policy for \(name) stays: its item is gone from the server, but a new item is at the same path"
                }
            logger.notice(word, metadata: ["policy": "\(policy.id)", "kind": "\(policy.kind)"])
        }
    }
}

extension AccountHost {
    /// Returns the policies whose kind is processed here and whose condition for staying no item meets.
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

    /// Logs the policies for a path at which the server has nothing: a name may have been mistyped.
    private func nameUnmetPolicies() async throws {
        for policy in try await database.read({ try $0.policies.unmet() }) {
            let text =
                "A policy is for \(policy.path?.text ?? ""), where the server has nothing: the policy covers items "
                + "that are created there later; if the path is wrong, remove the policy"
            logger.warning("\(text)", metadata: ["policy": "\(policy.id)", "kind": "\(policy.kind)"])
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

    /// Returns the policy changed to cover the item that is now at its path, in place of the earlier item; nil if the
    /// policy does not name the earlier item by its id. A file's policy does not become a folder's, since nobody made a
    /// decision about the folder's contents.
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
