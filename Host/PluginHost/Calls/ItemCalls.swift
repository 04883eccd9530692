public import CLarder
import Model

/// The calls into a processor for the items of one pass. What they have in common is looked up once: this is where a pass over
/// many items spends its time.
public struct ItemCalls {
    typealias Function =
        @convention(c) (UnsafeMutableRawPointer?, UInt32, UnsafePointer<larder_item>) -> larder_status

    private let name: StaticString
    private let function: Function
    private let receiver: UnsafeMutableRawPointer?
    private let trigger: Trigger
    private let calls: ProcessorCalls
    private let context: InstanceContext
    private let isTraced: Bool

    init(
        _ name: StaticString, _ function: @escaping Function, _ receiver: UnsafeMutableRawPointer?, _ trigger: Trigger,
        of calls: ProcessorCalls
    ) {
        self.name = name
        self.function = function
        self.receiver = receiver
        self.trigger = trigger
        self.calls = calls
        context = calls.context
        isTraced = calls.trace != nil
    }

    /// - Parameter source: what the item comes from, for its name in traces and logs.
    @discardableResult
    public func perform(
        _ item: UnsafePointer<larder_item>, of source: any ItemSource
    ) -> ProcessorCalls.Outcome {
        if isTraced { return calls.call(name, trigger, source) { function(receiver, trigger.rawValue, item) } }
        let (status, message) = context.call(name, .processor) { function(receiver, trigger.rawValue, item) }
        if status == LARDER_OK { return ProcessorCalls.Outcome(isOK: true) }
        return calls.failed(name, source, status, message)
    }
}
