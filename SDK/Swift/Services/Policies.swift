extension Host {
    /// The policies of the processor's own kind. Nil if the service is withheld.
    public var policies: Policies? {
        table(.policies, as: larder_policies.self).map { Policies(host: pointer, table: $0) }
    }

    /// The policies of the processor's own kind. The host makes changes when the call returns. With `quietly`, a change
    /// does not fire ``Trigger/policiesChanged``.
    ///
    /// ```swift
    /// let policies = try host.require(host.policies, .policies)
    /// for var policy in try policies.list() where policy.path == "/Photos" {
    ///     policy.description = "All pictures"
    ///     try policies.update(policy, quietly: true)
    /// }
    /// ```
    public struct Policies {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_policies>

        /// Returns the policies at the start of the run.
        /// - Throws: ``Status/wrongState`` outside of a processor's run.
        public func list() throws(PluginError) -> [ItemPolicy] {
            var list = larder_policy_list()
            list.struct_size = UInt32(MemoryLayout<larder_policy_list>.size)
            try Status.check(table.pointee.list(host, &list), "policies.list")
            return ItemPolicy.all(in: list)
        }

        /// Asks for a new policy. The host assigns its id, kind and revision, and does not read them.
        /// - Throws: ``Status/invalidArgument`` if a condition does not parse or the path is not an item's path,
        ///   ``Status/limit`` if the data is larger than 1 MiB.
        public func add(_ policy: ItemPolicy, quietly: Bool = false) throws(PluginError) {
            try Status.check(
                policy.lend { table.pointee.add(host, $0, quietly ? LARDER_POLICY_QUIET : 0) }, "policies.add")
        }

        /// Asks for new values of the policy with the same id and revision.
        /// - Throws: ``Status/notFound`` if there is no such policy, ``Status/conflict`` if it has another revision by
        ///   now, and what ``add(_:quietly:)`` throws.
        public func update(_ policy: ItemPolicy, quietly: Bool = false) throws(PluginError) {
            try Status.check(
                policy.lend { table.pointee.update(host, $0, quietly ? LARDER_POLICY_QUIET : 0) }, "policies.update")
        }

        /// Asks for the removal of the policy with the same id and revision.
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
