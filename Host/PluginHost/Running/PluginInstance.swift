import CLarder
import Logging
public import Model
import Synchronization
import Threads

/// One plugin at work for one account.
///
/// Unchecked: what is in it never changes, but for the pages, which are the plugin's own thread's, where all calls go; the tables are
/// copies, and the library's memory that they point to stays.
public final class PluginInstance: @unchecked Sendable {
    public let plugin: PluginID
    /// Of the policies that its processor is for; nil: it processes no items.
    public let kind: PolicyKind?
    let account: AccountEnvironment
    let thread: SerialThread
    let context: InstanceContext
    let log: PluginLog
    let processor: larder_item_policy_processor?
    let eventLoop: larder_event_loop?
    /// Of its event loops; nil: it has none.
    public let loops: LoopOffer?
    /// What of its settings the host heeds too.
    public let heeded: HeededSettings
    /// What holds for settings that the config leaves out.
    let settingDefaults: JSONValue
    /// Pages that are not given back yet. On the plugin's thread.
    private(set) var pages: [Int: larder_event_page] = [:]
    private var pageCount = 0
    private let table: larder_instance
    /// Waits for the call under way to come to an end that was asked to.
    private let giving = Mutex<Task<Void, Never>?>(nil)
    private let gaveUp = Mutex<CallNote?>(nil)

    /// Makes an instance and looks at what it offers, before it is started. On the plugin's thread.
    /// - Parameters:
    ///   - settings: what stands in the config for it, a JSON object.
    ///   - withheld: the services that it does not get.
    init(
        _ description: PluginLibrary.Description, in library: PluginLibrary, settings: String,
        withheld: Set<String> = [], thread: SerialThread, account: AccountEnvironment, record: CallRecord? = nil
    ) throws(Refusal) {
        plugin = description.id
        self.thread = thread
        self.account = account
        log = PluginLog(
            plugin: plugin, account: account.name, logger: account.logger, clock: account.clock, noted: account.noted)
        context = InstanceContext(
            plugin: plugin, granted: Set(description.required + description.wanted).subtracting(withheld),
            withheld: withheld, isNewer: library.module.abi_minor > UInt32(LARDER_ABI_MINOR),
            projects: account.projects,
            record: record ?? CallRecord(plugin: description.id, library: library.path), trace: account.trace, log: log,
            clock: account.clock)
        context.record.enter()
        table = try Self.create(description.id, library, context)
        do throws(Refusal) {
            processor = try Self.extension(LARDER_EXT_ITEM_POLICY_PROCESSOR, of: table, context)
            let schema: larder_config_schema? = try Self.extension(LARDER_EXT_CONFIG_SCHEMA, of: table, context)
            let own = try Self.schema(schema, of: table, context)
            let filled = try own.settings(from: settings)
            context.configure(filled.text)
            heeded = HeededSettings(own, filled)
            settingDefaults = try own.defaults(beside: settings)
            kind = try Self.kind(of: processor)
            eventLoop = try Self.extension(LARDER_EXT_EVENT_LOOP, of: table, context)
            loops = if let eventLoop { try LoopOffer(eventLoop) } else { nil }
        } catch {
            _ = Self.destroy(table, context)
            context.leave()
            throw error
        }
        context.kind = kind
    }

    /// Of what it offers, each once.
    var kinds: [String] {
        let kinds = [kind?.text, loops?.kind.text].compactMap(\.self)
        return kinds.count == 2 && kinds[0].hasSameBytes(as: kinds[1]) ? [kinds[0]] : kinds
    }

    /// The fields that the processor reads, as bits of a mask.
    public var fields: UInt64 { processor?.fields ?? 0 }

    /// How many of the actions that the processor asked for may be under way at a time; nil: any number.
    public var maximumRecords: Int? {
        guard let processor, processor.max_records > 0 else { return nil }
        return Int(clamping: processor.max_records)
    }

    /// Runs the body with the processor's calls, on the plugin's thread, after what was asked before.
    /// - Throws: `PluginHangs` while a call hangs, perhaps the body's own; `CancellationError` once the plugin was
    ///   stopped or given up; `.internal` if it has no processor; what else the body throws.
    public func withProcessor<Result: Sendable>(
        _ body: @escaping @Sendable (ProcessorCalls) throws -> Result
    ) async throws -> Result {
        guard hanging == nil else { throw PluginHangs() }
        do {
            return try await thread.run(isHurried: true) { [self] in
                guard let processor, let kind else { throw Failure(.internal, "\(plugin) has no processor") }
                return try body(ProcessorCalls(instance: self, processor: processor, kind: kind, context: context))
            }
        } catch is PassedOver {
            throw PluginHangs()
        }
    }

    /// Runs the body with the calls of one of its loops, on the plugin's thread, after what was asked before.
    /// - Throws: `CancellationError` once the plugin was stopped or given up, `.internal` if it has no event loop, what
    ///   else the body throws.
    public func withLoop<Result: Sendable>(
        _ loop: LoopID, _ body: @escaping @Sendable (LoopCalls) throws -> Result
    ) async throws -> Result {
        try await thread.run { [self] in
            guard let eventLoop else { throw Failure(.internal, "\(plugin) has no event loop") }
            return try body(LoopCalls(instance: self, table: eventLoop, context: context, loop: loop))
        }
    }

    /// Gives a page back to the plugin, from any thread. One that was is passed over.
    public func releaseLater(_ page: LoopPage) { thread.enqueue { [self] in release(page.number) } }

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

    /// A call that was asked to come to an end has so many seconds for it: as long as one into an event loop keeps its place.
    static let hangLimit = 5

    /// Asks calls that are under way to come to an end, and lets none begin their work. One that does not end in time is given up: it
    /// goes on if it likes, what it lent it keeps, and nobody waits for it.
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
                log.write(.error, "It hangs, and is given up: \(note.callText) has not returned")
                PluginHost.leftCalls.store(true, ordering: .relaxed)
                return thread.giveUp()
            }
        }
        giving.withLock { $0 = task }
    }

    /// The call that was given up; nil: none was.
    var givenUp: CallNote? { gaveUp.withLock { $0 } }

    /// The call under way that was found to hang; nil: none.
    public var hanging: CallNote? { context.record.hanging }

    /// No call is under way, and none will be.
    func ended() { giving.withLock { $0.take() }?.cancel() }

    // MARK: Its life. On the plugin's thread.

    func start() throws(Refusal) {
        let (status, message) = context.call("start", .control) { table.start(table.receiver) }
        guard status == LARDER_OK else {
            discard()
            // What it says of its own trouble stands; that it lacks a service is most often a mistake in its description.
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

    /// Destroys an instance that was not started, or is stopped.
    func discard() {
        _ = Self.destroy(table, context)
        context.leave()
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
            // Without a table that holds there is no way to destroy it.
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
    /// Waits in steps, so that a machine that slept meanwhile does not take all of it for passed.
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
