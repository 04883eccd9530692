import CLarder
import Glibc
import Logging
import Model
import Synchronization

/// What a plugin's instance reaches through its `larder_host`: the call under way, and what was asked for in it.
///
/// It is never freed, so that a plugin that calls the host after its end, or from a thread of its own, is refused and not a
/// crash. There are as many as instances were made.
///
/// Unchecked: `caller` says which thread is inside a call. Everything below the mark is touched by that thread alone, from
/// the call's begin to its end, and calls follow each other on the plugin's one thread; the rest is constant or atomic.
final class InstanceContext: @unchecked Sendable {
    /// What kind of call is under way, which decides what may be asked.
    enum Phase {
        case none, create, control, processor
        /// In process and refresh of an event loop.
        case loop
        /// In poll and on_error, which change nothing.
        case loopReading
    }

    let plugin: PluginID
    let log: PluginLog
    let clock: HostClock
    let granted: Set<String>
    /// What the config does not let it have.
    private let withheld: Set<String>
    /// Whether the plugin was built with headers of a later version.
    let isNewer: Bool
    /// What stands behind `larder.projects/1`; nil: nothing.
    let projects: (any PluginProjects)?
    let table: UnsafeMutablePointer<larder_host>
    /// Nil: calls have no lines.
    let trace: TraceWriter?
    /// The call under way, if it has lines. The plugin's thread's own.
    var traced: TracedCall?
    /// Where calls are written down before they begin. The plugin's thread's own.
    private(set) var record: CallRecord
    /// The thread that is inside a call, 0: none.
    let caller = Atomic<UInt>(0)
    /// Rises at each call's begin and end: odd inside a call. Whoever watches for hanging calls reads it.
    let callCount = Atomic<Int>(0)
    let isCancelled = Atomic<Bool>(false)

    // The plugin's thread's own.
    /// The settings' JSON, which stays where it is; set before start.
    private(set) var settings = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    var phase = Phase.none
    var callName: StaticString = ""
    /// What the plugin said with `fail`.
    var failure: String? { didSet { leavesSomething = true } }
    /// Why the service that the plugin called last in this call did not do what it was asked.
    var refusal: (service: StaticString, error: ServiceError)? { didSet { leavesSomething = true } }
    /// Services that it asked for, and that its description does not name.
    private(set) var undeclared: [String] = []
    var asked: [Intent] = [] { didSet { leavesSomething = true } }
    /// What the call, and the run before it, wrote: nil for a key that was removed.
    var callValues: [[UInt8]: [UInt8]?] = [:] { didSet { leavesSomething = true } }
    var runValues: [[UInt8]: [UInt8]?] = [:]
    var run: (any PluginRun)?
    var kind: PolicyKind?
    /// What stands behind a loop's call, what the call asked for, how much that is, and which of it was last about each record.
    var turn: (any LoopTurn)?
    var loopAsked: [LoopAsk] = [] { didSet { leavesSomething = true } }
    var turnSize = 0
    var callRecords: [RecordCollection: [RecordKey: Int]] = [:] { didSet { leavesSomething = true } }
    private let lentMemory = LentMemory()
    private var slots: [any AnySlot] = []
    /// Whether there is anything to do when the call under way returns: one look instead of one at each of the above, since
    /// there is a call for every item.
    private var leavesSomething = false

    init(
        plugin: PluginID, granted: Set<String>, withheld: Set<String> = [], isNewer: Bool = false,
        projects: (any PluginProjects)? = nil, record: CallRecord, trace: TraceWriter? = nil, log: PluginLog,
        clock: HostClock
    ) {
        self.plugin = plugin
        self.granted = granted
        self.withheld = withheld
        self.isNewer = isNewer
        self.projects = projects
        self.record = record
        self.trace = trace
        self.log = log
        self.clock = clock
        table = .allocate(capacity: 1)
        table.initialize(to: hostTable(context: Unmanaged.passRetained(self).toOpaque()))
    }

    /// The instance was destroyed: no call follows, and its thread writes none down.
    func leave() {
        record = .nowhere
        CallRecord.leave()
    }

    /// Sets what `larder.config/1` hands out.
    func configure(_ json: String) {
        let bytes = Array(json.utf8)
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
        _ = copy.initialize(from: bytes)
        settings = UnsafeBufferPointer(rebasing: copy[..<bytes.count])
    }

