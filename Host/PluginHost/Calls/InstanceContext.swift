import CLarder
import CLinux
import Glibc
import Logging
import Model
import Synchronization

/// The state that a plugin's instance reaches through its `larder_host`: the call under way, and the requests made in
/// it.
///
/// A context is never freed. A plugin that calls the host after its end, or from a thread of its own, therefore gets an
/// error and does not crash. There are as many contexts as instances were made.
///
/// Unchecked: `caller` says which thread is inside a call. Only this thread uses the properties below the mark, from
/// the call's begin to its end, and calls follow each other on the plugin's one thread. The other properties are
/// constant or atomic.
final class InstanceContext: @unchecked Sendable {
    /// The kind of the call under way, which decides which services may be used.
    enum Phase {
        case none, create, control, processor
        /// A call of `explain` of a processor, which changes nothing.
        case processorReading
        /// A call of `process` or `refresh` of an event loop.
        case loop
        /// A call of `poll` or `on_error` of an event loop, which change nothing.
        case loopReading
    }

    /// All contexts. The list shows a search for leaks that none is lost.
    private static let all = Mutex<[InstanceContext]>([])

    let plugin: PluginID
    let log: PluginLog
    let clock: HostClock
    let granted: Set<String>
    /// The services that the config withholds from the plugin.
    private let withheld: Set<String>
    /// What the config grants the plugin beyond services.
    private(set) var grants: Set<PluginSettings.Grant>
    /// Whether the plugin was built with headers of a later version.
    let isNewer: Bool
    /// The implementation of `larder.projects/1`; nil if there is none.
    let projects: (any PluginProjects)?
    /// The files that the plugin may have uploaded; nil if there are none.
    let uploads: (any PluginUploads)?
    let table: UnsafeMutablePointer<larder_host>
    /// What a scripted host makes of the calls; nil for a host that does the work.
    let script: (any CallScript)?
    /// The trace of the calls, whether or not it is wanted now.
    private let possibleTrace: CallTrace
    /// The call under way, if it is traced. Used on the plugin's thread only.
    var traced: TracedCall?
    /// The record in which calls are written before they begin. Used on the plugin's thread only.
    private(set) var record: CallRecord
    /// The number of calls for items in the pass under way. Used on the plugin's thread only.
    private var itemCount = 0
    /// The number of calls since the last look at what they did to the process. Used on the plugin's thread only.
    private var unseenCalls = 0
    /// The thread that is inside a call; 0 if there is none.
    let caller = Atomic<UInt>(0)
    /// A number that rises at each call's begin and end, and is odd inside a call. The watch for hanging calls reads
    /// it.
    let callCount = Atomic<Int>(0)
    let isCancelled = Atomic<Bool>(false)

    // The following properties are used on the plugin's thread only.
    /// The settings' JSON, which stays at its address. It is set before the start.
    private(set) var settings = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    var phase = Phase.none
    var callName: StaticString = ""
    /// The message that the plugin passed to `fail`.
    var failure: String? { didSet { leavesSomething = true } }
    /// The error of the service that the plugin used last in this call, if this service failed.
    var refusal: (service: StaticString, error: ServiceError)? { didSet { leavesSomething = true } }
    /// The services that the plugin asked for although its description does not name them.
    private(set) var undeclared: [String] = []
    /// The grants that the plugin would have needed, about which the log has a line.
    private var lacking: Set<PluginSettings.Grant> = []
    var asked = AskedIntents() { didSet { leavesSomething = true } }
    /// The values that the call wrote, and those that the run wrote before the call: nil for a key that was removed.
    var callValues: [[UInt8]: [UInt8]?] = [:] { didSet { leavesSomething = true } }
    var runValues: [[UInt8]: [UInt8]?] = [:]
    /// The bytes that the plugin's values may take, and a number of bytes that they take at most; nil if it is unknown.
    var valueQuota = PluginSettings.defaultValueQuota
    var valueBound: Int64?
    /// What the values take in the run or turn under way; nil if it did not have to be known exactly.
    var valueRoom: ValueRoom?
    /// The bytes that the plugin's records may take, and a number of bytes that they take at most; nil if it is unknown.
    var recordQuota = PluginSettings.defaultRecordQuota
    var recordBound: Int64?
    /// What the records take as the turn leaves them; nil if it did not have to be known exactly.
    var recordRoom: RecordRoom?
    /// The reason for which a record was refused in the call. The turn then fails, whatever the plugin returns.
    var recordShortage: ServiceError?
    /// The number of policies that the run has added so far, without the call under way.
    var addedPolicies = 0
    var run: (any PluginRun)?
    var kind: PolicyKind?
    /// The turn behind a loop's call, the call's requests, the size of the requests in bytes, and for each record the
    /// index of its last request.
    var turn: (any LoopTurn)?
    var loopAsked: [LoopAsk] = [] { didSet { leavesSomething = true } }
    var turnSize = 0
    var callRecords: [RecordCollection: [RecordKey: Int]] = [:] { didSet { leavesSomething = true } }
    /// The bytes that were taken when the run began, by which all runs have grown so far, and of which the log has told.
    var memoryBefore: Int64 = 0
    var grown: Int64 = 0
    var toldGrowth: Int64 = 0
    private let lentMemory = LentMemory()
    private var slots: [any AnySlot] = []
    /// Whether there is anything to do when the call under way returns. One check instead of one for each of the
    /// properties above saves time, because there is a call for every item.
    private var leavesSomething = false

