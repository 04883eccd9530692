extension Host {
    /// The requests for downloads, for removals of local copies and for changes of the server. Nil if the service is withheld.
    public var actions: Actions? { table(.actions, as: larder_actions.self).map { Actions(host: pointer, table: $0) } }

    /// The actions that a plugin may ask for. The host carries nothing out during the call: a request becomes a record
    /// in the journal when the call returns.
    ///
    /// ```swift
    /// let actions = try host.require(host.actions, .actions)
    /// if let localID = item.localID {
    ///     try actions.download(localID, whileCovered: true)
    /// }
    /// ```
    ///
    /// An item is named by its ``Item/localID``. While a request is in progress, another one for the same thing has no
    /// effect: without a key, one for the same action on the same item; otherwise one with the same key. Requests without
    /// keys are the fastest. They need a host of ABI 1.4.
    ///
    /// The functions from ``createFolder(at:key:)`` on change what is on the server. The operator must grant the plugin
    /// `server-changes`, and the host must offer them: ``changesServer`` tells. What turns out to be impossible when
    /// the request becomes a record is refused, and the plugin's log says why.
    public struct Actions {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_actions>

        /// Asks for a download of the file's newest version; for a folder: that it is kept here as a folder. A current
        /// copy is adopted without a request to the server.
        /// - Parameters:
        ///   - localID: The item's ``Item/localID``.
        ///   - whileCovered: Drops the download if the processor's policy condition does not hold for the item any more
        ///     when the download's turn comes.
        ///   - key: The request's key, at most 1 KiB; nil for none.
        /// - Throws: ``Status/notFound`` if there is no such item, ``Status/invalidArgument`` if the key is empty, and
        ///   ``Status/limit`` if it is longer than 1 KiB or ``ItemPolicyProcessor/maximumRecords`` actions are in
        ///   progress.
        public func download(
            _ localID: borrowing Text, whileCovered: Bool = false, key: String? = nil
        ) throws(PluginError) {
            var loan = Loan()
            try Status.check(
                table.pointee.download(
                    host, localID.lent, whileCovered ? LARDER_DOWNLOAD_WHILE_COVERED : 0, loan.text(key)),
                "actions.download")
        }

        /// Asks for a download of an item whose id was copied.
        /// - Throws: As the other `download`.
        public func download(_ localID: String, whileCovered: Bool = false, key: String? = nil) throws(PluginError) {
            var loan = Loan()
            try download(Text(unsafe: loan.text(localID)), whileCovered: whileCovered, key: key)
        }

        /// Asks for an update of a copy of which the server has a newer version. The copy keeps its trigger. Without
        /// such a copy nothing happens.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func update(_ localID: borrowing Text, key: String? = nil) throws(PluginError) {
            var loan = Loan()
            try Status.check(
                table.pointee.download(host, localID.lent, LARDER_DOWNLOAD_AS_UPDATE, loan.text(key)),
                "actions.download")
        }

        /// Asks the host to forget an item that is no longer on the server, and to remove its local copy. A folder is
        /// removed only if it is empty by then. An item whose copy is modified, in use or claimed stays; the plugin may
        /// ask again later.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func purge(_ localID: borrowing Text, key: String? = nil) throws(PluginError) {
            var loan = Loan()
            try Status.check(table.pointee.purge(host, localID.lent, 0, loan.text(key)), "actions.purge")
        }

        /// Asks the host to forget an item whose id was copied.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func purge(_ localID: String, key: String? = nil) throws(PluginError) {
            var loan = Loan()
            try purge(Text(unsafe: loan.text(localID)), key: key)
        }

        /// Asks for the removal of the file's local copy; for a folder: of the folder, if it is empty by then. A
        /// modified copy stays. A copy that is in use or claimed stays as long as it is.
        /// - Parameters:
        ///   - localID: The item's ``Item/localID``.
        ///   - restoringFormer: Keeps a copy that was here for another reason before this plugin asked for it, and
        ///     gives it its former trigger back.
        ///   - ifUnused: Skips a copy for good, and reports it nowhere, if it is in use, claimed, was used or
        ///     replaced since the run began, or if another action is already planned for it.
        ///   - key: The request's key, at most 1 KiB; nil for none.
        /// - Throws: As ``download(_:whileCovered:key:)``.
        public func removeLocalCopy(
            _ localID: borrowing Text, restoringFormer: Bool = false, ifUnused: Bool = false, key: String? = nil
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
            _ localID: String, restoringFormer: Bool = false, ifUnused: Bool = false, key: String? = nil
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

extension Host.Actions {
    /// The size of the table with `upload`, the last of the functions that came together.
    private static let sizeWithChanges: UInt32 = 88

    /// Whether the host has the functions that change the server. A host of ABI 1.0 does not.
    public var changesServer: Bool { table.pointee.struct_size >= Self.sizeWithChanges }

    private func change(
        _ function: StaticString, _ body: () -> larder_status
    ) throws(PluginError) {
        try Status.check(changesServer ? body() : LARDER_UNSUPPORTED, function)
    }

    /// Asks for the creation of a folder on the server. A folder that is there, or about to be made, is left as it is.
    /// - Parameters:
    ///   - path: An absolute path of an item. The folder above is there, or was asked for before.
    ///   - key: The request's key, at most 1 KiB.
    /// - Throws: ``Status/denied`` without the grant, ``Status/unsupported`` if the host is too old,
    ///   ``Status/invalidArgument`` for a path that is none or an empty key, and ``Status/limit`` if the key is longer
    ///   than 1 KiB or ``ItemPolicyProcessor/maximumRecords`` actions are in progress.
    public func createFolder(at path: String, key: String) throws(PluginError) {
        var loan = Loan()
        let (path, key) = (loan.text(path), loan.text(key))
        try change("actions.create_folder") { table.pointee.create_folder(host, path, 0, key) }
    }

    /// Asks for the move of an item, with all that is in it, to a path on the server at which there is nothing. The
    /// local copies move too.
    /// - Throws: ``Status/notFound`` if there is no such item, and as ``createFolder(at:key:)``.
    public func move(_ localID: borrowing Text, to target: String, key: String) throws(PluginError) {
        var loan = Loan()
        let (item, target, key) = (localID.lent, loan.text(target), loan.text(key))
        try change("actions.move") { table.pointee.move(host, item, target, 0, key) }
    }

    /// Asks for the move of an item whose id was copied.
    /// - Throws: As the other `move`.
    public func move(_ localID: String, to target: String, key: String) throws(PluginError) {
        var loan = Loan()
        try move(Text(unsafe: loan.text(localID)), to: target, key: key)
    }

    /// Asks for a copy of an item, with all that is in it, at a path on the server at which there is nothing.
    /// - Throws: As ``move(_:to:key:)``.
    public func copy(_ localID: borrowing Text, to target: String, key: String) throws(PluginError) {
        var loan = Loan()
        let (item, target, key) = (localID.lent, loan.text(target), loan.text(key))
        try change("actions.copy") { table.pointee.copy(host, item, target, 0, key) }
    }

    /// Asks for a copy of an item whose id was copied.
    /// - Throws: As ``move(_:to:key:)``.
    public func copy(_ localID: String, to target: String, key: String) throws(PluginError) {
        var loan = Loan()
        try copy(Text(unsafe: loan.text(localID)), to: target, key: key)
    }

    /// Asks for the deletion of an item, with all that is in it, on the server. Files that were changed here, or exist
    /// only here, stay here. If the plugin's deletions of a day are too many for the operator, a person decides.
    /// - Throws: As ``move(_:to:key:)``.
    public func removeFromServer(_ localID: borrowing Text, key: String) throws(PluginError) {
        var loan = Loan()
        let (item, key) = (localID.lent, loan.text(key))
        try change("actions.remove_from_server") { table.pointee.remove_from_server(host, item, 0, key) }
    }

    /// Asks for the deletion of an item whose id was copied.
    /// - Throws: As ``move(_:to:key:)``.
    public func removeFromServer(_ localID: String, key: String) throws(PluginError) {
        var loan = Loan()
        try removeFromServer(Text(unsafe: loan.text(localID)), key: key)
    }

    /// Asks to make an item a favorite of the account, or to end that. Only servers of the ownCloud family have
    /// favorites.
    /// - Throws: As ``move(_:to:key:)``.
    public func setFavorite(_ localID: borrowing Text, _ isFavorite: Bool, key: String) throws(PluginError) {
        var loan = Loan()
        let (item, key) = (localID.lent, loan.text(key))
        try change("actions.set_favorite") { table.pointee.set_favorite(host, item, isFavorite ? 1 : 0, 0, key) }
    }

    /// Asks to make an item whose id was copied a favorite of the account, or to end that.
    /// - Throws: As ``move(_:to:key:)``.
    public func setFavorite(_ localID: String, _ isFavorite: Bool, key: String) throws(PluginError) {
        var loan = Loan()
        try setFavorite(Text(unsafe: loan.text(localID)), isFavorite, key: key)
    }

    /// Asks for the upload of a file among the assets of one of the plugin's projects. The host takes a snapshot of the
    /// file during the call, so that the plugin may change or remove the file afterwards.
    /// - Parameters:
    ///   - file: The file's path below the project's folder of assets. Nothing on it is a symbolic link.
    ///   - project: The project's id.
    ///   - path: An absolute path of an item.
    ///   - replacing: Makes a new version of a file that the server has at the path.
    ///   - key: The request's key, at most 1 KiB.
    /// - Throws: ``Status/notFound`` if there is no such project or file, ``Status/denied`` also if a symbolic link is
    ///   on the way, ``Status/invalidArgument`` also if it is no regular file, ``Status/limit`` also if 100 uploads of
    ///   the run are not recorded yet, ``Status/io`` if the file cannot be read, and as ``createFolder(at:key:)``.
    public func upload(
        _ file: String, ofProject project: String, to path: String, replacing: Bool = false, key: String
    ) throws(PluginError) {
        var loan = Loan()
        let (project, file, path, key) = (loan.text(project), loan.text(file), loan.text(path), loan.text(key))
        try change("actions.upload") {
            table.pointee.upload(host, project, file, path, replacing ? LARDER_UPLOAD_REPLACE : 0, key)
        }
    }
}
