import CLarder
import Model

/// `larder.policies/1`
let policiesTable = larder_policies(
    struct_size: size(of: larder_policies.self), reserved: 0,
    list: { host, out in
        serve(host, "policies.list", during: .processor) { context throws(ServiceError) in
            let list = try FilledStruct(out)
            list.fill(with: context.lend(try context.activeRun().policies))
        }
    },
    add: { host, policy, flags in
        serve(host, "policies.add", during: .processorWriting) { context throws(ServiceError) in
            try check(flags: flags, known: LARDER_POLICY_QUIET)
            guard let kind = context.kind else { throw ServiceError(LARDER_UNSUPPORTED, "the plugin has no processor") }
            let here = try context.activeRun().policies.count + context.addedPolicies
            guard here + context.asked.addedPolicies < PluginSettings.mostPolicies else {
                throw ServiceError(
                    LARDER_LIMIT, "more than \(PluginSettings.mostPolicies) policies of the kind \(kind)")
            }
            let added = try context.read(policy, into: ItemPolicy(kind: kind, condition: ""))
            context.asked.append(
                Intent(
                    plugin: context.plugin, change: .addPolicy(added, runsTrigger: flags & LARDER_POLICY_QUIET == 0),
                    key: nil))
        }
    },
    update: { host, policy, flags in
        serve(host, "policies.update", during: .processorWriting) { context throws(ServiceError) in
            try check(flags: flags, known: LARDER_POLICY_QUIET)
            let stored = try context.policy(policy.pointee.id, revision: policy.pointee.revision)
            let updated = try context.read(policy, into: stored)
            context.asked.append(
                Intent(
                    plugin: context.plugin,
                    change: .updatePolicy(updated, runsTrigger: flags & LARDER_POLICY_QUIET == 0), key: nil))
        }
    },
    remove: { host, id, revision, flags in
        serve(host, "policies.remove", during: .processorWriting) { context throws(ServiceError) in
            try check(flags: flags, known: LARDER_POLICY_QUIET)
            let stored = try context.policy(id, revision: revision)
            context.asked.append(
                Intent(
                    plugin: context.plugin,
                    change: .removePolicy(stored.id, runsTrigger: flags & LARDER_POLICY_QUIET == 0), key: nil))
        }
    })

extension InstanceContext {
    /// Returns the stored policy with an id and a revision.
    fileprivate func policy(_ id: larder_str, revision: Int64) throws(ServiceError) -> ItemPolicy {
        let id = PolicyID(try id.required("the policy's id"))
        guard let stored = try activeRun().policies.first(where: { $0.id == id }) else {
            throw ServiceError(LARDER_NOT_FOUND, "no policy \(id)")
        }
        guard stored.revision == revision else {
            throw ServiceError(LARDER_CONFLICT, "policy \(id) has revision \(stored.revision)")
        }
        return stored
    }

    /// Reads a policy from the plugin's view. Keeps the id, kind and revision of `base`.
    fileprivate func read(
        _ view: UnsafePointer<larder_policy>, into base: ItemPolicy
    ) throws(ServiceError) -> ItemPolicy {
        let given: larder_policy
        do throws(Refusal) { given = try larder_policy.copy(view) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, error.reason)
        }
        let run = try activeRun()
        var policy = base
        policy.identifier = try given.identifier.optional("the identifier")
        policy.description = try given.description.optional("the description")
        policy.condition = try given.condition.required("the condition")
        try run.check(condition: policy.condition)
        policy.removeWhenNone = try given.remove_when_none.optional("remove_when_none")
        if let condition = policy.removeWhenNone { try run.check(condition: condition) }
        policy.localID = try given.local_id.optional("the item's id").map(LocalID.init)
        policy.path = nil
        if let text = try given.path.optional("the path") {
            do throws(ItemPath.Problem) { policy.path = try ItemPath(text) } catch {
                throw ServiceError(LARDER_INVALID_ARGUMENT, "the path is not valid: \(error)")
            }
        }
        guard given.data.len <= largestValue else { throw ServiceError(LARDER_LIMIT, "data above 1 MiB") }
        policy.data = given.data.copied
        return policy
    }

    /// Lends the policies to the plugin until the call under way returns.
    func lend(_ policies: [ItemPolicy]) -> larder_policy_list {
        let stride = MemoryLayout<larder_policy>.stride + (script?.policyGrowth ?? 0)
        let views = lent.lend(bytes: stride * policies.count)
        let absent = larder_str(ptr: nil, len: 0)
        for (index, policy) in policies.enumerated() {
            (views + index * stride).initializeMemory(
                as: larder_policy.self,
                to: larder_policy(
                    struct_size: UInt32(stride), reserved: 0, revision: policy.revision,
                    id: lend(policy.id.text), kind: lend(policy.kind.text),
                    identifier: policy.identifier.map(lend) ?? absent,
                    description: policy.description.map(lend) ?? absent, condition: lend(policy.condition),
                    path: policy.path.map { lend($0.text) } ?? absent,
                    local_id: policy.localID.map { lend($0.text) } ?? absent,
                    remove_when_none: policy.removeWhenNone.map(lend) ?? absent,
                    data: policy.data.map(lend) ?? larder_bytes(ptr: nil, len: 0)))
        }
        return larder_policy_list(
            struct_size: size(of: larder_policy_list.self), stride: UInt32(stride),
            policies: policies.isEmpty ? nil : UnsafeRawPointer(views), count: UInt64(policies.count))
    }
}

extension larder_policy_list: SizedTable {
    static var tableName: String { "policy list" }
    static var firstSize: Int { 24 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_policy: SizedTable {
    static var tableName: String { "policy" }
    static var firstSize: Int { 160 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}
