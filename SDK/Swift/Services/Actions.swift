extension Host {
    /// Asks for what is to be done with items; nil if withheld.
    public var actions: Actions? { table(.actions, as: larder_actions.self).map { Actions(host: pointer, table: $0) } }

    /// Nothing is done in the call: what is asked for becomes a record in the journal when the call returns.
    ///
    /// A key stands for what is asked: while the first is under way, the same key asks for nothing more. Items are named by their
    /// `localID`.
    public struct Actions {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_actions>

        /// Asks that the item's newest version is fetched; of a folder, that it is kept here as a folder. A current copy is
        /// adopted without a request.
        /// - Parameter whileCovered: drops the download if, when its turn comes, the processor's policy condition does not
        ///   hold for the item any more.
        /// - Throws: ``Status/notFound`` if there is no such item, ``Status/invalidArgument`` if the key is empty, and
        ///   ``Status/limit`` if it is longer than 1 KiB or ``ItemPolicyProcessor/maximumRecords`` actions are under
        ///   way.
        public func download(
            _ localID: borrowing Text, whileCovered: Bool = false, key: String
        ) throws(PluginError) {
            var loan = Loan()
            try Status.check(
                table.pointee.download(
                    host, localID.lent, whileCovered ? LARDER_DOWNLOAD_WHILE_COVERED : 0, loan.text(key)),
                "actions.download")
        }

        /// Asks the same for an item whose id was copied.
        /// - Throws: As the other `download`.
        public func download(_ localID: String, whileCovered: Bool = false, key: String) throws(PluginError) {
            var loan = Loan()
            try download(Text(unsafe: loan.text(localID)), whileCovered: whileCovered, key: key)
        }

        /// Asks that the copy which is here, and which the server has newer, is brought up to date. It keeps its trigger; without
        /// such a copy nothing is done.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func update(_ localID: borrowing Text, key: String) throws(PluginError) {
            var loan = Loan()
            try Status.check(
                table.pointee.download(host, localID.lent, LARDER_DOWNLOAD_AS_UPDATE, loan.text(key)),
                "actions.download")
        }

        /// Asks that an item which is no longer on the server is forgotten, and its local copy removed; a folder, if it is empty
        /// by then. What is modified, in use or claimed stays, and may be asked for again later.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func purge(_ localID: borrowing Text, key: String) throws(PluginError) {
            var loan = Loan()
            try Status.check(table.pointee.purge(host, localID.lent, 0, loan.text(key)), "actions.purge")
        }

        /// Asks the same for an item whose id was copied.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func purge(_ localID: String, key: String) throws(PluginError) {
            var loan = Loan()
            try purge(Text(unsafe: loan.text(localID)), key: key)
        }

        /// Asks that the item's local copy is removed, of a folder: if it is empty by then. A modified copy stays; one that is in
        /// use or claimed stays as long as it is.
        /// - Parameters:
        ///   - restoringFormer: a copy that was here for another reason before this plugin asked for it stays and
        ///     gets its former trigger back.
        ///   - ifUnused: a copy that is in use, claimed, was used since the run began, or that something else is to be done with
        ///     already is passed over for good, and nobody is told.
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

        /// Asks the same for an item whose id was copied.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func removeLocalCopy(
            _ localID: String, restoringFormer: Bool = false, ifUnused: Bool = false, key: String
        ) throws(PluginError) {
            var loan = Loan()
            try removeLocalCopy(
                Text(unsafe: loan.text(localID)), restoringFormer: restoringFormer, ifUnused: ifUnused, key: key)
        }

        /// Asks that the item list looks now at what has this path on the server, and at all below it that changed.
        /// - Throws: ``Status/invalidArgument`` if the path is no absolute path of an item, ``Status/wrongState`` in
        ///   other calls than a loop's `process` and `refresh`, and ``Status/limit`` if the turn asks for more than 16
        ///   MiB.
        public func look(at path: String) throws(PluginError) {
            var loan = Loan()
            try Status.check(table.pointee.look(host, loan.text(path)), "actions.look")
        }
    }
}
