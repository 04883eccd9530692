public import Model

/// What a person or a plugin asks the sync engine for.
public struct ActionRequest: Hashable, Sendable {
    public var action: SyncRecord.Action
    public var item: LocalID
    /// Who asks: `user`, `availableOffline`, or a plugin's id. A copy that is downloaded for it gets it as its trigger.
    public var reason: DownloadTrigger
    /// The same key of the same reason asks for the same thing: while the first is under way, asking again does nothing.
    public var key: String?
    /// Of a download: whether it is dropped before its first request if the policies of who asked no longer cover the item.
    public var whileCovered: Bool
    /// Of a download: only of a copy that is here and that the server has newer, which keeps its trigger.
    public var isUpdate: Bool
    /// Of a download: to find out whether what is here is the server's. What is not stays as it is.
    public var isProof: Bool

    public init(
        _ action: SyncRecord.Action, item: LocalID, reason: DownloadTrigger, key: String? = nil,
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

/// What a plugin asked for and nobody does, though nothing is wrong with it.
public struct DroppedAction: Hashable, Sendable {
    public var path: ItemPath
    public var action: SyncRecord.Action
    /// Who asked.
    public var reason: DownloadTrigger
    /// A part of a sentence.
    public var why: String
}

/// What became of a request in its early checks and preflight.
public enum EnqueueOutcome: Sendable {
    /// It is in the journal as this record.
    case queued(SyncRecordID)
    /// The same is under way already, as this record.
    case joined(SyncRecordID)
    /// What was asked for is so now, without a record: a copy was adopted, a folder made, nothing was to be done.
    case done
    /// It is in the journal, but a person must decide first.
    case waits(record: SyncRecordID, issue: IssueID)
    /// Nothing was changed.
    case refused(Failure)
}
