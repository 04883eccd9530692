import DequeModule
import Model

/// The numbers of uploads that it helps to have on the network at the same time.
struct UploadsAtOnce: Hashable, Sendable {
    var small = Limits.mostByItself
    var large = Limits.mostByItself
    /// Whether small files go in batches, which take turns on the network by themselves.
    var inBatches = false

    /// The number of uploads that may be under way. An upload of a small file spends about half of its time with the steps
    /// before and after its request.
    var all: Int { 2 * small + large }
}

/// The part of the journal that is in memory: records that may start next, that are under way, and that wait.
///
/// A window is a value without I/O. It is filled from the journal in the order of the records. Records that are under
/// way stay when the other records are forgotten and read again.
struct Window {
    /// The budget of which a record takes a place while the record is under way.
    enum Budget: Hashable { case downloads, removals, changes, uploads }

    private var lanes = Lanes()
    private var ready: [Budget: Deque<Job>] = [:]
    /// The records that are held up by a record before them.
    private var blocked: [SyncRecordID: Job] = [:]
    /// The records that are only in their lanes: they wait for a time, for metadata or for a person.
    private var waiting: Set<SyncRecordID> = []
    /// The started records that take a place.
    private var underWay: [SyncRecordID: Budget] = [:]
    /// The started records that no longer take a place: their results are being handled.
    private var ending: Set<SyncRecordID> = []
    private var used: [Budget: Int] = [:]
    /// The large files among the uploads under way.
    private var largeUploads: Set<SyncRecordID> = []
    /// The uploads under way that can go in batches, if uploads do. They take no place.
    private var batchedUploads: Set<SyncRecordID> = []
    private let limits: [Budget: Int]
    /// The numbers of uploads that it helps to have under way.
    var uploads = UploadsAtOnce()

    /// Creates an empty window.
    /// - Parameter limits: The number of records of each budget that may be under way, at least one of each.
    init(limits: [Budget: Int]) { self.limits = limits.mapValues { max(1, $0) } }

    func readyCount(_ budget: Budget) -> Int { ready[budget]?.count ?? 0 }
    func underWayCount(_ budget: Budget) -> Int { used[budget] ?? 0 }
    var readyCount: Int { ready.values.reduce(0) { $0 + $1.count } }
    /// Whether every record that was started is done.
    var isIdle: Bool { underWay.isEmpty && ending.isEmpty }
    /// The number of records that were started and are not done.
    var startedCount: Int { underWay.count + ending.count }

    /// Tells whether a record is in the window.
    func contains(_ record: SyncRecordID) -> Bool { lanes.contains(record) }

    /// Tells whether a record about an item, at a path, would have to wait for a record of the window.
    func holdsUp(_ item: LocalID, at path: ItemPath) -> Bool { lanes.holdUp(item, at: path) }

    /// Adds a record as read from the journal. Leaves a record that is already in a lane as it is.
    /// - Parameter isHeld: Whether the record waits for something outside of the window until the journal is read again.
    mutating func add(_ job: Job, isHeld: Bool = false) {
        guard !lanes.contains(job.id) else { return }
        let isFree = addLane(job)
        if isHeld || job.record.wait != nil {
            waiting.insert(job.id)
        } else if isFree {
            ready[job.record.action.kind.budget, default: []].append(job)
        } else {
            blocked[job.id] = job
        }
    }

    /// Adds a record whose result is already known.
    mutating func addEnding(_ job: Job) {
        addLane(job)
        ending.insert(job.id)
    }

    @discardableResult
    private mutating func addLane(_ job: Job) -> Bool {
        lanes.add(
            job.id, localID: job.record.localID, path: job.path, otherPath: job.record.action.otherPath)
    }

    /// Starts the next record, if the budget has a free place. The record is under way from then on. Of the places of
    /// uploads some are left to small files; the pool of downloads does the same for those.
    /// - Parameter batches: Whether uploads that go in batches may start.
    mutating func start(_ budget: Budget, batches: Bool = true) -> Job? {
        let places = min(limits[budget, default: 1], budget == .uploads ? uploads.all : .max)
        let hasPlace = used[budget, default: 0] - batchedUploads.count < places
        let takesBatched =
            budget == .uploads && batches && uploads.inBatches
            && batchedUploads.count < BatchUpload.handedAhead
        guard let next = nextIndex(budget, places, hasPlace: hasPlace, takesBatched: takesBatched),
            let job = ready[budget]?.remove(at: next)
        else { return nil }
        underWay[job.id] = budget
        used[budget, default: 0] += 1
        if budget == .uploads, job.sizeClass == .large { largeUploads.insert(job.id) }
        if budget == .uploads, uploads.inBatches, BatchUpload.isOrdinary(job.record) { batchedUploads.insert(job.id) }
        return job
    }

    private func nextIndex(_ budget: Budget, _ places: Int, hasPlace: Bool, takesBatched: Bool) -> Int? {
        guard hasPlace || takesBatched, let jobs = ready[budget], let first = jobs.first else { return nil }
        guard budget == .uploads else { return jobs.startIndex }
        let takesLarge = largeUploads.count < min(uploads.large + 1, SizeClass.mostLarge(of: places))
        func mayStart(_ job: Job) -> Bool {
            if uploads.inBatches, BatchUpload.isOrdinary(job.record) { return takesBatched }
            return hasPlace && (takesLarge || job.sizeClass == .small)
        }
        // Far behind others, a record waits until it is nearer.
        return mayStart(first) ? jobs.startIndex : jobs.prefix(BatchUpload.most).firstIndex(where: mayStart)
    }

    /// Whether there is room for a whole batch of uploads.
    var hasRoomForBatch: Bool { batchedUploads.count <= BatchUpload.handedAhead - BatchUpload.most }

    /// Puts back a record that was not started after all. It will be the next record to start.
    mutating func putBack(_ job: Job) {
        leavePlace(job.id)
        ready[job.record.action.kind.budget, default: []].prepend(job)
    }

    /// Frees the place of a record that is not done. The records behind it on its lane still wait.
    mutating func freePlace(_ record: SyncRecordID) {
        leavePlace(record)
        ending.insert(record)
    }

    /// Removes a record that is done or gone from the journal.
    /// - Returns: Whether a download may start that waited behind the record. Since the record may have made another
    ///   version, or a copy, the download is to be read again first.
    @discardableResult
    mutating func finish(_ record: SyncRecordID) -> Bool {
        leavePlace(record)
        ending.remove(record)
        waiting.remove(record)
        blocked[record] = nil
        var freesDownload = false
        for freed in lanes.remove(record) {
            guard let next = blocked.removeValue(forKey: freed) else { continue }
            let budget = next.record.action.kind.budget
            ready[budget, default: []].append(next)
            freesDownload = freesDownload || budget == .downloads
        }
        return freesDownload
    }

    /// Parks a record that stays in the journal and goes on later. The record only holds its lane until the journal is
    /// read again.
    mutating func park(_ record: SyncRecordID) {
        leavePlace(record)
        ending.remove(record)
        waiting.insert(record)
    }

    /// Forgets all records that were not started, so that the journal can be read again from its beginning.
    mutating func forgetIdle() {
        let forgotten = ready.values.flatMap { $0.map(\.id) } + blocked.keys + waiting
        ready = [:]
        blocked = [:]
        waiting = []
        for record in forgotten { _ = lanes.remove(record) }
    }

    private mutating func leavePlace(_ record: SyncRecordID) {
        guard let budget = underWay.removeValue(forKey: record) else { return }
        largeUploads.remove(record)
        batchedUploads.remove(record)
        used[budget, default: 1] -= 1
    }
}