    /// Makes a call into the plugin. What it borrowed is given back when it returns.
    /// - Parameter subject: what it is about, for whoever finds that it did not return.
    /// - Returns: what the plugin returned, and what it said with `fail`.
    func call(
        _ name: StaticString, _ phase: Phase, _ subject: CallSubject = .nothing, _ trigger: Trigger? = nil,
        _ body: () -> larder_status
    ) -> (status: larder_status, message: String?) {
        guard let trace else { return untracedCall(name, phase, subject, body) }
        return tracedCall(name, phase, subject, trigger, in: trace, body)
    }

    @inline(__always)
    func untracedCall(
        _ name: StaticString, _ phase: Phase, _ subject: CallSubject, _ body: () -> larder_status
    ) -> (status: larder_status, message: String?) {
        self.phase = phase
        callName = name
        record.begin(name, subject)
        // No other thread writes the count.
        let count = callCount.load(ordering: .relaxed)
        callCount.store(count &+ 1, ordering: .releasing)
        caller.store(UInt(pthread_self()), ordering: .releasing)
        let status = body()
        caller.store(0, ordering: .releasing)
        record.end()
        callCount.store(count &+ 2, ordering: .relaxed)
        self.phase = .none
        return (status, leavesSomething ? takeLeftovers(after: status) : nil)
    }

    /// Hands on what a call that returned well asked for, and gives back what it borrowed.
    /// - Returns: what it said with `fail`.
    private func takeLeftovers(after status: larder_status) -> String? {
        traceAsked(status)
        if status == LARDER_OK {
            if run != nil, !callValues.isEmpty { runValues.merge(callValues) { _, new in new } }
            if !asked.isEmpty { run?.accept(asked, during: callName) }
        }
        if status == LARDER_OK, !loopAsked.isEmpty { turn?.accept(loopAsked) }
        loopAsked.removeAll()
        callRecords.removeAll()
        turnSize = 0
        asked.removeAll(keepingCapacity: true)
        callValues.removeAll()
        lentMemory.free()
        for slot in slots where slot.isOpen { slot.close() }
        // Who only hands on a service's status has that service's words.
        let said =
            failure
            ?? refusal.flatMap { refusal in
                let isHandedOn = status != LARDER_OK && refusal.error.status == status && !refusal.error.message.isEmpty
                return isHandedOn ? "\(refusal.service): \(refusal.error.message)" : nil
            }
        failure = nil
        refusal = nil
        leavesSomething = false
        return said
    }

    /// Whether a status is one that the plugin may return. Of those that later versions add the host knows that they are failures.
    func mayReturn(_ status: larder_status) -> Bool { isKnown(status) || isNewer && status < LARDER_OK }

    /// Memory that the plugin may read until the call under way returns.
    var lent: LentMemory {
        leavesSomething = true
        return lentMemory
    }

    /// The plugin asked for a service that it does not get.
    func noteUndeclared(_ name: String) {
        guard !withheld.contains(name), !undeclared.contains(name) else { return }
        undeclared.append(name)
        log.write(
            .warning,
            "it asked for the service \(name) and does not get it: its description names it neither as required nor as wanted"
        )
    }

    func lend(_ text: String) -> larder_str { lent.lend(text) }

    func lend(_ bytes: [UInt8]) -> larder_bytes { lent.lend(bytes) }

    /// Throws if the call under way should end.
    func checkCancelled() throws(ServiceError) {
        if isCancelled.load(ordering: .relaxed) || turn?.isCancelled == true {
            throw ServiceError(LARDER_CANCELLED, "")
        }
    }

    /// A slot of a kind that nothing is open in, for the call under way.
    /// - Parameter isHosts: whether the host opens it, not the plugin.
    /// - Throws: if the plugin has as many open as it may.
    func slot<Kind: SlotKind>(of kind: Kind.Type, isHosts: Bool = false) throws(ServiceError) -> Slot<Kind> {
        leavesSomething = true
        let alike = slots.compactMap { $0 as? Slot<Kind> }
        guard isHosts || alike.count(where: { $0.isOpen && !$0.isHosts }) < Kind.most else {
            throw ServiceError(LARDER_LIMIT, Kind.tooManyText)
        }
        let slot: Slot<Kind>
        if let free = alike.first(where: { !$0.isOpen }) {
            slot = free
        } else {
            slot = Slot(owner: self)
            slots.append(slot)
        }
        slot.isHosts = isHosts
        return slot
    }

    /// Closes what the plugin opened.
    /// - Throws: if it is not open.
    func close<Table: SlotTable>(_ table: UnsafeMutablePointer<Table>) throws(ServiceError) {
        for case let slot as Slot<Table.Kind> in slots where slot.table == table && slot.isOpen && !slot.isHosts {
            return slot.close()
        }
        throw ServiceError(LARDER_INVALID_ARGUMENT, Table.Kind.notOpenText)
    }
}
