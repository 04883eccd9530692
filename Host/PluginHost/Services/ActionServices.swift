import CLarder
import Model

/// `larder.actions/1`
let actionsTable = larder_actions(
    struct_size: size(of: larder_actions.self), reserved: 0,
    download: { host, localID, flags, key in
        serve(host, "actions.download", during: .processor) { context throws(ServiceError) in
            try check(flags: flags, known: LARDER_DOWNLOAD_WHILE_COVERED | LARDER_DOWNLOAD_AS_UPDATE)
            guard flags & LARDER_DOWNLOAD_AS_UPDATE == 0 else { return try context.ask(localID, key) { .update($0) } }
            let whileCovered = flags & LARDER_DOWNLOAD_WHILE_COVERED != 0
            try context.ask(localID, key) { .download($0, whileCovered: whileCovered) }
        }
    },
    remove_local_copy: { host, localID, flags, key in
        serve(host, "actions.remove_local_copy", during: .processor) { context throws(ServiceError) in
            try check(flags: flags, known: LARDER_REMOVE_RESTORE_FORMER | LARDER_REMOVE_IF_UNUSED)
            let restores = flags & LARDER_REMOVE_RESTORE_FORMER != 0
            let unusedSince = flags & LARDER_REMOVE_IF_UNUSED != 0 ? try context.activeRun().began : nil
            try context.ask(localID, key) {
                .removeLocalCopy($0, restoringFormerTrigger: restores, unusedSince: unusedSince)
            }
        }
    },
    purge: { host, localID, flags, key in
        serve(host, "actions.purge", during: .processor) { context throws(ServiceError) in
            try check(flags: flags, known: 0)
            try context.ask(localID, key) { .purge($0) }
        }
    },
    look: { host, path in
        serve(host, "actions.look", during: .loopWriting) { context throws(ServiceError) in
            let text = try path.required("the path")
            let parsed: ItemPath
            do throws(ItemPath.Problem) { parsed = try ItemPath(text) } catch {
                throw ServiceError(LARDER_INVALID_ARGUMENT, "the path is not valid: \(error)")
            }
            try context.ask(.requestListing(parsed))
        }
    })

extension InstanceContext {
    /// Records a request for an action on an item.
    fileprivate func ask(
        _ localID: larder_str, _ key: larder_str, _ change: (LocalID) -> Intent.Change
    ) throws(ServiceError) {
        let run = try activeRun()
        let id = LocalID(try localID.required("the item's id"))
        guard key.len > 0 else { throw ServiceError(LARDER_INVALID_ARGUMENT, "the key is missing") }
        guard key.len <= longestKey else { throw ServiceError(LARDER_LIMIT, "a key above 1 KiB") }
        let key = try key.required("the key")
        guard try run.hasItem(id) else { throw ServiceError(LARDER_NOT_FOUND, "no item \(id)") }
        guard run.hasRoom(besides: asked.count { $0.change.item != nil }) else {
            throw ServiceError(LARDER_LIMIT, "more actions than max_records allows; the rest comes with syncCapacity")
        }
        asked.append(Intent(plugin: plugin, change: change(id), key: key))
    }
}

func check(flags: UInt32, known: UInt32) throws(ServiceError) {
    guard flags & ~known == 0 else { throw .unknown("unknown flags \(flags & ~known)") }
}
