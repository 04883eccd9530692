import Connection
import Database
import LocalTree
import Model
import Threads

/// The engine at work: reads the journal, starts what may start, and handles what comes back.
///
/// All of its state belongs to the one task that calls ``run(draining:)``; what takes long runs in child tasks, whose results
/// come back as events. No more than one child task at a time reads the journal, and one works in the tree. What a child
/// throws ends the run.
struct EngineLoop {
    enum Event: Sendable {
        case rang, tick
        /// Some downloads have ended.
        case gathered
        /// A worker has nothing to do any more.
        case left
        case settled(Settlement)
        case read(JournalPage)
        case landed([Fetched], LandingOutcome)
        case removed([Settlement])
        case relisted
        /// The journal could not be read.
        case unread(Failure)
        /// What follows for a record could not be written down; it is as it was.
        case unsettled(Failure, record: Int64)
    }

    typealias Children = ThrowingTaskGroup<Event, any Error>

    let engine: SyncEngine
    /// The records that are worked at; nil: all.
    let only: Set<Int64>?
    var window: Window
    let crew: FetchCrew
    var health: ServerHealth

    // The journal.
    var cursor: Int64 = 0
    var isReading = false
    /// Records that ended since the page that is being read was begun, and may still stand on it.
    var endedWhileReading: Set<Int64> = []
    var isExhausted = false
    /// The same for removals, which are read ahead of downloads.
    var removalCursor: Int64 = 0
    var hasAllRemovals = false
    /// When records that were started are marked so even if the journal is not read for another reason.
    var marksAt: Timestamp?
    /// When a waiting record may go on.
    var nextWait: Timestamp?

    // What goes into the tree.
    var arrivals = Arrivals()
    var placed: [Placed] = []
    /// When the items of placed files say so even if no other batch comes.
    var completesAt: Timestamp?
    /// From when on the looks of placed files are proof of their content.
    var settlesAt: Timestamp?
    var isLanding = false
    /// Whether the landing under way completes what is in place.
    var isCompleting = false
    /// Whether the last try to put files in place, or to complete those that are, failed on the disk.
    var isLandingStuck = false

    // Folders to be listed again, with the records that wait for it.
    var relisting: [ItemPath: [Int64]] = [:]
    var isRelisting = false

    /// When the next tick comes.
    var armed: Timestamp?

    init(engine: SyncEngine, only: Set<Int64>? = nil) {
        self.engine = engine
        self.only = only
        let downloads = max(1, engine.limits.downloads)
        window = Window(limits: [.downloads: downloads + Self.handedAhead, .actions: Self.removalsAtOnce])
        crew = FetchCrew(workers: downloads, threads: engine.downloadThreads.count)
        health = ServerHealth(backoff: SyncEngine.backoff, downloads: engine.limits.downloads)
    }

    /// Removals are local and done one after the other; this many share a transaction, as many as a plugin's run asks for in one.
    static let removalsAtOnce = 1_000
    /// So many downloads are handed out beyond those under way: more than end while others gather.
    static let handedAhead = 256
    /// How long a download that has ended waits for others before the loop looks at them.
    static let gathering = Duration.milliseconds(20)

    /// - Parameter draining: Ends when nothing is left that can go on within ``SyncEngine/drainPatience``; otherwise only when
    ///   the task is cancelled.
    static func run(_ engine: SyncEngine, draining: Bool, only: Set<Int64>? = nil) async throws -> DrainOutcome {
        var loop = EngineLoop(engine: engine, only: only)
        if !engine.controls.with({ $0.isTidy }) {
            for landing in try await engine.recover() { loop.takeUp(landing) }
        }
        engine.controls.with { $0.isTidy = false }
        try await withThrowingTaskGroup(of: Event.self) { children in
            defer { children.cancelAll() }
            loop.listen(&children)
            loop.gather(&children)
            while !Task.isCancelled {
                loop.pump(&children)
                if draining, loop.isDrained { return }
                guard let event = try await children.next() else { return }
                // What a cancelled task brings back is no result.
                if !Task.isCancelled { loop.handle(event, &children) }
            }
        }
        let isTidy = loop.arrivals.isEmpty && loop.placed.isEmpty && loop.window.isIdle && !Task.isCancelled
        engine.controls.with { $0.isTidy = isTidy }
        return try await loop.outcome()
    }

    private func listen(_ children: inout Children) {
        children.addTask { [bell = engine.controls.bell] in
            await bell.wait()
            return .rang
        }
    }

    private func gather(_ children: inout Children) {
        children.addTask { [bell = crew.bell, clock = engine.clock] in
            await bell.wait()
            // Ends early when all is over.
            do { try await clock.sleep(Self.gathering) } catch { return .gathered }
            return .gathered
        }
    }

    private mutating func handle(_ event: Event, _ children: inout Children) {
        switch event {
        case .rang: listen(&children)
        case .tick: armed = nil
        case .gathered: gather(&children)
        case .left: break
        case .settled(let settlement): settled(settlement)
        case .read(let page): read(page)
        case .landed(let batch, let outcome): landed(batch, outcome)
        case .removed(let settlements):
            isLanding = false
            for settlement in settlements { settled(settlement) }
        case .relisted:
            isRelisting = false
            engine.controls.with { $0.isStale = true }
        case .unread(let failure):
            isReading = false
            engine.controls.with { $0.isStale = true }
            health.failed(.disk(failure), record: 0, now: engine.waitTime())
        case .unsettled(let failure, let record):
            window.park(record)
            health.failed(.disk(failure), record: record, now: engine.waitTime())
        }
    }
}
