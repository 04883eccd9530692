import CLarder
import CLinux
import Logging
public import Model
import Synchronization
import Threads

/// An instance of one plugin, at work for one account.
///
/// Unchecked: the properties never change, except the pages, which are used on the plugin's own thread only, on which
/// all calls are made. The tables are copies, and the memory of the library that they point to stays.
public final class PluginInstance: @unchecked Sendable {
    /// The plugin's id.
    public let plugin: PluginID
    /// The kind of the policies that the plugin's processor is for; nil if the plugin processes no items.
    public let kind: PolicyKind?
    let account: AccountEnvironment
    /// The plugin's thread; nil if the calls are made on the caller's thread.
    let thread: SerialThread?
    let context: InstanceContext
    let log: PluginLog
    let processor: larder_item_policy_processor?
    /// What the processor says of items; nil if it says nothing of its own.
    let explainer: larder_explain?
    let eventLoop: larder_event_loop?
    /// The properties of the plugin's event loops; nil if it has none.
    public let loops: LoopOffer?
    /// The plugin's settings that the host follows too.
    public let heeded: HeededSettings
    /// The values of settings that the config leaves out.
    let settingDefaults: JSONValue
    /// The schema of the settings: a JSON object.
    let schema: JSONValue
    /// The pages that are not given back yet. Used on the plugin's thread.
    private(set) var pages: [Int: larder_event_page] = [:]
    private var pageCount = 0
    private let table: larder_instance
    /// The task that waits for the end of the call under way after ``cancel()``.
    private let giving = Mutex<Task<Void, Never>?>(nil)
    private let gaveUp = Mutex<CallNote?>(nil)

    /// Makes an instance and asks for its extensions, before the instance is started. Must be called on the plugin's
    /// thread.
    /// - Parameters:
    ///   - description: The plugin's description.
    ///   - library: The plugin's library.
    ///   - settings: The plugin's settings in the config, a JSON object.
    ///   - overrides: What is different for accounts, by the accounts' names. It is only checked.
    ///   - withheld: The services that the plugin does not get.
    ///   - grants: What the plugin may do beyond its services.
    ///   - thread: The plugin's thread.
    ///   - account: The account for which the instance works.
    ///   - record: The record of the call under way; nil if no record outlives the process.
    init(
        _ description: PluginLibrary.Description, in library: PluginLibrary, settings: String,
        overrides: [String: PluginOverride] = [:], withheld: Set<String> = [], grants: Set<PluginSettings.Grant> = [],
        thread: SerialThread?,
        account: AccountEnvironment, record: CallRecord? = nil
    ) throws(Refusal) {
        plugin = description.id
        self.thread = thread
        self.account = account
        log = PluginLog(
            plugin: plugin, account: account.name, logger: account.logger, clock: account.clock, noted: account.noted)
        context = InstanceContext(
            plugin: plugin, granted: Set(description.required + description.wanted).subtracting(withheld),
            withheld: withheld, grants: grants, isNewer: library.module.abi_minor > UInt32(LARDER_ABI_MINOR),
            projects: account.projects, uploads: account.uploads,
            record: record ?? CallRecord(plugin: description.id, library: library.path, mark: library.image.mark),
            trace: account.trace.calls(of: plugin), script: account.script, log: log,
            clock: account.clock)
        context.record.enter()
        table = try Self.create(description.id, library, context)
        do throws(Refusal) {
            processor = try Self.extension(LARDER_EXT_ITEM_POLICY_PROCESSOR, of: table, context)
            let schema: larder_config_schema? = try Self.extension(LARDER_EXT_CONFIG_SCHEMA, of: table, context)
            let own = try Self.schema(schema, of: table, context)
            let filled = try own.settings(from: settings, overrides: overrides)
            context.configure(filled.text)
            heeded = HeededSettings(own, filled)
            settingDefaults = try own.defaults(beside: settings)
            self.schema = own.source
            kind = try Self.kind(of: processor)
            explainer = processor == nil ? nil : try Self.extension(LARDER_EXT_EXPLAIN, of: table, context)
            eventLoop = try Self.extension(LARDER_EXT_EVENT_LOOP, of: table, context)
            loops = if let eventLoop { try LoopOffer(eventLoop) } else { nil }
        } catch {
            _ = Self.destroy(table, context)
            context.leave()
            throw error
        }
        context.kind = kind
    }

