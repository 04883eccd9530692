public import CLarder
import Logging
public import Model
import Synchronization

/// The calls into a plugin's processor. Each call is recorded, and its failures are logged. Valid on the plugin's
/// thread, inside the closure that got the calls.
public final class ProcessorCalls {
    /// The outcome of a call.
    public struct Outcome: Sendable {
        /// The status that the plugin returned.
        public var status: larder_status
        /// Whether the call returned `LARDER_OK`.
        public var isOK: Bool { status == LARDER_OK }
    }

    /// The plugin of the processor.
    public let plugin: PluginID
    /// The kind of the policies that the processor is for.
    public let kind: PolicyKind
    private let processor: larder_item_policy_processor
    private let explainer: larder_explain?
    let context: InstanceContext
    private let log: PluginLog
    private let pointer: UnsafeMutableRawPointer?

    init(
        instance: PluginInstance, processor: larder_item_policy_processor, kind: PolicyKind, context: InstanceContext
    ) {
        plugin = instance.plugin
        self.kind = kind
        self.processor = processor
        explainer = instance.explainer
        self.context = context
        log = instance.log
        pointer = instance.receiver
    }

    /// The fields that the processor reads, as bits of a mask.
    public var fields: UInt64 { processor.fields }

    /// Whether the host is about to stop.
    public var isCancelled: Bool { context.isCancelled.load(ordering: .relaxed) }

    /// Begins a run. The run answers the service requests of the following calls.
    public func begin(_ run: any PluginRun) {
        log.beginRun()
        context.run = run
        context.runValues.removeAll()
        (context.addedPolicies, context.valueRoom) = (0, nil)
        context.beginMeasure()
    }

    /// Ends the run.
    /// - Returns: The mistakes of the run, which were logged, if calls failed; otherwise nil.
    @discardableResult
    public func end() -> String? {
        (context.run, context.valueRoom) = (nil, nil)
        context.runValues.removeAll()
        context.endMeasure()
        return log.endRun()
    }

    /// Returns the triggers that the processor wants now.
    public func triggers() -> TriggerMask {
        var mask: UInt32 = 0
        _ = call("triggers", nil) {
            mask = processor.triggers(pointer)
            return LARDER_OK
        }
        return TriggerMask(rawValue: mask)
    }

    /// The conditions of a processor.
    public enum Condition: Sendable { case policy, match, cleanup }

    /// Asks for the text of a condition; nil if there is none or the call failed.
    public func condition(_ which: Condition, _ trigger: Trigger) -> String? {
        var text: String?
        let (name, function): (StaticString, _) =
            switch which {
            case .policy: ("policyCondition", processor.policy_condition)
            case .match: ("matchCondition", processor.match_condition)
            case .cleanup: ("cleanupCondition", processor.cleanup_condition)
            }
        _ = call(name, trigger) {
            var given = larder_str(ptr: nil, len: 0)
            let status = function(pointer, &given)
            defer { if status == LARDER_OK { context.trace(.condition, "\(which)", text) } }
            guard status == LARDER_OK, !given.isAbsent else { return status }
            text = given.text
            if text == nil { context.failure = "the condition is not UTF-8" }
            return text == nil ? LARDER_INVALID_ARGUMENT : status
        }
        return text
    }

    /// Passes the current policies to the processor.
    @discardableResult
    public func updatePolicies(_ policies: [ItemPolicy], _ trigger: Trigger) -> Outcome {
        call("updatePolicies", trigger) {
            var list = context.lend(policies)
            return processor.update_policies(pointer, &list)
        }
    }

    /// Calls the processor's preflight.
    /// - Parameters:
    ///   - trigger: The trigger.
    ///   - changed: The changed items, with the trigger `itemsChanged`.
    /// - Returns: The outcome of the call.
    @discardableResult
    public func preflight(_ trigger: Trigger, changed: (any ItemSource)?) -> Outcome {
        call("performPreflightOnPolicies", trigger) {
            do throws(ServiceError) {
                let cursor = try changed.map { source throws(ServiceError) in
                    try context.slot(of: ItemCursorKind.self, isHosts: true).open(source)
                }
                return processor.preflight(pointer, trigger.rawValue, cursor)
            } catch {
                return error.status
            }
        }
    }

    /// Tells the processor that a trigger begins.
    @discardableResult
    public func willEnterTrigger(_ trigger: Trigger) -> Outcome {
        call("willEnterTrigger", trigger) { processor.will_enter_trigger(pointer, trigger.rawValue) }
    }

