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

    /// - Parameter source: what the item comes from, for its name in traces and logs.
    @discardableResult
    public func perform(
        _ item: UnsafePointer<larder_item>, of source: any ItemSource
    ) -> ProcessorCalls.Outcome {
        let (status, message) = context.call(name, .processor, .item(path(of: item, source)), trigger) {
            function(receiver, trigger.rawValue, item)
        }
        if status == LARDER_OK { return ProcessorCalls.Outcome(isOK: true) }
        return calls.failed(name, source, status, message)
    }

    /// Out of the view if it is there, which costs nothing.
    private func path(
        of item: UnsafePointer<larder_item>, _ source: any ItemSource
    ) -> UnsafeBufferPointer<UInt8> {
        let path = item.pointee.path
        guard let start = path.ptr else { return source.pathBytes }
        return UnsafeBufferPointer(
            start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: Int(path.len))
    }
}
