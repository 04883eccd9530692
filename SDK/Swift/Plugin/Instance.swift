/// One plugin at work for one account: the tables that the host uses, and the processor or event loop while it is
/// started.
struct Instance {
    private let type: PluginType
    private let host: Host
    private let table: UnsafeMutablePointer<larder_instance>
    private let processorTable: UnsafeMutablePointer<larder_item_policy_processor>?
    /// What the processor says of items; nil for an event loop.
    private let explainTable: UnsafeMutablePointer<larder_explain>?
    private let loopTable: UnsafeMutablePointer<larder_event_loop>?
    /// Nil for a plugin without settings.
    private let schemaTable: UnsafeMutablePointer<larder_config_schema>?
    private let schema: larder_str
    private let kind: larder_str
    private let collection: larder_str
    /// The processor, in memory of its own: it is called for each item, and is not moved for that.
    private var processor: UnsafeMutablePointer<any ItemPolicyProcessor>?
    /// Whether a call into the processor is under way.
    private var isCalled = false
    private var loop: (any EventLoop)?
    /// The texts that the host got, and may read until its next call.
    private var lent = Lent()

    private struct Lent {
        var policy = larder_str(), match = larder_str(), cleanup = larder_str(), explanation = larder_str()
    }

    /// Makes an instance that lives until the host destroys it.
    static func make(of type: PluginType, host: Host) -> UnsafePointer<larder_instance> {
        let made = UnsafeMutablePointer<Instance>.allocate(capacity: 1)
        let table = stored(
            larder_instance(
                struct_size: UInt32(MemoryLayout<larder_instance>.size), reserved: 0, context: made,
                start: { Instance.at($0).pointee.start() },
                stop: { Instance.at($0).pointee.stop() },
                destroy: { Instance.destroy(Instance.at($0)) },
                extension: { Instance.at($0).pointee.extension(named: $1) }))
        let (kind, collection): (larder_str, larder_str)
        var processorTable: UnsafeMutablePointer<larder_item_policy_processor>?
        var explainTable: UnsafeMutablePointer<larder_explain>?
        var loopTable: UnsafeMutablePointer<larder_event_loop>?
        switch type {
        case .processor(let type):
            (kind, collection) = (.lasting(type.kind), larder_str())
            processorTable = stored(.calling(kind: kind, fields: type.fields, maximumRecords: type.maximumRecords))
            explainTable = stored(.asking)
        case .loop(let type):
            (kind, collection) = (.lasting(type.kind), type.collection.map { .lasting($0) } ?? larder_str())
            loopTable = stored(
                .calling(kind: kind, collection: collection, refreshBits: type.refreshBits, hints: type.hints))
        }
        made.initialize(
            to: Instance(
                type: type, host: host, table: table, processorTable: processorTable,
                explainTable: explainTable, loopTable: loopTable,
                schemaTable: type.settingsSchema == nil ? nil : stored(.handingOut),
                schema: type.settingsSchema.map { .lasting($0) } ?? larder_str(), kind: kind, collection: collection))
        return UnsafePointer(table)
    }

    private static func stored<Table>(_ table: Table) -> UnsafeMutablePointer<Table> {
        let pointer = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        pointer.initialize(to: table)
        return pointer
    }

    static func at(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Instance> {
        guard let context else { fatalError("the host passed no context") }
        return context.assumingMemoryBound(to: Instance.self)
    }

    private mutating func start() -> larder_status {
        do throws(PluginError) {
            switch type {
            case .processor(let type):
                let started = try type.init(host: host)
                processor = .allocate(capacity: 1)
                processor?.initialize(to: started)
            case .loop(let type): loop = try type.init(host: host)
            }
            return LARDER_OK
        } catch {
            return host.report(error)
        }
    }

    private mutating func stop() {
        processor?.deinitialize(count: 1).deallocate()
        processor = nil
        loop = nil
    }

    private func `extension`(named name: larder_str) -> UnsafeRawPointer? {
        switch Text(unsafe: name).copied() {
        case LARDER_EXT_ITEM_POLICY_PROCESSOR: UnsafeRawPointer(processorTable)
        case LARDER_EXT_EXPLAIN: UnsafeRawPointer(explainTable)
        case LARDER_EXT_EVENT_LOOP: UnsafeRawPointer(loopTable)
        case LARDER_EXT_CONFIG_SCHEMA: UnsafeRawPointer(schemaTable)
        default: nil
        }
    }

    private static func destroy(_ instance: UnsafeMutablePointer<Instance>) {
        instance.pointee.stop()
        let old = instance.move()
        instance.deallocate()
        let lent = old.lent
        let texts = [old.schema, old.kind, old.collection, lent.policy, lent.match, lent.cleanup, lent.explanation]
        for text in texts { text.free() }
        old.table.deallocate()
        old.processorTable?.deallocate()
        old.explainTable?.deallocate()
        old.loopTable?.deallocate()
        old.schemaTable?.deallocate()
    }
}

/// The methods that the tables' functions call.
extension Instance {
    enum ConditionKind { case policy, match, cleanup }

    /// Calls the processor in place, and turns an error into a status and a message for the host.
    mutating func call(_ body: (inout any ItemPolicyProcessor) throws(PluginError) -> Void) -> larder_status {
        guard let processor, !isCalled else { return LARDER_WRONG_STATE }
        isCalled = true
        defer { isCalled = false }
        do throws(PluginError) {
            try body(&processor.pointee)
            return LARDER_OK
        } catch {
            return host.report(error)
        }
    }

    /// Calls the event loop in place, and turns an error into a status and a message for the host.
    mutating func callLoop(_ body: (inout any EventLoop) throws(PluginError) -> Void) -> larder_status {
        guard var running = loop.take() else { return LARDER_WRONG_STATE }
        defer { loop = running }
        do throws(PluginError) {
            try body(&running)
            return LARDER_OK
        } catch {
            return host.report(error)
        }
    }

    var triggers: TriggerSet { processor?.pointee.triggers ?? [] }

    /// Asks the processor for a condition and lends its text to the host. The text that was lent before is freed.
    mutating func lend(_ condition: ConditionKind, to out: UnsafeMutablePointer<larder_str>) -> larder_status {
        guard let processor else { return LARDER_WRONG_STATE }
        out.pointee =
            switch condition {
            case .policy: Self.replace(&lent.policy, with: processor.pointee.policyCondition)
            case .match: Self.replace(&lent.match, with: processor.pointee.matchCondition)
            case .cleanup: Self.replace(&lent.cleanup, with: processor.pointee.cleanupCondition)
            }
        return LARDER_OK
    }

    /// Asks what the processor says of an item and lends its text to the host. The text that was lent before is freed.
    mutating func lendExplanation(
        of item: UnsafePointer<larder_item>, to out: UnsafeMutablePointer<larder_str>
    ) -> larder_status {
        guard let processor else { return LARDER_WRONG_STATE }
        do throws(PluginError) {
            out.pointee = Self.replace(&lent.explanation, with: try processor.pointee.explanation(of: Item(item)))
            return LARDER_OK
        } catch {
            return host.report(error)
        }
    }

    private static func replace(_ lent: inout larder_str, with text: String?) -> larder_str {
        lent.free()
        lent = text.map { .lasting($0) } ?? larder_str()
        return lent
    }

    func lendSchema(to out: UnsafeMutablePointer<larder_str>) -> larder_status {
        out.pointee = schema
        return LARDER_OK
    }
}
