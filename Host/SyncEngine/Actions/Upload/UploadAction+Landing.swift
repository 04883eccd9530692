import Connection
import Database
import LocalTree
import Logging
import Model
import Synchronization
import Threads

extension UploadAction {
    /// An upload of which the server holds what was sent.
    struct Made: Sendable {
        var job: Job
        var upload: Upload
        /// What the server holds.
        var item: ListedItem
        /// Whether the server has put a new file in place of something.
        var hasReplaced = false
    }

    func conclude(_ job: Job, made effect: Effect) async throws -> ChangeOutcome {
        guard case .upload(let upload) = job.record.action else {
            throw Failure(.internal, "\(job.record.action.kind.rawValue) uploads nothing")
        }
        return try await conclude([
            Made(job: job, upload: upload, item: effect.item, hasReplaced: effect.hasReplaced)
        ])[0]
    }

    /// Records that the server holds what was sent, in one transaction. Each record becomes that of a complete download,
    /// which puts the snapshot in place of the copy.
    /// - Returns: The outcomes, in the order of the uploads: a complete download, or a record that is done or whose file is
    ///   to be fetched.
    func conclude(_ uploads: [Made]) async throws -> [ChangeOutcome] {
        let concluded = try await database.writeTogether { [self] tx in
            let rows = try concludeTogether(uploads, in: tx)
            let concluded = try zip(uploads, rows).map { upload, row in
                if let row { return Concluded.together(row) }
                return .alone(try conclude(upload, in: tx))
            }
            var folders: Set<ItemPath> = []
            for (upload, concluded) in zip(uploads, concluded) {
                guard let path = concluded.path(of: upload), folders.insert(path.parent).inserted else { continue }
                try tx.scan.noteOwnChange(at: path)
            }
            if uploads.contains(where: { $0.upload.source != nil }) { try tx.exports.forgetOldest() }
            return concluded
        }
        for upload in uploads { logger.debug("Uploaded \(upload.job.record.path)") }
        counters.change { progress in
            progress.filesSent += uploads.count
            progress.bytesSent = uploads.reduce(progress.bytesSent) { $0.adding($1.upload.size) }
        }
        let outcomes = await runBlocking { [self] in takeIn(uploads, concluded) }
        for (outcome, upload) in zip(outcomes, uploads) {
            if case .resolved = outcome { try await forgetLanding(of: upload.job.id) }
        }
        return outcomes
    }

    /// An upload that was concluded.
    private enum Concluded {
        /// With others. The number of the item's row.
        case together(ItemRowID)
        /// The complete download, nil if the record is done; and the path that was uploaded, nil if the record was gone.
        case alone((job: Job?, path: ItemPath?))

        func path(of upload: Made) -> ItemPath? {
            switch self {
            case .together: upload.job.record.path
            case .alone(let concluded): concluded.path
            }
        }
    }

    /// Concludes new files of which nothing else has become known or wanted.
    /// - Returns: The numbers of the items' rows; nil for an upload that was not concluded.
    private func concludeTogether(_ uploads: [Made], in tx: Transaction) throws -> [ItemRowID?] {
        var files: [(number: Int, file: MadeFile)] = []
        for (number, upload) in uploads.enumerated() {
            if let file = upload.newFile { files.append((number, file)) }
        }
        var rows: [ItemRowID?] = Array(repeating: nil, count: uploads.count)
        for (file, row) in zip(files, try tx.journal.conclude(files.map(\.file))) {
            rows[file.number] = row
            let upload = uploads[file.number]
            guard row != nil, let source = upload.upload.source, let version = upload.item.etag else { continue }
            try tx.exports.note(source, isCopyOf: file.file.localID, at: file.file.path, version, at: clock.now())
        }
        return rows
    }

    /// Moves the snapshots of uploads to where complete downloads are. Blocks.
    private func takeIn(_ uploads: [Made], _ concluded: [Concluded]) -> [ChangeOutcome] {
        var builders: [ETag.Strength: DownloadBatch.Builder] = [:]
        let files: [(ETag.Strength, Int)?] = zip(uploads, concluded).map { upload, concluded in
            guard case .together(let row) = concluded, let strength = upload.item.etag?.strength else { return nil }
            let place = builders[strength]?.count ?? 0
            let isAdded = builders[strength, default: .init(coverage: nil, strength: strength)].add(upload, row: row)
            return isAdded ? (strength, place) : nil
        }
        let batches = builders.mapValues(\.batch)
        let tree = TreeBatch(tree)
        return zip(zip(uploads, concluded), files).map { made, place in
            let (upload, concluded) = made
            let stale = ChangeOutcome.resolved(RecordOutcome(record: upload.job.id, resolution: .stale))
            if case .alone((let landing, _)) = concluded {
                return landing.flatMap { takeIn(upload.upload, $0, tree) }.map(ChangeOutcome.uploaded) ?? stale
            }
            guard let (strength, file) = place, let batch = batches[strength] ?? nil,
                let taken = takeIn(
                    upload.upload, as: batch.incomingName(of: file), at: batch.path(of: file),
                    batch.entries[file].lastModified, tree),
                let result = IncomingResult(taken)
            else { return stale }
            return .uploadedTogether(BatchArrival(batch: batch, file: file, result: result, isUploaded: true))
        }
    }

    /// Moves a snapshot to where complete downloads are. Blocks.
    /// - Returns: nil if the file is to be fetched again.
    private func takeIn(_ upload: Upload, _ landing: Job, _ tree: TreeBatch) -> Fetched? {
        takeIn(upload, as: landing.incomingName, at: landing.path, landing.lastModified, tree)
            .map { Fetched(job: landing, file: $0, version: landing.version) }
    }

