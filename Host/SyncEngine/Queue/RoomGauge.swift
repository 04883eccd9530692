import Database
import LocalTree
import Logging
import Model

/// The measuring of the room for downloads, and what is told of it.
struct RoomGauge: EnginePart {
    let context: ActionContext

    /// Returns what a record's download, or the batch that begins with the record, is called in the room.
    func owner(_ record: SyncRecordID, ofBatch isBatch: Bool = false) -> DownloadRoom.Owner {
        .init(account: context.account, record: record, isBatch: isBatch)
    }

    /// Measures the room for downloads. The function may block.
    /// - Parameter isForced: Whether the room is measured even if that was done a moment ago.
    @discardableResult
    func measure(isForced: Bool = true) -> DownloadRoom {
        let now = clock.monotonic()
        // The lock keeps downloads from noting what they receive between the measurement and its use.
        return context.room.withLock { room in
            if isForced || room.isOutdated(at: now) { room.measured(tree.space, at: now) }
            return room
        }
    }

    /// The reason why a download waits for room.
    var noRoom: Failure {
        let kept = WrittenQuantity.rough(bytes: context.room.withLock { $0.kept })
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
        let kept = WrittenQuantity.rough(bytes: context.room.withLock { $0.kept })
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
