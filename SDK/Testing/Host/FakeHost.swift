import CLarder
import LarderFakeHost
import Logging
import Model
import PluginHost
import Synchronization

/// The state behind a `larder_fake`: what the test put on the stage, the plugin that is started, and the record of what
/// happened.
///
/// The rules are those of the host, whose code makes the calls and answers them. This type and the ones around it stand
/// in for the account: its items, policies, records, projects and its server.
///
/// Unchecked: all functions are for one thread at a time, that of the test.
final class FakeHost: CallScript, @unchecked Sendable {
    /// All hosts. A plugin may use its table of the host after its end, so that nothing behind it is ever freed.
    private static let all = Mutex<[FakeHost]>([])

    let library: ScriptedLibrary?
    private(set) var problem: String?
    /// What the test borrows until the next run, turn or `forget`.
    let lent = Arena()
    /// The text of the last explanation.
    let explanation = Arena()
    var journal = Journal()

    // The stage.
    var settings = "{}"
    var now = Timestamp(nanoseconds: 0)
    var monotonic = Duration.zero
    var usage = PluginUsage(localBytes: 0, localCopies: 0, freeBytes: 0, totalBytes: 0)
    var items = Kept<LocalID, FakeItem>()
    var policies = Kept<PolicyID, ItemPolicy>()
    var values: [[UInt8]: [UInt8]] = [:]
    var records = FakeRecordStore()
    var eventIDs: [String: EventID] = [:]
    /// The loops whose last page had the same event id as the one before, and said that there is more.
    var repeating: Set<String> = []
    var withheld: Set<String> = []
    var grants: Set<PluginSettings.Grant> = []
    var isCancelled = false
    /// The test's own evaluation of conditions; nil for the condition language.
    var evaluator: ((larder_str, UnsafePointer<larder_item>) -> Bool)?
    var lending: Lending = []
    var isReversed = false
    let server = FakeServer()
    private(set) lazy var projects = FakeProjects(self)
    private var faults: [Fault] = []
    /// The functions of services that the plugin called.
    private(set) var called: Set<String> = []
    /// The number of calls into the plugin that returned.
    private(set) var returnedCalls: UInt64 = 0
    /// The longest call since its times are taken; nil if they are not.
    var longestCall: Duration?
    private var beginning = Duration.zero
    /// The refused calls of threads on which no call into the plugin is under way, as the mistakes that they are.
    private let strays = Mutex<[String]>([])

    // The plugin.
    private(set) var instance: PluginInstance?
    private(set) var plugin = PluginID("")
    /// Whether the policies changed since the plugin got them.
    var policiesChanged = true
    /// Whether the page of the last turn said that there is more.
    var hasMore = false
    /// The loop of the turn under way.
    var loop = ""
    /// The number of `CALL` entries of the calls that say no number of their own.
    var number: UInt32 = 0
    /// The first failure of the run under way.
    var firstFailure = LARDER_OK
    /// The status of the call that failed while the plugin was created and started.
    private var startStatus = LARDER_OK
    /// The status that the plugin returned last.
    var lastStatus = LARDER_OK

    private struct Fault {
        var function: String
        /// The calls until the fault; nil for every call.
        var left: UInt32?
        var status: larder_status
    }

    init(_ open: () throws(ScriptedLibrary.NotStarted) -> ScriptedLibrary) {
        do throws(ScriptedLibrary.NotStarted) { library = try open() } catch {
            library = nil
            problem = error.reason
        }
        Self.all.withLock { $0.append(self) }
    }

    /// Stops the plugin and forgets everything.
    func close() {
        stop()
        projects.remove()
        (items, policies) = (Kept(), Kept())
        (values, records, eventIDs) = ([:], FakeRecordStore(), [:])
        journal.forget()
        server.forget()
        for arena in [lent, explanation] { arena.free() }
    }

    // MARK: The plugin's life

    /// - Parameter asksAnyway: Whether the plugin is started though it does not get a service that it requires.
    func start(_ id: PluginID, asksAnyway: Bool = false) -> larder_status {
        guard let library, instance == nil else { return LARDER_WRONG_STATE }
        problem = nil
        startStatus = LARDER_OK
        var account = AccountEnvironment(
            name: "test", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock,
            projects: projects, uploads: projects)
        account.script = self
        do throws(ScriptedLibrary.NotStarted) {
            instance = try library.start(
                id, settings: settings, withheld: withheld, grants: grants, for: account,
                asksAnyway: asksAnyway)
        } catch {
            problem = error.reason
            return startStatus == LARDER_OK ? error.status : startStatus
        }
        plugin = id
        policiesChanged = true
        if isCancelled { instance?.askToEnd() }
        return LARDER_OK
    }

    func stop() {
        instance.take()?.stopHere()
    }

    func cancel() {
        isCancelled = true
        instance?.askToEnd()
    }

    private var clock: HostClock {
        HostClock(
            now: { self.now }, monotonic: { self.monotonic },
            sleep: { _ in throw Failure(.internal, "The fake host has no time to wait") })
    }

