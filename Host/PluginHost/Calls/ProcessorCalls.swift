import CLarder
import Logging
public import Model
import Synchronization

/// The calls into a plugin's processor, each written down and answered for. Valid on the plugin's thread, inside the closure
/// that it was given to.
public final class ProcessorCalls {
    /// What became of a call.
    public struct Outcome: Sendable {
        public var isOK: Bool
    }

    public let plugin: PluginID
    public let kind: PolicyKind
    private let processor: larder_item_policy_processor
    let context: InstanceContext
    private let log: PluginLog
    let trace: TraceWriter?
    private let clock: HostClock
    private let pointer: UnsafeMutableRawPointer?

    init(
        instance: PluginInstance, processor: larder_item_policy_processor, kind: PolicyKind, context: InstanceContext
    ) {
        plugin = instance.plugin
        self.kind = kind
        self.processor = processor
        self.context = context
        log = instance.log
        trace = instance.account.trace
        clock = instance.account.clock
        pointer = instance.receiver
    }

    /// The fields that the processor reads, as bits of a mask.
    public var fields: UInt64 { processor.fields }

    /// Whether the host is about to stop.
    public var isCancelled: Bool { context.isCancelled.load(ordering: .relaxed) }

    /// What its calls may ask from now on is answered by this run.
    public func begin(_ run: any PluginRun) {
        context.run = run
        context.runValues.removeAll()
    }

    public func end() {
        context.run = nil
        context.runValues.removeAll()
    }

    /// The triggers that it wants now.
    public func triggers() -> TriggerMask {
        var mask: UInt32 = 0
        _ = call("triggers", nil, nil, isTraced: false) {
            mask = processor.triggers(pointer)
            return LARDER_OK
        }
        return TriggerMask(rawValue: mask)
    }

    /// The text of a condition; nil: it is absent, or the call failed.
    public enum Condition: Sendable { case policy, match, cleanup }

    public func condition(_ which: Condition, _ trigger: Trigger) -> String? {
        var text: String?
        let (name, function): (StaticString, _) =
            switch which {
            case .policy: ("policyCondition", processor.policy_condition)
            case .match: ("matchCondition", processor.match_condition)
            case .cleanup: ("cleanupCondition", processor.cleanup_condition)
            }
        _ = call(name, trigger, nil, isTraced: false) {
            var given = larder_str(ptr: nil, len: 0)
            let status = function(pointer, &given)
            guard status == LARDER_OK, !given.isAbsent else { return status }
            text = given.text
            if text == nil { context.failure = "the condition is not UTF-8" }
            return text == nil ? LARDER_INVALID_ARGUMENT : status
        }
        return text
    }

    @discardableResult
    public func updatePolicies(_ policies: [ItemPolicy], _ trigger: Trigger) -> Outcome {
        call("updatePolicies", trigger, nil) {
            var list = context.lend(policies)
            return processor.update_policies(pointer, &list)
        }
    }

    /// - Parameter changed: the changed items, with the trigger `itemsChanged`.
    @discardableResult
    public func preflight(_ trigger: Trigger, changed: (any ItemSource)?) -> Outcome {
        call("performPreflightOnPolicies", trigger, nil) {
            do throws(ServiceError) {
                let cursor = if let changed { try context.open(changed, isHosts: true) } else { nil as Cursor? }
                return processor.preflight(pointer, trigger.rawValue, cursor)
            } catch {
                return error.status
            }
        }
    }

    private typealias Cursor = UnsafeMutablePointer<larder_item_cursor>

    @discardableResult
    public func willEnterTrigger(_ trigger: Trigger) -> Outcome {
        call("willEnterTrigger", trigger, nil) { processor.will_enter_trigger(pointer, trigger.rawValue) }
    }

    @discardableResult
    public func didPassTrigger(_ trigger: Trigger) -> Outcome {
        call("didPassTrigger", trigger, nil) { processor.did_pass_trigger(pointer, trigger.rawValue) }
    }

    /// The two passes over items, matching and cleanup.
    public enum Pass: Sendable { case matching, cleanup }

    @discardableResult
    public func begin(_ pass: Pass, _ trigger: Trigger) -> Outcome {
        switch pass {
        case .matching: call("beginMatching", trigger, nil) { processor.begin_matching(pointer, trigger.rawValue) }
        case .cleanup: call("beginCleanup", trigger, nil) { processor.begin_cleanup(pointer, trigger.rawValue) }
        }
    }

    /// The calls for the items of a pass.
    public func each(_ pass: Pass, _ trigger: Trigger) -> ItemCalls {
        switch pass {
        case .matching: ItemCalls("performAction", processor.perform_action, pointer, trigger, of: self)
        case .cleanup: ItemCalls("performCleanup", processor.perform_cleanup, pointer, trigger, of: self)
        }
    }

    @discardableResult
    public func end(_ pass: Pass, _ trigger: Trigger) -> Outcome {
        switch pass {
        case .matching: call("endMatching", trigger, nil) { processor.end_matching(pointer, trigger.rawValue) }
        case .cleanup: call("endCleanup", trigger, nil) { processor.end_cleanup(pointer, trigger.rawValue) }
        }
    }

    /// Names a mistake that showed after a call, such as a condition that does not parse.
    public func note(_ mistake: String) { log.note(.failed, mistake) }

    /// A sentence about the run for the log.
    public func logError(_ message: String) { log.write(.error, message) }

    func call(
        _ name: StaticString, _ trigger: Trigger?, _ source: (any ItemSource)?, isTraced: Bool = true,
        _ body: () -> larder_status
    ) -> Outcome {
        let isTraced = isTraced && trace != nil
        let begin = isTraced ? clock.monotonic() : .zero
        let (status, message) = context.call(name, .processor, body)
        if isTraced, let trace {
            trace.record(
                plugin: plugin, call: name, trigger: trigger, path: source?.path, status: statusName(status),
                time: clock.now(), took: clock.monotonic() - begin)
        }
        return status == LARDER_OK ? Outcome(isOK: true) : failed(name, source, status, message)
    }

    /// Names a call that did not return well.
    func failed(
        _ name: StaticString, _ source: (any ItemSource)?, _ status: larder_status, _ message: String?
    ) -> Outcome {
        let subject = source.map { " of \($0.path)" } ?? ""
        if !isKnown(status) {
            log.note(.unknownStatus, "\(name)\(subject) returned the unknown status \(status)")
        } else if status != LARDER_CANCELLED || !isCancelled {
            log.note(.failed, "\(name)\(subject) failed: \(message ?? statusName(status))")
        }
        return Outcome(isOK: false)
    }
}