    /// The kinds of the plugin's processor and event loops, each once.
    var kinds: [String] {
        let kinds = [kind?.text, loops?.kind.text].compactMap(\.self)
        return kinds.count == 2 && kinds[0].hasSameBytes(as: kinds[1]) ? [kinds[0]] : kinds
    }

    /// The fields that the processor reads, as bits of a mask.
    public var fields: UInt64 { processor?.fields ?? 0 }

    /// The largest number of actions of the processor that may be under way at a time; nil for any number.
    public var maximumRecords: Int? {
        guard let processor, processor.max_records > 0 else { return nil }
        return Int(clamping: processor.max_records)
    }

    /// Runs a body with the processor's calls on the plugin's thread, after the jobs that were enqueued before.
    /// - Parameter body: The body to run.
    /// - Returns: The body's result.
    /// - Throws: `PluginHangs` while a call hangs, perhaps one of the body; `CancellationError` once the plugin was
    ///   stopped or given up; `.internal` if the plugin has no processor; `.localIO` if the system has no thread for it;
    ///   and the errors of the body.
    public func withProcessor<Result: Sendable>(
        _ body: @escaping @Sendable (ProcessorCalls) throws -> Result
    ) async throws -> Result {
        guard hanging == nil else { throw PluginHangs() }
        do {
            return try await ownThread().run(isHurried: true) { [self] in
                guard let processor, let kind else { throw Failure(.internal, "\(plugin) has no processor") }
                linux_begin_row()
                defer { linux_end_row() }
                return try body(ProcessorCalls(instance: self, processor: processor, kind: kind, context: context))
            }
        } catch is PassedOver {
            throw PluginHangs()
        } catch let error as ThreadError {
            throw lack(error)
        }
    }

    /// Runs a body with the calls of one of the plugin's loops on the plugin's thread, after the jobs that were
    /// enqueued before.
    /// - Parameters:
    ///   - loop: The loop.
    ///   - body: The body to run.
    /// - Returns: The body's result.
    /// - Throws: `CancellationError` once the plugin was stopped or given up; `.internal` if the plugin has no event
    ///   loop; `.localIO` if the system has no thread for it; and the errors of the body.
    public func withLoop<Result: Sendable>(
        _ loop: LoopID, _ body: @escaping @Sendable (LoopCalls) throws -> Result
    ) async throws -> Result {
        do {
            return try await ownThread().run { [self] in
                guard let eventLoop else { throw Failure(.internal, "\(plugin) has no event loop") }
                linux_begin_row()
                defer { linux_end_row() }
                return try body(LoopCalls(instance: self, table: eventLoop, context: context, loop: loop))
            }
        } catch let error as ThreadError {
            throw lack(error)
        }
    }

    private func ownThread() throws(Failure) -> SerialThread {
        guard let thread else { throw Failure(.internal, "\(plugin) has no thread") }
        return thread
    }

    private func lack(_ error: ThreadError) -> Failure {
        Failure(
            .localIO, "\(plugin) is not called: \(error)",
            hint: "Check the limits of threads: `ulimit -u`, and the unit's TasksMax=")
    }

    /// Gives a page back to the plugin, from any thread. A page that was given back before is ignored.
    public func releaseLater(_ page: LoopPage) { thread?.enqueue { [self] in release(page.number) } }

    func keep(_ page: larder_event_page) -> Int {
        pageCount += 1
        pages[pageCount] = page
        return pageCount
    }

    func release(_ number: Int) {
        guard let eventLoop, var page = pages.removeValue(forKey: number) else { return }
        _ = context.call("releasePage", .control) {
            eventLoop.release_page(receiver, &page)
            return LARDER_OK
        }
    }

    /// The number of seconds that a call under way has to return after ``cancel()``. The event scheduler gives a
    /// cancelled call into an event loop the same time before other calls go on.
    static let hangLimit = 5

    /// Asks the calls that are under way to end, and lets no further call begin its work. A call that does not end in
    /// time is given up: it may go on and keeps the memory lent to it, and nobody waits for it.
    public func cancel() {
        guard !context.isCancelled.exchange(true, ordering: .relaxed) else { return }
        let task = Task(executorPreference: Workplace.single) { [self] in
            while true {
                let count = context.callCount.load(ordering: .acquiring)
                do { try await account.clock.pass(seconds: Self.hangLimit) } catch { return }
                guard count % 2 == 1, context.callCount.load(ordering: .acquiring) == count,
                    let note = context.record.markHanging(at: account.clock.now())
                else { continue }
                gaveUp.withLock { $0 = note }
                log.write(.error, "The plugin hangs and is given up: \(note.callText) has not returned")
                thread?.giveUp()
                return
            }
        }
        giving.withLock { $0 = task }
    }

