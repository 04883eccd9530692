import Connection
import Database
import LocalTree
import Logging
import Model
import Synchronization

/// The action that uploads a snapshot of a file, as a new file or as a new version.
///
/// An upload overwrites no version but its base. When the server is known to hold what was sent, the snapshot becomes
/// the copy here.
struct UploadAction: ChangeAction {
    static let activity = SyncActivity.uploading
    static let budget = Window.Budget.uploads

    let context: ActionContext
    /// The answer to the first request, which was sent with a batch; nil if none was.
    private let first: FirstAnswer?

    init(_ context: ActionContext) { self.init(context, after: nil) }

    init(_ context: ActionContext, after first: FirstAnswer?) { (self.context, self.first) = (context, first) }

    /// What the server holds after an upload.
    struct Effect: Sendable {
        /// What was sent, as this file.
        var item: ListedItem
        /// Whether something that nobody here has seen was in the place of a new file.
        var hasReplaced = false
    }

    // MARK: Preflight

    func preflight(
        _ path: ItemPath, _ snapshot: TakenSnapshot, replaces: Bool, for requester: ChangeRequester, in tx: Transaction
    ) throws -> EnqueueOutcome {
        guard let item = try tx.items.item(at: path) else {
            if let named = snapshot.replacing {
                return .refused(
                    Failure(
                        .notFound, "\(path) is not known, and its version \(named) was to be replaced",
                        hint: .seeItems(in: path.parent)))
            }
            if let failure = try context.queue.obstacle(toNew: path, isFolder: false, isFree: true, in: tx) {
                return .refused(failure)
            }
            let file = try tx.items.insertPlaceholder(
                path, kind: .file, size: snapshot.size, modified: snapshot.modified, activity: Self.activity)
            let record = try context.records.record(
                .upload(Upload(snapshot, isNew: true)), of: file, at: path, for: requester, in: tx)
            context.counters.expect(files: 1, bytes: snapshot.size)
            return .queued(record.id)
        }
        let isReplacing = replaces || snapshot.replacing != nil
        if let failure = try objection(to: item, replaces: isReplacing, in: tx) { return .refused(failure) }
        if let failure = try unsent(item, for: requester, in: tx) { return .refused(failure) }
        return .queued(try replace(item, by: snapshot, for: requester, in: tx).id)
    }

    private func objection(to item: Item, replaces: Bool, in tx: Transaction) throws -> Failure? {
        let path = item.path
        guard item.kind == .file else {
            return Failure(.badData, "\(path) is a folder", hint: "Name the file in it that is to be made")
        }
        switch item.cloudStatus {
        case .localOnly:
            return Failure(
                .failed, "\(path) exists only here, and the upload would replace it",
                hint: "Choose another name, or move \(context.tree.localPath(of: path)) elsewhere")
        case .locallyModified:
            return Failure(
                .failed, "\(path) was changed here, and the upload would replace the change",
                hint: "Choose another name, or move \(context.tree.localPath(of: path)) elsewhere")
        case .cloudOnly, .localCopy: break
        }
        guard replaces else { return Failure(.cannotCreate, "\(path) exists already", hint: .replaceFile(path)) }
        if try tx.scan.isMissing(item) {
            return Failure(.failed, "\(path) may no longer be on the server", hint: .listIssues)
        }
        return Right.write.missing(to: item)
    }

    /// Returns the failure of a plugin's upload while somebody else has an upload of the same file under way: what is to
    /// be uploaded may be nowhere else.
    private func unsent(_ item: Item, for requester: ChangeRequester, in tx: Transaction) throws -> Failure? {
        guard requester.reason != .user else { return nil }
        let isUnsent = try tx.journal.records(of: item.localID).contains {
            $0.action.kind == .upload && $0.reason != requester.reason
        }
        return isUnsent
            ? Failure(.failed, "another upload of \(item.path) is not done yet", hint: .listSyncRecords) : nil
    }