    init(
        plugin: PluginID, granted: Set<String>, withheld: Set<String> = [], grants: Set<PluginSettings.Grant> = [],
        isNewer: Bool = false, projects: (any PluginProjects)? = nil, uploads: (any PluginUploads)? = nil,
        record: CallRecord, trace: CallTrace = CallTrace(file: nil, feed: nil), script: (any CallScript)? = nil,
        log: PluginLog, clock: HostClock
    ) {
        self.plugin = plugin
        self.granted = granted
        self.withheld = withheld
        self.grants = grants
        self.isNewer = isNewer
        self.projects = projects
        self.uploads = uploads
        self.record = record
        possibleTrace = trace
        self.script = script
        self.log = log
        self.clock = clock
        table = .allocate(capacity: 1)
        table.initialize(to: hostTable(context: Unmanaged.passUnretained(self).toOpaque()))
        Self.all.withLock { $0.append(self) }
    }

    /// Ends the recording of calls, after the instance was destroyed. No call follows.
    func leave() {
        // The context stays, and what only calls need does not.
        kind = nil
        (undeclared, lacking) = ([], [])
        lentMemory.end()
        record = .nowhere
        CallRecord.leave()
    }

    /// Sets the settings that `larder.config/1` returns.
    func configure(_ json: String) {
        let bytes = Array(json.utf8)
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
        _ = copy.initialize(from: bytes)
        settings = UnsafeBufferPointer(rebasing: copy[..<bytes.count])
    }

    /// Grants the plugin something more. No call may be under way.
    func grant(_ grant: PluginSettings.Grant) { grants.insert(grant) }

    /// The trace of the calls; nil if nobody wants it now. May be read on any thread.
    var trace: CallTrace? { possibleTrace.isWanted ? possibleTrace : nil }

    /// Makes a call into the plugin. The memory that the plugin borrowed is freed when the call returns.
    /// - Parameters:
    ///   - name: The name of the call.
    ///   - phase: The kind of the call.
    ///   - subject: The subject of the call, for messages if it does not return.
    ///   - trigger: The trigger that the call belongs to, for the trace.
    ///   - body: The call itself.
    /// - Returns: The status that the plugin returned, and the message that it passed to `fail`.
    func call(
        _ name: StaticString, _ phase: Phase, _ subject: CallSubject = .nothing, _ trigger: Trigger? = nil,
        _ body: () -> larder_status
    ) -> (status: larder_status, message: String?) {
        let isRow = phase == .create || phase == .control
        if isRow { linux_begin_row() }
        script?.begins()
        defer { if isRow { linux_end_row() } }
        let result =
            if let trace {
                tracedCall(name, phase, subject, trigger, in: trace, body)
            } else {
                untracedCall(name, phase, subject, body)
            }
        // The first items of a pass are looked at one by one. Later the look would cost more than the calls.
        unseenCalls &+= 1
        script?.returned(
            ReturnedCall(
                name: name,
                subject: subject.kind == UInt32(LINUX_CALL_ABOUT_NOTHING)
                    ? nil : String(decoding: subject.text, as: UTF8.self),
                status: result.status, isKnown: mayReturn(result.status)))
        if subject.kind == UInt32(LINUX_CALL_ABOUT_ITEM) {
            itemCount &+= 1
            if itemCount > 16, itemCount & 0x7ff != 0, !record.hasForks { return result }
        } else {
            itemCount = 0
        }
        noteHarm(ofCalls: unseenCalls)
        unseenCalls = 0
        return result
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
        if linux_is_fork() != 0 { linux_leave_fork() }
        caller.store(0, ordering: .releasing)
        record.end()
        callCount.store(count &+ 2, ordering: .relaxed)
        self.phase = .none
        return (status, leavesSomething ? takeLeftovers(after: status) : nil)
    }