    private func takeIn(
        _ upload: Upload, as incomingName: String, at path: ItemPath, _ modified: Timestamp?, _ tree: TreeBatch
    ) -> CompletedFile? {
        let file: CompletedFile
        do throws(Failure) {
            file = try tree.takeIn(
                snapshot: upload.snapshot, as: incomingName, modified: modified, digest: upload.digest,
                mark: upload.mark)
        } catch {
            // The record is now that of a download, which fetches the file.
            logger.warning("\(path) was uploaded and is fetched again: \(error.message)")
            return nil
        }
        guard file.digest == upload.digest else {
            self.tree.abandonIncoming(incomingName)
            return nil
        }
        return file
    }

    /// Records that the server holds what was sent.
    /// - Returns: The complete download, nil if the record is done; and the path that was uploaded, nil if the record was
    ///   gone.
    private func conclude(_ made: Made, in tx: Transaction) throws -> (job: Job?, path: ItemPath?) {
        var records = try tx.journal.records(of: made.job.record.localID)
        guard var record = try records.first(where: { $0.id == made.job.id }) ?? tx.journal.record(id: made.job.id)
        else { return (nil, nil) }
        let path = record.path
        let upload = made.upload
        var item = try tx.items.item(localID: record.localID) ?? adoptItem(for: &record, of: upload, in: tx)
        let lands = !item.isRemoved
        // The record has come to be about another item.
        if record.localID != made.job.record.localID { records = try tx.journal.records(of: record.localID) }
        let served = try lands ? endDownloads(of: &item, among: records, besides: record, in: tx) : []
        if lands { item.syncActivity.insert(.downloading) }
        if lands, let copy = item.copy, copy.etag == made.item.etag, copy.digest != upload.digest {
            // A server that tells versions by size and second gave the new one the ETag of the copy here.
            item.copy?.etag = .substitute(size: nil, lastModified: nil)
        }
        item = try confirm(item, as: made.item, in: tx)
        try context.records.passOn(item.etag, from: upload.base, after: record, among: records, in: tx)
        if made.hasReplaced { try tellReplaced(record.path, in: tx) }
        if let source = upload.source, let version = item.etag {
            try tx.exports.note(source, isCopyOf: item, version, at: clock.now())
        }
        guard lands else {
            _ = try context.records.done(record, in: tx)
            context.snapshots.spend(upload)
            counters.change { $0.filesDone += 1 }
            return (nil, path)
        }
        record.action = .download
        record.evidence = ChangeEvidence()
        (record.state, record.mayHaveArrived, record.path) = (.processing, false, item.path)
        let job = Job(record, item: item)
        // After a crash, the snapshot is found in incoming/ by these facts and need not be fetched.
        record.landing = Landing(
            etag: job.version, digest: upload.digest, size: upload.size, modified: job.lastModified)
        try tx.journal.update(record)
        for download in served {
            guard let current = try tx.journal.record(id: record.id),
                let shown = try tx.items.item(localID: record.localID)
            else { continue }
            let request = ActionRequest(
                .download, item: shown.localID, reason: download.reason, key: download.key,
                whileCovered: download.whileCovered)
            _ = try DownloadAction(context).join(current, shown, request, in: tx)
        }
        return (Job(record, item: item), path)
    }

    /// Ends the downloads of an uploaded file: the snapshot serves their requesters too.
    private func endDownloads(
        of item: inout Item, among records: [SyncRecord], besides upload: SyncRecord, in tx: Transaction
    ) throws -> [SyncRecord] {
        let waiting = records.filter { $0.action == .download && $0.id != upload.id }
        for download in waiting { try context.records.deschedule(download, in: tx) }
        if !waiting.isEmpty { item = try tx.items.item(localID: item.localID) ?? item }
        return waiting
    }

    private func forgetLanding(of id: SyncRecordID) async throws {
        try await database.write { tx in
            guard var record = try tx.journal.record(id: id) else { return }
            record.landing = nil
            try tx.journal.update(record)
        }
    }

    /// Tells a person of something that a server has replaced in spite of the request's condition.
    private func tellReplaced(_ path: ItemPath, in tx: Transaction) throws {
        let message =
            "\(path) was uploaded as a new file, and the server has put it in place of something that was there and was "
            + "not listed here. Look for the version before on the server"
        logger.warning("\(message)")
        try tx.issues.file(
            Issue(
                code: IssueCode.replaced.rawValue, subject: path.text, message: message,
                choices: IssueCode.replaced.choices, created: clock.now()))
    }
}

extension UploadAction.Made {
    /// The new file, if the server tells of it what a download of a batch needs.
    fileprivate var newFile: MadeFile? {
        guard upload.isNew, !hasReplaced, item.kind == .file, item.size == upload.size, item.lastModified != nil,
            let version = item.etag, version.strength != .substitute, !version.opaque.isEmpty,
            FileBatch.takes(version: version.opaque.utf8)
        else { return nil }
        return MadeFile(
            record: job.id, localID: job.record.localID, path: job.record.path, item: item, digest: upload.digest,
            size: upload.size)
    }
}

extension DownloadBatch.Builder {
    /// Adds a new file that was uploaded.
    /// - Parameter row: The number of its item's row.
    /// - Returns: False if it cannot be in a batch.
    fileprivate mutating func add(_ made: UploadAction.Made, row: ItemRowID) -> Bool {
        guard let modified = made.item.lastModified, let version = made.item.etag else { return false }
        let entry = DownloadBatch.Entry(
            record: made.job.id, item: row, localID: made.job.record.localID, lastModified: modified,
            reason: made.job.record.reason, whileCovered: false)
        return Array(made.job.record.path.text.utf8).withUnsafeBytes { path in
            Array(version.opaque.utf8).withUnsafeBytes { add(entry, path: path, version: $0, size: made.upload.size) }
        }
    }
}