    /// Tells the processor that a trigger has ended.
    @discardableResult
    public func didPassTrigger(_ trigger: Trigger) -> Outcome {
        call("didPassTrigger", trigger) { processor.did_pass_trigger(pointer, trigger.rawValue) }
    }

    /// The passes over items: matching and cleanup.
    public enum Pass: Sendable { case matching, cleanup }

    /// Tells the processor that a pass begins.
    @discardableResult
    public func begin(_ pass: Pass, _ trigger: Trigger) -> Outcome {
        switch pass {
        case .matching: call("beginMatching", trigger) { processor.begin_matching(pointer, trigger.rawValue) }
        case .cleanup: call("beginCleanup", trigger) { processor.begin_cleanup(pointer, trigger.rawValue) }
        }
    }

    /// Returns the calls for the items of a pass.
    public func each(_ pass: Pass, _ trigger: Trigger) -> ItemCalls {
        switch pass {
        case .matching: ItemCalls("performAction", processor.perform_action, pointer, trigger, of: self)
        case .cleanup: ItemCalls("performCleanup", processor.perform_cleanup, pointer, trigger, of: self)
        }
    }

    /// Tells the processor that a pass has ended.
    @discardableResult
    public func end(_ pass: Pass, _ trigger: Trigger) -> Outcome {
        switch pass {
        case .matching: call("endMatching", trigger) { processor.end_matching(pointer, trigger.rawValue) }
        case .cleanup: call("endCleanup", trigger) { processor.end_cleanup(pointer, trigger.rawValue) }
        }
    }

    /// Whether the processor says of items what it makes of them.
    public var explains: Bool { explainer != nil }

    /// The largest number of bytes of what a processor says of an item.
    private static let longestExplanation = 1024

    /// Asks what the processor says of an item.
    /// - Parameters:
    ///   - item: The view of the item.
    ///   - source: The source of the item, for the item's name in traces and logs.
    /// - Returns: The text, cut if it is long; nil if the processor says nothing, or the call failed.
    public func explain(_ item: UnsafePointer<larder_item>, of source: any ItemSource) -> String? {
        guard let explainer else { return nil }
        var text: String?
        let (status, message) = context.call("explain", .processorReading, .item(source.pathBytes)) {
            var given = larder_str(ptr: nil, len: 0)
            let status = explainer.explain(pointer, item, &given)
            guard status == LARDER_OK, !given.isAbsent else { return status }
            text = given.text(atMost: Self.longestExplanation)
            if text == nil { context.failure = "the text is not UTF-8" }
            return text == nil ? LARDER_INVALID_ARGUMENT : status
        }
        guard status == LARDER_OK else {
            _ = failed("explain", source, status, message)
            return nil
        }
        return text == "" ? nil : text
    }

    /// Logs that a request of a call that succeeded is not carried out.
    public func dropped(_ intent: Intent, because: String) {
        log.write(.debug, "\(intent.change.name) of \(context.subject(of: intent.change)) was dropped: \(because)")
        context.trace(.dropped, intent.change.name, context.subject(of: intent.change), because: because)
    }

    /// Notes that a requested change of the server is not made, since it is impossible.
    public func refused(_ intent: Intent, because: String) {
        let (name, subject) = (intent.change.name, context.subject(of: intent.change))
        log.note(.refused, "\(name) of \(subject) was refused: \(because)")
        context.trace(.dropped, name, subject, because: because)
    }

    /// Logs a mistake that was found after a call, such as a condition that does not parse.
    public func note(_ mistake: String) { log.note(.failed, mistake) }

    /// Logs an error about the run.
    public func logError(_ message: String) { log.write(.error, message) }

    func call(
        _ name: StaticString, _ trigger: Trigger?, _ body: () -> larder_status
    ) -> Outcome {
        let (status, message) = context.call(name, .processor, .nothing, trigger, body)
        return status == LARDER_OK ? Outcome(status: status) : failed(name, nil, status, message)
    }

    /// Logs that a call failed.
    func failed(
        _ name: StaticString, _ source: (any ItemSource)?, _ status: larder_status, _ message: String?
    ) -> Outcome {
        let subject = source.map { " of \($0.path)" } ?? ""
        if !context.mayReturn(status) {
            log.note(.unknownStatus, "\(name)\(subject) returned the unknown status \(status)")
        } else if status != LARDER_CANCELLED || !isCancelled {
            log.note(.failed, "\(name)\(subject) failed: \(message ?? statusName(status))")
        }
        return Outcome(status: status)
    }
}
