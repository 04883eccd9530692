import Database
import Model
import PluginHost

/// A count of the actions that a processor with a maximum of records may still request during a run.
struct Pacing {
    /// A record that waits for longer than this time takes no room.
    static let longestWait = Duration.seconds(10)

    let reason: DownloadTrigger
    private let maximum: Int
    /// The number of the processor's records in the journal at the last count.
    private var live = 0
    /// The number of actions requested since the last count.
    private var asked = 0
    /// Whether items were left for lack of room.
    var isPending = false

    /// Creates the count; nil for a processor without a maximum.
    init?(_ processor: PolicyProcessor) {
        guard let maximum = processor.instance.maximumRecords else { return nil }
        self.maximum = maximum
        reason = DownloadTrigger(of: processor.plugin)
    }

    mutating func count(in reads: some DatabaseReads, now: Timestamp) throws {
        live = try reads.journal.liveCount(reason: reason, waitingUntil: now + Self.longestWait)
        asked = 0
    }

    mutating func ask(_ actions: Int) { asked += actions }

    func hasRoom(besides actions: Int = 0) -> Bool { live + asked + actions < maximum }

    /// Whether few enough records are in progress to make another run worthwhile. A run after each single record would
    /// make as many runs as there are items.
    var isHalfDone: Bool { live <= maximum / 2 }
}
