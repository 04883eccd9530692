/// A sync record with where it stands.
public struct SyncRecordReport: Sendable {
    public var record: SyncRecord
    /// The first record of the lane that it is on; its own id if nothing is before it.
    public var lane: SyncRecordID
    /// Which part of a download's bytes is here, 0 to 1; nil if that is not known.
    public var progress: Double?

    public init(record: SyncRecord, lane: SyncRecordID, progress: Double? = nil) {
        self.record = record
        self.lane = lane
        self.progress = progress
    }
}
