import Database
import LocalTree
import Logging
import Model
import Synchronization

extension DownloadAction {
    /// Takes the room for a download that begins.
    /// - Returns: Whether there is room. If not, nothing was taken.
    func takeRoom(for job: Job) -> Bool {
        engine.room.withLock { room in
            guard room.fits(job.expectedSize) || room.fits(missing(of: job)) else { return false }
            // What an earlier try left is noted as received when the download goes on with it.
            room.begin(engine.owner(job.id), missing: job.expectedSize)
            return true
        }
    }

    /// Takes the room for a download on a page of the journal, unless the download is under way already.
    /// - Returns: Whether there is room. If not, the page counts the download among those that wait.
    func takeRoom(for job: Job, on page: inout JournalPage) -> Bool {
        guard var room = page.room, !room.holds(engine.owner(job.id)) else { return true }
        page.room = nil
        defer { page.room = room }
        let bytes = room.fits(job.expectedSize) ? job.expectedSize : missing(of: job)
        guard room.fits(bytes) else {
            var lack = page.lack ?? RoomLack()
            lack.add(size: job.size ?? 0, missing: bytes)
            page.lack = lack
            return false
        }
        room.begin(engine.owner(job.id), missing: bytes)
        return true
    }

    /// Returns the bytes of a download that are not in `incoming/`.
    private func missing(of job: Job) -> Int64 {
        guard let size = job.size else { return job.expectedSize }
        if job.incomingNames.contains(where: { tree.incomingSize($0) == size }) { return 0 }
        return size - (tree.incomingSize(job.incomingName) ?? 0)
    }
}

extension JournalPage {
    /// Takes the room for a small download of which nothing is here, unless it is under way already.
    /// - Returns: Whether there is room.
    mutating func takesRoom(_ bytes: Int64, for owner: DownloadRoom.Owner) -> Bool {
        guard room?.holds(owner) == false else { return true }
        guard room?.fits(bytes) == true else { return false }
        room?.begin(owner, missing: bytes)
        return true
    }
}

extension Job {
    /// The size, or 1 if it is not known, so that nothing begins on a disk without room.
    fileprivate var expectedSize: Int64 { size ?? 1 }
}

extension SyncEngine {
    /// Returns what a record's download, or the batch that begins with the record, is called in the room.
    func owner(_ record: SyncRecordID, ofBatch isBatch: Bool = false) -> DownloadRoom.Owner {
        .init(account: account, record: record, isBatch: isBatch)
    }

    /// Measures the room for downloads. The function may block.
    /// - Parameter isForced: Whether the room is measured even if that was done a moment ago.
    @discardableResult
    func measureRoom(isForced: Bool = true) -> DownloadRoom {
        let now = clock.monotonic()
        // The lock keeps downloads from noting what they receive between the measurement and its use.
        return room.withLock { room in
            if isForced || room.isOutdated(at: now) { room.measured(tree.space, at: now) }
            return room
        }
    }

    /// The reason why a download waits for room.
    var noRoom: Failure {
        let kept = WrittenQuantity.rough(bytes: room.withLock { $0.kept })
        return Failure(
            .localIO,
            "there is no room for it: it would leave less than \(kept) free on the file system of \(tree.root); free "
                + "some space, or lower disk.keep-free in the config")
    }

    /// Files the issue about the downloads that wait for room, or withdraws it.
    /// - Parameter isWhole: Whether the whole journal was read, and not only some records.
    func tell(_ lack: RoomLack?, isWhole: Bool, in tx: Transaction) throws {
        let code = IssueCode.room
        let earlier = try tx.issues.issue(code: code.rawValue, subject: tree.root)
        guard isWhole || earlier == nil else { return }
        guard let lack else {
            if let earlier { try tx.issues.remove(id: earlier.id) }
            return
        }
        let kept = WrittenQuantity.rough(bytes: room.withLock { $0.kept })
        let isOne = lack.count == 1
        let message =
            "\(lack.count) \(isOne ? "download waits" : "downloads wait") for room: \(isOne ? "it" : "they") "
            + "(\(WrittenQuantity.rough(bytes: lack.bytes))) would leave less than \(kept) free on the file system of "
            + "\(tree.root) (disk.keep-free); \(isOne ? "it goes" : "they go") on when there is room"
        if let earlier, earlier.message.hasSameBytes(as: message) { return }
        try tx.issues.file(
            Issue(
                code: code.rawValue, subject: tree.root, message: message, choices: code.choices, created: clock.now(),
                failure: .localIO))
        if earlier == nil { logger.warning("\(message)") }
    }
}
