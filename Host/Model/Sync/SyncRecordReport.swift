/// A sync record with its lane and its progress.
public struct SyncRecordReport: Sendable {
    /// The record.
    public var record: SyncRecord
    /// The first record of the record's lane, which is the record itself if nothing comes before it; nil if it was not
    /// looked for.
    public var lane: SyncRecordID?
    /// The part of a download's bytes that is here, or of an upload's that was sent, 0 to 1; nil if that is not known.
    public var progress: Double?

    /// Creates a report.
    public init(record: SyncRecord, lane: SyncRecordID?, progress: Double? = nil) {
        self.record = record
        self.lane = lane
        self.progress = progress
    }
}