    // MARK: The stage

    func put(_ policy: ItemPolicy) {
        policies.put(policy, policy.id)
        policiesChanged = true
    }

    func dropPolicy(_ id: PolicyID) {
        policies.remove(id)
        policiesChanged = true
    }

    func addFault(in function: String, nth: UInt32, _ status: larder_status) {
        faults.append(Fault(function: function, left: nth == 0 ? nil : nth, status: status))
    }

    func failure(of function: String) -> larder_status? {
        for index in faults.indices where faults[index].function == function {
            guard let left = faults[index].left else { return faults[index].status }
            guard left > 0 else { continue }
            faults[index].left = left - 1
            if left == 1 { return faults[index].status }
        }
        return nil
    }

    // MARK: The script of the calls

    var policyGrowth: Int { lending.contains(.larger) ? 64 : 0 }

    func failure(of service: StaticString) -> larder_status? {
        let function = Self.function(service)
        called.insert(function)
        return faults.isEmpty ? nil : failure(of: function)
    }

    func refused(_ service: StaticString, _ status: larder_status) {
        let function = Self.function(service)
        switch status {
        case LARDER_WRONG_THREAD: return strays.withLock { $0.append(function) }
        case LARDER_INVALID_ARGUMENT, LARDER_LIMIT, LARDER_WRONG_STATE: break
        // What the config does not grant is an answer.
        case LARDER_DENIED where function.hasPrefix("records.") || function.hasPrefix("http."): break
        default: return
        }
        journal.mistake(function, status)
    }

    /// Adds the mistakes of other threads to the record.
    func addStrays() {
        let strays = strays.withLock { strays in
            defer { strays = [] }
            return strays
        }
        for function in strays { journal.mistake(function, LARDER_WRONG_THREAD) }
    }

    func lacks(_ service: String) { journal.mistake("extension", LARDER_DENIED, text: service) }

    func said(_ level: UInt32, _ text: String) {
        journal.add(LARDER_FAKE_LOG, Journal.Entry(name: "write", number: level, text: text))
    }

    func failed(_ status: larder_status, because reason: String) {
        journal.add(LARDER_FAKE_FAILURE, Journal.Entry(name: "fail", status: status, text: reason))
    }

    func begins() { if longestCall != nil { beginning = LentTime.now } }

    func returned(_ call: ReturnedCall) {
        lastStatus = call.status
        returnedCalls += 1
        if let longest = longestCall { longestCall = max(longest, LentTime.now - beginning) }
        if "\(call.name)" == "create" || "\(call.name)" == "start" { startStatus = call.status }
        let name = Self.names["\(call.name)"] ?? "\(call.name)"
        // The host refuses a text that is not UTF-8.
        let isBadText = call.status == LARDER_INVALID_ARGUMENT && Self.ofTexts.contains(name)
        if !call.isKnown || isBadText { journal.mistake(name, call.status) }
        // The functions that a run calls for a text have no entry, but may fail.
        if Self.ofTexts.contains(name), firstFailure == LARDER_OK { firstFailure = call.status }
        guard Self.recorded.contains(name) else { return }
        var entry = Journal.Entry(name: name, number: number, status: call.status)
        if Self.ofLoops.contains(name) {
            entry.id = loop
        } else {
            entry.path = call.subject.flatMap { $0.isEmpty ? nil : $0 }
            if firstFailure == LARDER_OK { firstFailure = call.status }
        }
        journal.add(LARDER_FAKE_CALL, entry)
    }

    /// The functions of the ABI for the names of calls that differ from them.
    private static let names = [
        "updatePolicies": "update_policies", "performPreflightOnPolicies": "preflight",
        "willEnterTrigger": "will_enter_trigger", "beginMatching": "begin_matching",
        "performAction": "perform_action", "endMatching": "end_matching", "beginCleanup": "begin_cleanup",
        "performCleanup": "perform_cleanup", "endCleanup": "end_cleanup", "didPassTrigger": "did_pass_trigger",
        "policyCondition": "policy_condition", "matchCondition": "match_condition",
        "cleanupCondition": "cleanup_condition", "onError": "on_error", "releasePage": "release_page",
    ]
    /// The calls that return a text.
    private static let ofTexts: Set<String> = [
        "policy_condition", "match_condition", "cleanup_condition", "explain",
    ]
    private static let ofLoops: Set<String> = ["poll", "process", "refresh", "on_error", "release_page"]
    /// The calls that have an entry.
    private static let recorded = ofLoops.union([
        "update_policies", "preflight", "will_enter_trigger", "begin_matching", "perform_action", "end_matching",
        "begin_cleanup", "perform_cleanup", "end_cleanup", "did_pass_trigger", "explain",
    ])

    private static func function(_ service: StaticString) -> String {
        let name = "\(service)"
        return name.hasPrefix("host.") ? String(name.dropFirst(5)) : name
    }
}
