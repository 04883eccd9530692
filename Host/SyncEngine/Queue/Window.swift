import DequeModule
import Model

/// The part of the journal that is in memory: what may start next, what is under way, and what waits.
///
/// A value without I/O. It is filled from the journal in the order of the records; what is under way stays when the rest is
/// forgotten and read again.
struct Window {
    /// What a record takes a place of while it is under way.
    enum Budget: Hashable { case downloads, removals }

    private var lanes = Lanes()
    private var ready: [Budget: Deque<Job>] = [:]
    /// Held up by a record before them.
    private var blocked: [SyncRecordID: Job] = [:]
    /// Only in their lanes: they wait for a time, for metadata or for a person.
    private var waiting: Set<SyncRecordID> = []
    /// Started, and taking a place.
    private var underWay: [SyncRecordID: Budget] = [:]
    /// Started, and taking none any more: their results are being handled.
    private var ending: Set<SyncRecordID> = []
    private var used: [Budget: Int] = [:]
    private let limits: [Budget: Int]

    /// - Parameter limits: How many of a kind may be under way; at least one of each.
    init(limits: [Budget: Int]) { self.limits = limits.mapValues { max(1, $0) } }

    func readyCount(_ budget: Budget) -> Int { ready[budget]?.count ?? 0 }
    func underWayCount(_ budget: Budget) -> Int { used[budget] ?? 0 }
    var readyCount: Int { ready.values.reduce(0) { $0 + $1.count } }
    /// Whether nothing was started that is not done.
    var isIdle: Bool { underWay.isEmpty && ending.isEmpty }
    /// How many are started and not done.
    var startedCount: Int { underWay.count + ending.count }

    /// Takes in a record as read from the journal. One that was started is left as it is.
    mutating func add(_ job: Job) {
        guard !lanes.contains(job.id) else { return }
        let isFree = lanes.add(job.id, localID: job.record.localID, path: job.path)
        if job.record.wait != nil {
            waiting.insert(job.id)
        } else if isFree {
            ready[job.record.action.kind.type.budget, default: []].append(job)
        } else {
            blocked[job.id] = job
        }
    }

    /// Takes in a record whose result is at hand already.
    mutating func addEnding(_ job: Job) {
        lanes.add(job.id, localID: job.record.localID, path: job.path)
        ending.insert(job.id)
    }

    /// The next record that may start, if the budget has a place; it is under way from now on.
    mutating func start(_ budget: Budget) -> Job? {
        guard used[budget, default: 0] < limits[budget, default: 1], let job = ready[budget]?.popFirst() else {
            return nil
        }
        underWay[job.id] = budget
        used[budget, default: 0] += 1
        return job
    }

    /// The record was not started after all, and is the next to be.
    mutating func putBack(_ job: Job) {
        leavePlace(job.id)
        ready[job.record.action.kind.type.budget, default: []].prepend(job)
    }

    /// The record takes no place any more, but is not done: what comes after it on its lane still waits.
    mutating func freePlace(_ record: SyncRecordID) {
        leavePlace(record)
        ending.insert(record)
    }

    /// The record is done, or gone from the journal.
    mutating func finish(_ record: SyncRecordID) {
        leavePlace(record)
        ending.remove(record)
        waiting.remove(record)
        blocked[record] = nil
        for freed in lanes.remove(record) {
            guard let next = blocked.removeValue(forKey: freed) else { continue }
            ready[next.record.action.kind.type.budget, default: []].append(next)
        }
    }

    /// The record stays in the journal and goes on later: until the journal is read again it only holds its lane.
    mutating func park(_ record: SyncRecordID) {
        leavePlace(record)
        ending.remove(record)
        waiting.insert(record)
    }

    /// Forgets all that was not started, so that the journal can be read again from its beginning.
    mutating func forgetIdle() {
        let forgotten = ready.values.flatMap { $0.map(\.id) } + blocked.keys + waiting
        ready = [:]
        blocked = [:]
        waiting = []
        for record in forgotten { _ = lanes.remove(record) }
    }

    private mutating func leavePlace(_ record: SyncRecordID) {
        guard let budget = underWay.removeValue(forKey: record) else { return }
        used[budget, default: 1] -= 1
    }
}
