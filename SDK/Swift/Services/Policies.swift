extension Host {
    /// The policies of the processor's own kind; nil if withheld.
    public var policies: Policies? {
        table(.policies, as: larder_policies.self).map { Policies(host: pointer, table: $0) }
    }

    /// Changes are made when the call returns. `quietly`: no ``Trigger/policiesChanged`` follows.
    public struct Policies {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_policies>

        /// The policies as they were at the start of the run.
        public func list() throws(PluginError) -> [ItemPolicy] {
            var list = larder_policy_list()
            list.struct_size = UInt32(MemoryLayout<larder_policy_list>.size)
            try Status.check(table.pointee.list(host, &list), "policies.list")
            return ItemPolicy.all(in: list)
        }

        public func add(_ policy: ItemPolicy, quietly: Bool = false) throws(PluginError) {
            try Status.check(
                policy.lend { table.pointee.add(host, $0, quietly ? LARDER_POLICY_QUIET : 0) }, "policies.add")
        }

        /// Replaces the policy with the same id and revision.
        public func update(_ policy: ItemPolicy, quietly: Bool = false) throws(PluginError) {
            try Status.check(
                policy.lend { table.pointee.update(host, $0, quietly ? LARDER_POLICY_QUIET : 0) }, "policies.update")
        }

        public func remove(_ policy: ItemPolicy, quietly: Bool = false) throws(PluginError) {
            var loan = Loan()
            try Status.check(
                table.pointee.remove(
                    host, loan.text(policy.id), policy.revision, quietly ? LARDER_POLICY_QUIET : 0),
                "policies.remove")
        }
    }
}