    /// The call that was given up; nil if there is none.
    var givenUp: CallNote? { gaveUp.withLock { $0 } }

    /// The call under way that was found to hang; nil if there is none.
    public var hanging: CallNote? { context.record.hanging }

    /// Ends the waiting of ``cancel()``. No call is under way then, and none will be.
    func ended() { giving.withLock { $0.take() }?.cancel() }

    // MARK: Its life. On the plugin's thread.

    func start() throws(Refusal) {
        let (status, message) = context.call("start", .control) { table.start(table.receiver) }
        guard status == LARDER_OK else {
            // The context forgets what the plugin asked for when the instance is discarded.
            defer { discard() }
            // The plugin's own message has precedence. A missing service is most often a mistake in the plugin's
            // description.
            let lacked =
                status != LARDER_UNSUPPORTED && message != nil
                ? []
                : context.undeclared.map {
                    "; it asked for the service \($0), which its description names neither as required nor as wanted"
                }
            throw .startFailed("it did not start: \(message ?? statusName(status))\(lacked.joined())")
        }
    }

    func stop() {
        for number in pages.keys { release(number) }
        _ = context.call("stop", .control) {
            table.stop(table.receiver)
            return LARDER_OK
        }
        discard()
    }

    /// Destroys an instance that was not started or is stopped.
    func discard() {
        _ = Self.destroy(table, context)
        context.leave()
        log.endInstance()
    }

    private static func create(
        _ id: PluginID, _ library: PluginLibrary, _ context: InstanceContext
    ) throws(Refusal) -> larder_instance {
        var made: UnsafePointer<larder_instance>?
        let (status, message) = context.call("create", .create) {
            library.module.create(context.lend(id.text), context.table, &made)
        }
        guard status == LARDER_OK else {
            context.leave()
            throw .createFailed("it cannot be created: \(message ?? statusName(status))")
        }
        do throws(Refusal) { return try larder_instance.copy(made) } catch {
            // Without a valid table there is no way to destroy the instance.
            context.leave()
            throw error
        }
    }

    private static func destroy(_ table: larder_instance, _ context: InstanceContext) -> larder_status {
        context.call("destroy", .create) {
            table.destroy(table.receiver)
            return LARDER_OK
        }.status
    }

    private static func `extension`<Table: SizedTable>(
        _ name: String, of table: larder_instance, _ context: InstanceContext
    ) throws(Refusal) -> Table? {
        var found: UnsafeRawPointer?
        _ = context.call("extension", .create) {
            found = table.extension(table.receiver, context.lend(name))
            return LARDER_OK
        }
        return if let found { try Table.copy(found) } else { nil }
    }

    private static func schema(
        _ offered: larder_config_schema?, of table: larder_instance, _ context: InstanceContext
    ) throws(Refusal) -> ConfigSchema {
        guard let offered else { return .none }
        var text: String?
        let (status, message) = context.call("schema", .create) {
            var given = larder_str(ptr: nil, len: 0)
            let status = offered.schema(table.receiver, &given)
            text = given.text
            return status
        }
        guard status == LARDER_OK else { throw .schema("its settings' schema: \(message ?? statusName(status))") }
        guard let text else { throw .schema("its settings' schema is missing or not UTF-8") }
        do throws(Refusal) { return try ConfigSchema(parsing: text) } catch {
            if case .badText(let what) = error { throw .schema(what) }
            throw error
        }
    }

    private static func kind(of processor: larder_item_policy_processor?) throws(Refusal) -> PolicyKind? {
        guard let processor else { return nil }
        guard let kind = processor.kind.text, !kind.isEmpty else {
            throw .badText("its processor's kind is missing or not UTF-8")
        }
        return PolicyKind(kind)
    }

    var receiver: UnsafeMutableRawPointer? { table.receiver }
}

extension HostClock {
    /// Waits in steps of one second, so that the time for which the machine slept does not count as passed.
    func pass(seconds: Int) async throws {
        for _ in 0..<seconds { try await sleep(.seconds(1)) }
    }
}

extension larder_instance {
    /// The member `self`, whose name Swift takes for the value itself.
    fileprivate var receiver: UnsafeMutableRawPointer? {
        withUnsafeBytes(of: self) { $0.load(fromByteOffset: 8, as: UnsafeMutableRawPointer?.self) }
    }
}
