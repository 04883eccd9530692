public import Model

/// An action that is requested of an item. It changes nothing on the server.
public enum ItemAction: Hashable, Sendable {
    /// As ``SyncRecord/Action/download``.
    case download
    /// As ``SyncRecord/Action/removeLocalCopy(restoringFormerTrigger:unusedSince:)``.
    case removeLocalCopy(restoringFormerTrigger: Bool, unusedSince: Timestamp? = nil)
    /// As ``SyncRecord/Action/purge``.
    case purge

    /// The action as the journal has it.
    public var recorded: SyncRecord.Action {
        switch self {
        case .download: .download
        case .removeLocalCopy(let restores, let since):
            .removeLocalCopy(restoringFormerTrigger: restores, unusedSince: since)
        case .purge: .purge
        }
    }
}

/// A request of a person or a plugin for an action on an item.
public struct ActionRequest: Hashable, Sendable {
    /// The action that is requested.
    public var action: ItemAction
    /// The item that the action is about.
    public var item: LocalID
    /// The requester: `user`, `availableOffline`, or a plugin's id. A copy that is downloaded for this request gets the
    /// requester as its trigger.
    public var reason: DownloadTrigger
    /// The idempotency key. Two requests with the same reason and key ask for the same thing: while the first is under
    /// way, the second does nothing. Without a key two requests of a plugin ask for the same thing if they ask for the
    /// same action on the same item.
    public var key: String?
    /// For a download: whether the engine drops the download before its first request if the requester's policies no
    /// longer cover the item.
    public var whileCovered: Bool
    /// For a download: whether the request only concerns a copy that is here and of which the server has a newer
    /// version. The copy keeps its trigger.
    public var isUpdate: Bool
    /// For a download: whether the download finds out if the local file is the server's version. A file that differs
    /// from the server's version stays as it is.
    public var isProof: Bool

    /// Creates a request.
    public init(
        _ action: ItemAction, item: LocalID, reason: DownloadTrigger, key: String? = nil,
        whileCovered: Bool = false, isUpdate: Bool = false, isProof: Bool = false
    ) {
        self.action = action
        self.item = item
        self.reason = reason
        self.key = key
        self.whileCovered = whileCovered
        self.isUpdate = isUpdate
        self.isProof = isProof
    }
}

/// A plugin's request that the engine does not carry out, though nothing is wrong with the request.
public struct DroppedAction: Hashable, Sendable {
    /// The path of the item.
    public var path: ItemPath
    /// The action that was requested.
    public var action: SyncRecord.Action
    /// The requester.
    public var reason: DownloadTrigger
    /// The reason for not carrying out the request, as a part of a sentence.
    public var why: String
}

/// The outcome of a request's early checks and preflight.
public enum EnqueueOutcome: Sendable {
    /// A request that is in the journal as this record.
    case queued(SyncRecordID)
    /// A request for what is already under way as this record.
    case joined(SyncRecordID)
    /// A request that is fulfilled without a record: a copy was adopted, a folder was made, or nothing had to be
    /// done.
    case done
    /// A request that is in the journal, but about which a person must decide first.
    case waits(record: SyncRecordID, issue: IssueID)
    /// A request that was refused. Nothing was changed.
    case refused(Failure)
}