    /// Writes the record of a new version. An upload of the same file that was not begun is replaced.
    private func replace(
        _ found: Item, by snapshot: TakenSnapshot, for requester: ChangeRequester, in tx: Transaction
    ) throws -> SyncRecord {
        var item = found
        item.syncActivity.insert(Self.activity)
        let earlier = try tx.journal.records(of: item.localID).last { $0.action.kind.changesServer }
        if var earlier, case .upload(let waiting) = earlier.action, !earlier.mayHaveArrived, earlier.wait == nil,
            // A copy that was requested since is one of the earlier version.
            try !context.queue.isCopied(earlier, in: tx)
        {
            let base =
                try waiting.isNew || snapshot.replacing == nil && exported(item, as: snapshot, in: tx) == nil
                ? waiting.base : self.base(of: item, for: snapshot, in: tx)
            earlier.action = .upload(Upload(snapshot, isNew: waiting.isNew, base: base))
            earlier.since = context.clock.now()
            (earlier.reason, earlier.key) = (requester.reason, requester.key)
            try tx.journal.update(earlier)
            controls.suspend(earlier.id, cancels: false)
            context.snapshots.spend(waiting)
            if waiting.isNew { (item.size, item.lastModified) = (snapshot.size, snapshot.modified) }
            try tx.items.update(item)
            return earlier
        }
        try tx.items.updateLocal(item)
        context.counters.expect(files: 1, bytes: snapshot.size)
        let upload = Upload(snapshot, isNew: false, base: try base(of: item, for: snapshot, in: tx))
        return try context.records.record(.upload(upload), of: item, at: item.path, for: requester, in: tx)
    }

    /// Returns the version that a new version of a file is to replace: the one that the person has named; else the one
    /// that the person's file was copied from; else that of the copy here, or of the last one that was; else the one that
    /// was listed last. If the server has another by then, a person is asked.
    private func base(of item: Item, for snapshot: TakenSnapshot, in tx: Transaction) throws -> ETag? {
        if let named = snapshot.replacing {
            if let listed = item.etag, listed.opaque.hasSameBytes(as: named) { return listed }
            return ETag(opaque: named, strength: item.etag?.strength == .substitute ? .substitute : .strong)
        }
        let exported = try exported(item, as: snapshot, in: tx)
        let here =
            item.cloudStatus == .localCopy ? item.copy?.etag : try tx.items.formerVersion(of: item.databaseID)
        // The listed one is equal, and may be stronger.
        guard let known = exported ?? here, known != item.etag else { return item.etag }
        return known
    }

    /// Returns the version of which the person's file is a copy, where it was copied from here.
    private func exported(_ item: Item, as snapshot: TakenSnapshot, in tx: Transaction) throws -> ETag? {
        try snapshot.source.flatMap { try tx.exports.version(of: $0, copiedFrom: item) }
    }

    /// Makes the record of an upload whose item is gone one about the item at its path, or about a new placeholder.
    func adoptItem(for record: inout SyncRecord, of upload: Upload, in tx: Transaction) throws -> Item {
        logger.warning("\(record.path) is still to be uploaded, though it went from the item list")
        var item: Item
        if let found = try tx.items.item(at: record.path) {
            item = found
            item.syncActivity.insert(Self.activity)
            item = try tx.items.updateLocal(item)
        } else {
            item = try tx.items.insertPlaceholder(
                record.path, kind: .file, size: upload.size, modified: upload.modified, activity: Self.activity)
        }
        record.localID = item.localID
        try tx.journal.replace(record)
        return item
    }

    // MARK: The request

    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult<Effect> {
        guard case .upload(var upload) = job.record.action else {
            throw Failure(.internal, "\(job.record.action.kind.rawValue) uploads nothing")
        }
        let path = job.record.path
        try await findBase(of: &upload, job)
        var request = Self.request(for: upload)
        if mayHaveArrived {
            let found = try await afterEarlierChange { try await find(upload, request, at: path) }
            switch found {
            case .result(let result): return result
            case .notSent(let held):
                // A server that has taken all of the file may make it later.
                if job.record.evidence.wasTaken == true { return unseen(path, held) }
            case .cutOff(let version): request.base = .version(version)
            }
        }
        let source: SnapshotSource
        do { source = SnapshotSource(try tree.snapshot(upload.snapshot)) } catch {
            // The answer that came is not judged, and the file may have been made.
            if first?.mayHaveArrived == true { throw error }
            return .refused(error, .upload)
        }
        let shown = context.underWay.begin(.upload, of: job, size: upload.size)
        defer { context.underWay.end(job.id) }
        let counted = Mutex<Int64>(0)
        let count: @Sendable (Int64) -> Void = { [counters] sent in
            let more = counted.withLock { counted in
                defer { counted = sent }
                return sent - counted
            }
            shown.add(more)
            counters.change { $0.bytesDone = $0.bytesDone.adding(more) }
        }
        let resumption = UploadResumption(begun: upload.begun) { [self, snapshot = upload.snapshot] begun in
            try await note(begun, of: snapshot, for: job.id)
        }
        let outcome: WriteOutcome
        do {
            outcome = try await server.upload(
                path, request, from: source, resuming: resumption, after: first, progress: count)
        } catch {
            count(0)
            throw error
        }
        switch outcome {
        case .done(let answer):
            count(upload.size)
            return try await confirm(
                upload, AnsweredUpload(path, request, answer, at: first?.time ?? context.clock.monotonic()))
        case .unclear(let error):
            count(0)
            if case .result(let result) = try await afterChange({ try await find(upload, request, at: path) }) {
                return result
            }
            throw error
        case .refused(let refusal):
            count(0)
            switch refusal {
            case .exists, .versionChanged:
                return try await conflict(upload, request, at: path, refusal, isSure: !mayHaveArrived)
            default: return result(refusal, of: .put(path), asking: .upload)
            }
        }
    }

