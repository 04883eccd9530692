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
        /// - Throws: ``Status/wrongState`` outside a processor's run.
        public func list() throws(PluginError) -> [ItemPolicy] {
            var list = larder_policy_list()
            list.struct_size = UInt32(MemoryLayout<larder_policy_list>.size)
            try Status.check(table.pointee.list(host, &list), "policies.list")
            return ItemPolicy.all(in: list)
        }

        /// Asks for a new policy. Its id, kind and revision are the host's and not read.
        /// - Throws: ``Status/invalidArgument`` if a condition does not parse or the path is no path of an item,
        ///   ``Status/limit`` if the data are larger than 1 MiB.
        public func add(_ policy: ItemPolicy, quietly: Bool = false) throws(PluginError) {
            try Status.check(
                policy.lend { table.pointee.add(host, $0, quietly ? LARDER_POLICY_QUIET : 0) }, "policies.add")
        }

        /// Replaces the policy with the same id and revision.
        /// - Throws: ``Status/notFound`` if there is no such policy, ``Status/conflict`` if it has another revision by
        ///   now, and what ``add(_:quietly:)`` throws.
        public func update(_ policy: ItemPolicy, quietly: Bool = false) throws(PluginError) {
            try Status.check(
                policy.lend { table.pointee.update(host, $0, quietly ? LARDER_POLICY_QUIET : 0) }, "policies.update")
        }

        /// Asks that the policy with this id and revision goes.
        /// - Throws: ``Status/notFound`` if there is no such policy, ``Status/conflict`` if it has another revision by
        ///   now.
        public func remove(_ policy: ItemPolicy, quietly: Bool = false) throws(PluginError) {
            var loan = Loan()
            try Status.check(
                table.pointee.remove(
                    host, loan.text(policy.id), policy.revision, quietly ? LARDER_POLICY_QUIET : 0),
                "policies.remove")
        }
    }
}
