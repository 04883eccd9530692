public import CLarder
import Model

/// The calls into a processor for the items of one pass. Their common parts are found once, because a pass over many
/// items spends its time in these calls. For the same reason this is no struct: each copy would retain its members.
public final class ItemCalls {
    typealias Function =
        @convention(c) (UnsafeMutableRawPointer?, UInt32, UnsafePointer<larder_item>) -> larder_status

    private let name: StaticString
    private let function: Function
    private let receiver: UnsafeMutableRawPointer?
    private let trigger: Trigger
    private let calls: ProcessorCalls
    private let context: InstanceContext

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
    }

    /// Calls the processor for one item.
    /// - Parameters:
    ///   - item: The view of the item.
    ///   - source: The source of the item, for the item's name in traces and logs.
    /// - Returns: The outcome of the call.
    @discardableResult
    public func perform(
        _ item: UnsafePointer<larder_item>, of source: any ItemSource
    ) -> ProcessorCalls.Outcome {
        let (function, receiver, number) = (function, receiver, trigger.rawValue)
        let (status, message) = context.call(name, .processor, .item(path(of: item, source)), trigger) {
            function(receiver, number, item)
        }
        if status == LARDER_OK { return ProcessorCalls.Outcome(status: status) }
        return calls.failed(name, source, status, message)
    }

    /// Returns the item's path. Takes it from the view if the view has it, which costs nothing.
    private func path(
        of item: UnsafePointer<larder_item>, _ source: any ItemSource
    ) -> UnsafeBufferPointer<UInt8> {
        let path = item.pointee.path
        guard let start = path.ptr else { return source.pathBytes }
        return UnsafeBufferPointer(
            start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: Int(path.len))
    }
}
