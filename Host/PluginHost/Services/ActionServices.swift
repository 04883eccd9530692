import CLarder
import Model

/// `larder.actions/1`
let actionsTable = larder_actions(
    struct_size: size(of: larder_actions.self), reserved: 0,
    download: { host, localID, flags, key in
        serve(host, "actions.download", during: .processorWriting) { context throws(ServiceError) in
            try check(flags: flags, known: LARDER_DOWNLOAD_WHILE_COVERED | LARDER_DOWNLOAD_AS_UPDATE)
            guard flags & LARDER_DOWNLOAD_AS_UPDATE == 0 else { return try context.ask(localID, key) { .update($0) } }
            let whileCovered = flags & LARDER_DOWNLOAD_WHILE_COVERED != 0
            try context.ask(localID, key) { .download($0, whileCovered: whileCovered) }
        }
    },
    remove_local_copy: { host, localID, flags, key in
        serve(host, "actions.remove_local_copy", during: .processorWriting) { context throws(ServiceError) in
            try check(flags: flags, known: LARDER_REMOVE_RESTORE_FORMER | LARDER_REMOVE_IF_UNUSED)
            let restores = flags & LARDER_REMOVE_RESTORE_FORMER != 0
            let unusedSince = flags & LARDER_REMOVE_IF_UNUSED != 0 ? try context.activeRun().began : nil
            try context.ask(localID, key) {
                .removeLocalCopy($0, restoringFormerTrigger: restores, unusedSince: unusedSince)
            }
        }
    },
    purge: { host, localID, flags, key in
        serve(host, "actions.purge", during: .processorWriting) { context throws(ServiceError) in
            try check(flags: flags, known: 0)
            try context.ask(localID, key) { .purge($0) }
        }
    },
    look: { host, path in
        serve(host, "actions.look", during: .loopWriting) { context throws(ServiceError) in
            try context.ask(.requestListing(try path.itemPath("the path")))
        }
    },
    create_folder: { host, path, flags, key in
        change(host, "actions.create_folder", flags, key) { _ throws(ServiceError) in
            .createFolder(try path.itemPath("the path"))
        }
    },
    move: { host, localID, target, flags, key in
        change(host, "actions.move", flags, key) { context throws(ServiceError) in
            .move(try context.item(localID), to: try target.itemPath("the target"))
        }
    },
    copy: { host, localID, target, flags, key in
        change(host, "actions.copy", flags, key) { context throws(ServiceError) in
            .copy(try context.item(localID), to: try target.itemPath("the target"))
        }
    },
    remove_from_server: { host, localID, flags, key in
        change(host, "actions.remove_from_server", flags, key) { context throws(ServiceError) in
            .delete(try context.item(localID))
        }
    },
    set_favorite: { host, localID, isFavorite, flags, key in
        change(host, "actions.set_favorite", flags, key) { context throws(ServiceError) in
            guard isFavorite <= 1 else { throw ServiceError(LARDER_INVALID_ARGUMENT, "is_favorite is neither 0 nor 1") }
            return .setFavorite(try context.item(localID), isFavorite == 1)
        }
    },
    upload: { host, project, file, path, flags, key in
        change(host, "actions.upload", flags, known: LARDER_UPLOAD_REPLACE, key) { context throws(ServiceError) in
            let (project, target) = (try project.required("the project's id"), try path.itemPath("the path"))
            let file = try file.required("the file")
            do throws(ItemPath.Problem) { _ = try ItemPath("/" + file) } catch {
                throw ServiceError(LARDER_INVALID_ARGUMENT, "the file is not valid: \(error)")
            }
            guard !file.isEmpty else { throw ServiceError(LARDER_INVALID_ARGUMENT, "the file is missing") }
            guard let uploads = context.uploads else {
                throw ServiceError(LARDER_UNSUPPORTED, "this host keeps no projects")
            }
            guard try context.activeRun().mayUpload(besides: context.asked.uploads) else {
                throw ServiceError(LARDER_LIMIT, "more uploads than the host holds at a time")
            }
            return .upload(
                try uploads.take(file, ofProject: project, of: context.plugin), to: target,
                replaces: flags & LARDER_UPLOAD_REPLACE != 0)
        }
    })

/// Answers a request for a change of the server.
private func change(
    _ host: UnsafePointer<larder_host>, _ name: StaticString, _ flags: UInt32, known: UInt32 = 0, _ key: larder_str,
    _ change: (InstanceContext) throws(ServiceError) -> PluginChange
) -> larder_status {
    serve(host, name, during: .processorWriting) { context throws(ServiceError) in
        try context.require(.serverChanges)
        try check(flags: flags, known: known)
        try context.ask(key: key) { () throws(ServiceError) in .server(try change(context)) }
    }
}

extension InstanceContext {
    /// Records a request for an action on an item.
    fileprivate func ask(
        _ localID: larder_str, _ key: larder_str, _ change: (LocalID) -> Intent.Change
    ) throws(ServiceError) {
        try ask(key: key.isAbsent ? nil : key) { () throws(ServiceError) in change(try item(localID)) }
    }

    /// Records a request for an action.
    /// - Parameter key: The key; nil for a request without one.
    fileprivate func ask(
        key: larder_str?, _ change: () throws(ServiceError) -> Intent.Change
    ) throws(ServiceError) {
        let run = try activeRun()
        let key = try key.map { key throws(ServiceError) in
            guard key.len > 0 else { throw ServiceError(LARDER_INVALID_ARGUMENT, "the key is missing") }
            guard key.len <= longestKey else { throw ServiceError(LARDER_LIMIT, "a key above 1 KiB") }
            return try key.required("the key")
        }
        let wanted = try change()
        guard run.hasRoom(besides: asked.actions) else {
            throw ServiceError(LARDER_LIMIT, "more actions than max_records allows; the rest comes with syncCapacity")
        }
        // A snapshot that is not requested after all is removed with the change that holds it.
        asked.append(Intent(plugin: plugin, change: wanted, key: key))
    }

    /// Returns the id of a known item.
    fileprivate func item(_ localID: larder_str) throws(ServiceError) -> LocalID {
        let id = LocalID(try localID.required("the item's id"))
        guard try activeRun().hasItem(id) else {
            var error = ServiceError(LARDER_NOT_FOUND, "no item \(id)")
            error.isNoted = true
            throw error
        }
        return id
    }
}

extension larder_str {
    /// Returns the path that an argument names.
    fileprivate func itemPath(_ what: StaticString) throws(ServiceError) -> ItemPath {
        let text = try required(what)
        do throws(ItemPath.Problem) { return try ItemPath(text) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, "\(what) is not valid: \(error)")
        }
    }
}

func check(flags: UInt32, known: UInt32) throws(ServiceError) {
    guard flags & ~known == 0 else { throw .unknown("unknown flags \(flags & ~known)") }
}
