import Database
import LocalTree
import Logging
import Model
import Synchronization
import Threads

/// What the parts of an engine work with: the account's database, tree and server, its rules, and what is kept beside
/// the journal. May be used on any thread.
final class ActionContext: Sendable {
    let account: String
    let database: Database
    let tree: Tree
    let source: any FileSource
    let server: any ChangeServer
    let limits: Limits
    let onConflict: ConflictRules
    /// The limits for plugins' deletions on the server; nil if no number is too many.
    let removalGuard: RemovalGuard?
    let isFirstSinceBoot: Bool
    let clock: HostClock
    /// The clock for waits. No wait becomes longer when the system's clock is set.
    let waitTime: @Sendable () -> Timestamp
    let callbacks: EngineCallbacks
    let logger: Logger
    let controls = Controls()
    let counters = Counters()
    let underWay = UnderWay()
    let followed = FollowedRecords()
    /// The reasons why records wait, for waits that began since the start.
    let reasons = Mutex<[SyncRecordID: Failure]>([:])
    /// The complete files in `incoming/` that the tree did not take, by their records.
    let notTaken = Mutex<[SyncRecordID: Landing]>([:])
    /// The snapshots that uploads do not need any more.
    let spentSnapshots = Mutex<Set<String>>([])
    /// The uploads that the server keeps open and that nobody goes on with.
    let spentUploads = Mutex<[ResumableUpload]>([])
    /// The room for downloads, as it was last measured, which other accounts may share.
    let room: SharedRoom
    /// The executor that puts files in place and takes copies out of the tree, one at a time. It may block on the disk.
    let threads: any TaskExecutor
    /// The executors on which downloads run, in turn.
    let downloadThreads: [any TaskExecutor]

    init(
        account: String, database: Database, tree: Tree, source: any FileSource,
        server: any ChangeServer,
        isFirstSinceBoot: Bool, limits: Limits, room: SharedRoom, onConflict: ConflictRules,
        removalGuard: RemovalGuard?, clock: HostClock, callbacks: EngineCallbacks, logger: Logger
    ) {
        (self.account, self.database, self.tree) = (account, database, tree)
        (self.source, self.server) = (source, server)
        (self.limits, self.onConflict, self.removalGuard) = (limits, onConflict, removalGuard)
        (self.isFirstSinceBoot, self.room, self.callbacks, self.logger) = (isFirstSinceBoot, room, callbacks, logger)
        (self.clock, waitTime) = (clock, clock.steady())
        if let single = Workplace.single {
            (threads, downloadThreads) = (single, [single])
            return
        }
        let arriving = source.downloadThreads
        threads = SerialBlockingExecutor(on: .common)
        downloadThreads = arriving.isEmpty ? [BlockingExecutor.common] : arriving
    }

    // MARK: The rules

    var intake: Intake { Intake(context: self) }
    var records: RecordRules { RecordRules(context: self) }
    var failures: FailureRules { FailureRules(context: self) }
    var copies: CopyRules { CopyRules(context: self) }
    var places: PlaceRules { PlaceRules(context: self) }
    var queue: QueueRules { QueueRules(context: self) }
    var takeBack: TakeBack { TakeBack(context: self) }
    var snapshots: SnapshotRules { SnapshotRules(context: self) }
    var gauge: RoomGauge { RoomGauge(context: self) }
    var deletions: PluginDeletions { PluginDeletions(context: self) }

    func action(_ kind: SyncRecord.Action.Kind) -> any SyncAction {
        switch kind.type {
        case .download: DownloadAction(self)
        case .removal(let type): type.init(self)
        case .change(let type): type.init(self)
        }
    }
}

/// A part of the engine, with short names for what most parts use of the context.
protocol EnginePart: Sendable {
    var context: ActionContext { get }
}

extension EnginePart {
    var database: Database { context.database }
    var tree: Tree { context.tree }
    var clock: HostClock { context.clock }
    var controls: Controls { context.controls }
    var counters: Counters { context.counters }
    var logger: Logger { context.logger }

    func waitTime() -> Timestamp { context.waitTime() }
}
