import Model

/// The outcome of a record that was started.
struct RecordOutcome: Sendable {
    enum Resolution: Sendable {
        /// Done, or gone from the journal.
        case ended
        /// In the journal, waiting until a time, or for a person if the time is nil.
        case waits(until: Timestamp?)
        /// In the journal, ready as soon as the hold on all records is over.
        case putBack
        /// In the journal, with a folder that must be listed again.
        case relist(ItemPath)
        /// In the journal, and out of date in memory.
        case stale
    }

    var record: SyncRecordID
    var resolution: Resolution
    /// The reason why the record is not done.
    var failure: Failure?

    /// Whether the record has left the journal.
    var isEnded: Bool { if case .ended = resolution { true } else { false } }
}
