import Database
import LocalTree
import Model

/// What stands in the way of a change that is requested, and what it builds on among those that wait.
struct QueueRules: EnginePart {
    let context: ActionContext

    // MARK: Early checks

    /// Tells whether there is a folder at a path, on the server or about to be.
    func hasFolder(at path: ItemPath, in tx: Transaction) throws -> Bool {
        if path.isRoot { return true }
        guard let item = try tx.items.item(at: path) else { return false }
        return item.kind == .folder && item.cloudStatus != .localOnly
    }

    /// Returns the item at a path that is on the server, or is about to be.
    func itemToChange(_ path: ItemPath, in tx: Transaction) throws -> Result<Item, Failure> {
        guard let item = try tx.items.item(at: path) else {
            return .failure(Failure(.notFound, "\(path) is not known", hint: .seeItems(in: path.parent)))
        }
        guard item.cloudStatus != .localOnly else {
            return .failure(
                Failure(
                    .failed, "\(path) exists only here, not on the server",
                    hint: "Change it with any program, at \(tree.localPath(of: path))"))
        }
        if try tx.scan.isMissing(item) {
            return .failure(Failure(.failed, "\(path) may no longer be on the server", hint: .listIssues))
        }
        return .success(item)
    }

    /// Tells why nothing new can be put at a path: something is there, or its folder is not.
    /// - Parameter isFree: Whether it is known that nothing is at the path.
    func obstacle(
        toNew path: ItemPath, isFolder: Bool, isFree: Bool = false, in tx: Transaction
    ) throws -> Failure? {
        if path.components.first?.utf8.elementsEqual(".larder".utf8) == true {
            return Failure(.badData, "\(path) cannot be made: Larder keeps its own files under this name")
        }
        if try path.isRoot || !isFree && tx.items.item(at: path) != nil {
            return Failure(.cannotCreate, "\(path) exists already", hint: "Choose another name")
        }
        guard let parent = try tx.items.item(at: path.parent) else {
            // A root that was never listed tells nothing.
            guard !path.parent.isRoot else { return nil }
            return Failure(
                .notFound, "the folder \(path.parent) is not known", hint: .seeItems(in: path.parent.parent))
        }
        guard parent.kind == .folder else {
            return Failure(.badData, "\(path.parent) is a file, so that nothing can be in it")
        }
        guard parent.cloudStatus != .localOnly || parent.path.isRoot else {
            return Failure(
                .failed, "the folder \(path.parent) exists only here, not on the server",
                hint: "Create it on the server first")
        }
        return Right.create(isFolder: isFolder).missing(to: parent)
    }

    // MARK: What was not asked for yet

    /// Returns the records that make an item and all that is below it, if the server was asked for nothing of that yet,
    /// and no record does anything else with it; nil otherwise.
    func unsentMakers(of item: Item, for requester: ChangeRequester, in tx: Transaction) throws -> [SyncRecord]? {
        guard item.fileID == nil else { return nil }
        var records: [SyncRecord] = []
        var isOther = false
        try tx.journal.eachChange(atOrBelow: item.path) { record in
            let isMaking =
                switch record.action {
                case .createFolder: true
                case .upload(let upload): upload.isNew
                default: false
                }
            isOther =
                !isMaking || records.isEmpty && record.localID != item.localID || record.reason != requester.reason
                || record.mayHaveArrived || record.state != .ready || record.wait != nil
            records.append(record)
            return !isOther
        }
        // A copy of a folder above takes the item along.
        guard !isOther, let first = records.first, try tx.journal.changes(above: item.path, after: first.id).isEmpty
        else { return nil }
        return records
    }

    /// Moves what is still to be made: it is made at the new path in the first place. The records keep their turns.
    /// - Returns: Whether that is so. A record between may have to come before, such as that of the new path's folder.
    func moveUnsent(
        _ makers: [SyncRecord], _ item: Item, to target: ItemPath, in tx: Transaction
    ) throws -> Bool {
        guard let first = makers.first, try tx.journal.changes(atOrBelow: target).isEmpty,
            try tx.journal.changes(above: target, after: first.id).isEmpty
        else { return false }
        for var record in makers {
            record.path = record.path.moved(from: first.path, to: target)
            try tx.journal.replace(record)
            controls.suspend(record.id, cancels: false)
        }
        _ = try tx.items.move(item, to: target)
        return true
    }

    // MARK: What waits for a record

    /// Tells whether a later record builds on what a record makes or leaves, wherever others have moved that since.
    func isBuiltOn(_ record: SyncRecord, in tx: Transaction) throws -> Bool {
        for place in record.places {
            var (path, last) = (place.path, record.id)
            while true {
                var isBuiltOn = false
                try tx.journal.eachChange(atOrBelow: path, after: last) { _ in
                    isBuiltOn = true
                    return false
                }
                if isBuiltOn { return true }
                guard let next = try taking(path, after: last, in: tx) else { break }
                guard case .move(let target) = next.action else { return true }
                (path, last) = (path.moved(from: next.path, to: target), next.id)
            }
        }
        return false
    }

    /// Tells whether a later record copies what a record makes, by itself or with a folder, wherever others have moved it
    /// since.
    func isCopied(_ record: SyncRecord, in tx: Transaction) throws -> Bool {
        var (path, last) = (record.path, record.id)
        while let next = try taking(path, after: last, in: tx) {
            guard case .move(let target) = next.action else { return true }
            (path, last) = (path.moved(from: next.path, to: target), next.id)
        }
        return false
    }

    /// Returns the first later record that copies or moves what is at a path then.
    private func taking(_ path: ItemPath, after last: SyncRecordID, in tx: Transaction) throws -> SyncRecord? {
        try (tx.journal.changes(atOrBelow: path, after: last) + tx.journal.changes(above: path, after: last))
            .filter { later in
                let source: ItemPath
                switch later.action {
                case .copy(let from): source = from
                case .move: source = later.path
                default: return false
                }
                return source == path || source.isAncestor(of: path)
            }
            .min { $0.id < $1.id }
    }
}