    /// Passes on the requests of a call that succeeded, and frees the memory that the plugin borrowed.
    /// - Returns: The message that the plugin passed to `fail`; without one the message of a service whose status the
    ///   plugin returned.
    private func takeLeftovers(after status: larder_status) -> String? {
        traceAsked(status)
        if status == LARDER_OK {
            if run != nil, !callValues.isEmpty { runValues.merge(callValues) { _, new in new } }
            addedPolicies += asked.addedPolicies
            if !asked.isEmpty { run?.accept(asked.all, during: callName) }
        }
        if status == LARDER_OK, !loopAsked.isEmpty { turn?.accept(loopAsked) }
        loopAsked.removeAll()
        callRecords.removeAll()
        turnSize = 0
        asked.removeAll()
        valueRoom?.endCall(succeeded: status == LARDER_OK)
        callValues.removeAll()
        lentMemory.free()
        for slot in slots where slot.isOpen { slot.close() }
        // A plugin that only returns a service's status gets the message of this service.
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

    /// Tells whether the plugin may return a status. Of the statuses that later versions add, the host knows that they
    /// are failures.
    func mayReturn(_ status: larder_status) -> Bool { isKnown(status) || isNewer && status < LARDER_OK }

    /// The memory that the plugin may read until the call under way returns.
    var lent: LentMemory {
        leavesSomething = true
        return lentMemory
    }

    /// Records that the plugin asked for a service that it does not get.
    func noteUndeclared(_ name: String) {
        guard !withheld.contains(name), !undeclared.contains(name) else { return }
        undeclared.append(name)
        script?.lacks(name)
        log.write(
            .warning,
            "it asked for the service \(name) and does not get it: "
                + "its description names it neither as required nor as wanted"
        )
    }

    /// Checks that the config grants the plugin something. The log says once how to grant it.
    /// - Throws: `LARDER_DENIED` without the grant.
    func require(_ grant: PluginSettings.Grant) throws(ServiceError) {
        guard !grants.contains(grant) else { return }
        var error = ServiceError(
            LARDER_DENIED,
            "the config does not grant it: it needs `grant: [\(grant.rawValue)]` under `plugins.\(plugin.shortName)`")
        error.isTold = !lacking.insert(grant).inserted
        throw error
    }

    func lend(_ text: String) -> larder_str { lent.lend(text) }

    func lend(_ bytes: [UInt8]) -> larder_bytes { lent.lend(bytes) }

    /// Throws `LARDER_CANCELLED` if the call under way should end.
    func checkCancelled() throws(ServiceError) {
        if isCancelled.load(ordering: .relaxed) || turn?.isCancelled == true {
            throw ServiceError(LARDER_CANCELLED, "")
        }
    }

    /// Returns a closed slot of a kind, for the call under way.
    /// - Parameters:
    ///   - kind: The kind of the slot.
    ///   - isHosts: Whether the host opens the slot and not the plugin.
    /// - Throws: `LARDER_LIMIT` if the plugin has as many slots open as it may.
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

    /// Closes a table that the plugin opened.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the table is not open.
    func close<Table: SlotTable>(_ table: UnsafeMutablePointer<Table>) throws(ServiceError) {
        for case let slot as Slot<Table.Kind> in slots where slot.table == table && slot.isOpen && !slot.isHosts {
            return slot.close()
        }
        throw ServiceError(LARDER_INVALID_ARGUMENT, Table.Kind.notOpenText)
    }
}