    private func findBase(of upload: inout Upload, _ job: Job) async throws {
        guard !upload.isNew, !upload.followsNothing, upload.base == nil else { return }
        upload.base = try await database.read { try $0.items.item(localID: job.record.localID)?.etag }
    }

    static func request(for upload: Upload) -> UploadRequest {
        UploadRequest(
            base: upload.base.map { .version($0) } ?? .new, size: upload.size,
            checksums: (upload.sha1.isEmpty ? [] : [ContentChecksum(.sha1, upload.sha1)])
                + [ContentChecksum(.sha256, upload.digest)],
            modified: upload.modified)
    }

    func effectOfCancelled(_ job: Job) async throws -> CancelledEffect<Effect> {
        guard case .upload(var upload) = job.record.action else { return .notMade }
        let path = job.record.path
        try await findBase(of: &upload, job)
        switch try await find(upload, Self.request(for: upload), at: path) {
        case .result(.made(let made)): return .made(.uploaded(made.item))
        case .result, .notSent: return .notMade
        case .cutOff:
            return .made(
                .refused(
                    Failure(
                        .failed, "the upload of \(path) was cancelled, and the server has only its beginning there now",
                        hint: .listIssues), .upload))
        }
    }

    /// Notes the upload that the server keeps open for a snapshot.
    private func note(_ begun: ResumableUpload?, of snapshot: String, for id: SyncRecordID) async throws {
        try await database.write { tx in
            guard var record = try tx.journal.record(id: id), case .upload(var upload) = record.action,
                upload.snapshot == snapshot
            else { return }
            upload.begun = begun
            record.action = .upload(upload)
            try tx.journal.update(record)
        }
    }

    // MARK: The result

    func takeBack(_ record: SyncRecord, of found: Item, in tx: Transaction) throws {
        guard case .upload(let upload) = record.action else { return }
        context.snapshots.spend(upload)
        context.counters.expect(files: -1, bytes: -upload.size)
        if upload.isNew {
            try context.takeBack.takeBackMaking(record, of: found, in: tx)
        } else {
            try endActivity(of: record, in: tx)
        }
    }

    /// Notes that a record of an item is gone, which was to upload a new version.
    func endActivity(of record: SyncRecord, in tx: Transaction) throws {
        guard var item = try tx.items.item(localID: record.localID) else { return }
        // Where another upload is left, the item shows that one's size and time from now on.
        if try !tx.journal.records(of: item.localID).contains(where: { $0.action.kind == .upload }) {
            item.syncActivity.remove(Self.activity)
        }
        try tx.items.updateLocal(item)
    }
}

extension ChangeResult where Effect == UploadAction.Effect {
    static func uploaded(_ item: ListedItem, hasReplaced: Bool = false) -> Self {
        .made(.init(item: item, hasReplaced: hasReplaced))
    }
}

extension Upload {
    fileprivate init(_ snapshot: TakenSnapshot, isNew: Bool, base: ETag? = nil) {
        self.init(
            snapshot: snapshot.name, size: snapshot.size, digest: snapshot.digest, sha1: snapshot.sha1,
            mark: snapshot.mark, modified: snapshot.modified, isNew: isNew, base: base)
        source = snapshot.source
    }
}

/// The bytes of a snapshot, as an upload reads them.
struct SnapshotSource: UploadSource {
    private let snapshot: Snapshot

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    var size: Int64 { snapshot.size }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try snapshot.read(at: offset, into: buffer)
    }
}
