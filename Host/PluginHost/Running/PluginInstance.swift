import CLarder
import Logging
public import Model
import Synchronization

/// One plugin at work for one account.
///
/// Unchecked: what is in it never changes, but for the pages, which are the plugin's own thread's, where all calls go; the tables are
/// copies, and the library's memory that they point to stays.
public final class PluginInstance: @unchecked Sendable {
    public let plugin: PluginID
    /// Of the policies that its processor is for; nil: it processes no items.
    public let kind: PolicyKind?
    let account: AccountEnvironment
    let thread: PluginThread
    let context: InstanceContext
    let log: PluginLog
    let processor: larder_item_policy_processor?
    let eventLoop: larder_event_loop?
    /// Of its event loops; nil: it has none.
    public let loops: LoopOffer?
    /// What holds for settings that the config leaves out.
    let settingDefaults: JSONValue
    /// Pages that are not given back yet. On the plugin's thread.
    private(set) var pages: [Int: larder_event_page] = [:]
    private var pageCount = 0
    private let table: larder_instance

    /// Makes an instance and looks at what it offers, before it is started. On the plugin's thread.
    /// - Parameters:
    ///   - settings: what stands in the config for it, a JSON object.
    ///   - withheld: the services that it does not get.
    init(
        _ description: PluginLibrary.Description, in library: PluginLibrary, settings: String,
        withheld: Set<String> = [], thread: PluginThread, account: AccountEnvironment
    ) throws(Refusal) {
        plugin = description.id
        self.thread = thread
        self.account = account
        log = PluginLog(plugin: plugin, account: account.name, logger: account.logger, clock: account.clock)
        context = InstanceContext(
            plugin: plugin, granted: Set(description.required + description.wanted).subtracting(withheld),
            projects: account.projects,
            log: log, clock: account.clock)
        table = try Self.create(description.id, library, context)
        do throws(Refusal) {
            processor = try Self.extension(LARDER_EXT_ITEM_POLICY_PROCESSOR, of: table, context)
            let schema: larder_config_schema? = try Self.extension(LARDER_EXT_CONFIG_SCHEMA, of: table, context)
            let own = try Self.schema(schema, of: table, context)
            context.configure(try own.settings(from: settings))
            settingDefaults = try own.defaults(beside: settings)
            kind = try Self.kind(of: processor)
            eventLoop = try Self.extension(LARDER_EXT_EVENT_LOOP, of: table, context)
            loops = if let eventLoop { try LoopOffer(eventLoop) } else { nil }
        } catch {
            _ = Self.destroy(table, context)
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
    public func withProcessor<Result: Sendable>(
        _ body: @escaping @Sendable (ProcessorCalls) throws -> Result
    ) async throws -> Result {
        try await thread.run { [self] in
            guard let processor, let kind else { throw Failure(.internal, "\(plugin) has no processor") }
            return try body(ProcessorCalls(instance: self, processor: processor, kind: kind, context: context))
        }
    }

    /// Runs the body with the calls of one of its loops, on the plugin's thread, after what was asked before.
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

    /// Asks calls that are under way to come to an end, and lets none begin their work.
    public func cancel() { context.isCancelled.store(true, ordering: .relaxed) }

    // MARK: Its life. On the plugin's thread.

    func start() throws(Refusal) {
        let (status, message) = context.call("start", .control) { table.start(table.receiver) }
        guard status == LARDER_OK else {
            _ = Self.destroy(table, context)
            throw .startFailed("it did not start: \(message ?? statusName(status))")
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
    func discard() { _ = Self.destroy(table, context) }

    private static func create(
        _ id: PluginID, _ library: PluginLibrary, _ context: InstanceContext
    ) throws(Refusal) -> larder_instance {
        var made: UnsafePointer<larder_instance>?
        let (status, message) = context.call("create", .create) {
            library.module.create(context.lend(id.text), context.table, &made)
        }
        guard status == LARDER_OK else {
            throw .createFailed("it cannot be created: \(message ?? statusName(status))")
        }
        return try larder_instance.copy(made)
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
        guard status == LARDER_OK else { throw .badText("its settings' schema: \(message ?? statusName(status))") }
        guard let text else { throw .badText("its settings' schema is missing or not UTF-8") }
        return try ConfigSchema(parsing: text)
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

extension larder_instance {
    /// The member `self`, whose name Swift takes for the value itself.
    fileprivate var receiver: UnsafeMutableRawPointer? {
        withUnsafeBytes(of: self) { $0.load(fromByteOffset: 8, as: UnsafeMutableRawPointer?.self) }
    }
}
