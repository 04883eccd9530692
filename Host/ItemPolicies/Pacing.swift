import Database
import Model
import PluginHost

/// How many more actions a processor with a maximum may ask for, in the course of a run.
struct Pacing {
    /// A record that waits for longer than this takes no room.
    static let longestWait = Duration.seconds(10)

    let reason: DownloadTrigger
    private let maximum: Int
    /// Its records in the journal when they were counted last, and what it asked for since.
    private var live = 0
    private var asked = 0
    /// Whether items were left for lack of room.
    var isPending = false

    /// Nil for a processor without a maximum.
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

    /// Whether so few are under way that another run is worth its while: after each single one it would be as many runs as items.
    var isHalfDone: Bool { live <= maximum / 2 }
}
