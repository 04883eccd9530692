extension Host {
    /// The requests for downloads and for removals of local copies. Nil if the service is withheld.
    public var actions: Actions? { table(.actions, as: larder_actions.self).map { Actions(host: pointer, table: $0) } }

    /// The actions that a plugin may ask for. The host carries nothing out during the call: a request becomes a record
    /// in the journal when the call returns.
    ///
    /// ```swift
    /// let actions = try host.require(host.actions, .actions)
    /// if let localID = item.localID {
    ///     try actions.download(localID, whileCovered: true, key: "download:\(localID.copied())")
    /// }
    /// ```
    ///
    /// A key identifies a request: while the request is in progress, another one with the same key has no effect. An
    /// item is named by its ``Item/localID``.
    public struct Actions {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_actions>

        /// Asks for a download of the file's newest version; for a folder: that it is kept here as a folder. A current
        /// copy is adopted without a request to the server.
        /// - Parameters:
        ///   - localID: The item's ``Item/localID``.
        ///   - whileCovered: Drops the download if the processor's policy condition does not hold for the item any more
        ///     when the download's turn comes.
        ///   - key: The request's key, at most 1 KiB.
        /// - Throws: ``Status/notFound`` if there is no such item, ``Status/invalidArgument`` if the key is empty, and
        ///   ``Status/limit`` if it is longer than 1 KiB or ``ItemPolicyProcessor/maximumRecords`` actions are in
        ///   progress.
        public func download(
            _ localID: borrowing Text, whileCovered: Bool = false, key: String
        ) throws(PluginError) {
            var loan = Loan()
            try Status.check(
                table.pointee.download(
                    host, localID.lent, whileCovered ? LARDER_DOWNLOAD_WHILE_COVERED : 0, loan.text(key)),
                "actions.download")
        }

        /// Asks for a download of an item whose id was copied.
        /// - Throws: As the other `download`.
        public func download(_ localID: String, whileCovered: Bool = false, key: String) throws(PluginError) {
            var loan = Loan()
            try download(Text(unsafe: loan.text(localID)), whileCovered: whileCovered, key: key)
        }

        /// Asks for an update of a copy of which the server has a newer version. The copy keeps its trigger. Without
        /// such a copy nothing happens.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func update(_ localID: borrowing Text, key: String) throws(PluginError) {
            var loan = Loan()
            try Status.check(
                table.pointee.download(host, localID.lent, LARDER_DOWNLOAD_AS_UPDATE, loan.text(key)),
                "actions.download")
        }

        /// Asks the host to forget an item that is no longer on the server, and to remove its local copy. A folder is
        /// removed only if it is empty by then. An item whose copy is modified, in use or claimed stays; the plugin may
        /// ask again later.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func purge(_ localID: borrowing Text, key: String) throws(PluginError) {
            var loan = Loan()
            try Status.check(table.pointee.purge(host, localID.lent, 0, loan.text(key)), "actions.purge")
        }

        /// Asks the host to forget an item whose id was copied.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func purge(_ localID: String, key: String) throws(PluginError) {
            var loan = Loan()
            try purge(Text(unsafe: loan.text(localID)), key: key)
        }

        /// Asks for the removal of the file's local copy; for a folder: of the folder, if it is empty by then. A
        /// modified copy stays. A copy that is in use or claimed stays as long as it is.
        /// - Parameters:
        ///   - localID: The item's ``Item/localID``.
        ///   - restoringFormer: Keeps a copy that was here for another reason before this plugin asked for it, and
        ///     gives it its former trigger back.
        ///   - ifUnused: Skips a copy for good, and reports it nowhere, if it is in use, claimed, was used since the
        ///     run began, or if another action is already planned for it.
        ///   - key: The request's key, at most 1 KiB.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func removeLocalCopy(
            _ localID: borrowing Text, restoringFormer: Bool = false, ifUnused: Bool = false, key: String
        ) throws(PluginError) {
            var loan = Loan()
            let flags =
                (restoringFormer ? LARDER_REMOVE_RESTORE_FORMER : 0) | (ifUnused ? LARDER_REMOVE_IF_UNUSED : 0)
            try Status.check(
                table.pointee.remove_local_copy(host, localID.lent, flags, loan.text(key)),
                "actions.remove_local_copy")
        }

        /// Asks for the removal of the local copy of an item whose id was copied.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func removeLocalCopy(
            _ localID: String, restoringFormer: Bool = false, ifUnused: Bool = false, key: String
        ) throws(PluginError) {
            var loan = Loan()
            try removeLocalCopy(
                Text(unsafe: loan.text(localID)), restoringFormer: restoringFormer, ifUnused: ifUnused, key: key)
        }

        /// Asks the item list to check the file or folder with this path on the server now, and everything below it
        /// that changed.
        /// - Throws: ``Status/invalidArgument`` if the path is not an absolute path of an item, ``Status/wrongState``
        ///   in other calls than a loop's `process` and `refresh`, and ``Status/limit`` if the turn asks for more than
        ///   16 MiB.
        public func look(at path: String) throws(PluginError) {
            var loan = Loan()
            try Status.check(table.pointee.look(host, loan.text(path)), "actions.look")
        }
    }
}
