import CLarder
import Logging
public import Model
import Synchronization

/// The calls into a plugin's event loops. Each call is recorded, and its failures are logged. Valid on the plugin's
/// thread, inside the closure that got the calls.
public final class LoopCalls {
    private let instance: PluginInstance
    private let table: larder_event_loop
    private let context: InstanceContext
    private let loop: LoopID

    init(instance: PluginInstance, table: larder_event_loop, context: InstanceContext, loop: LoopID) {
        self.instance = instance
        self.table = table
        self.context = context
        self.loop = loop
    }

    /// Asks the loop for the events after an event id. Release the page afterwards.
    /// - Parameters:
    ///   - eventID: The event id up to which the loop has processed the events.
    ///   - turn: The turn that answers the service requests of the call.
    /// - Returns: The page.
    /// - Throws: ``LoopFailure`` with the status that the plugin returned, or with `LARDER_FAILED` for a page without a
    ///   valid event id.
    public func poll(since eventID: EventID, _ turn: any LoopTurn) throws(LoopFailure) -> LoopPage {
        try page("poll", .loopReading, eventID, turn) { context, loop, page in table.poll(context, loop, page) }
    }

    /// Applies a page. The turn commits the requests of the call.
    /// - Parameters:
    ///   - page: The page to apply.
    ///   - eventID: The event id up to which the loop has processed the events; nil if there is none.
    ///   - turn: The turn that answers the service requests of the call.
    /// - Throws: ``LoopFailure`` with the status that the plugin returned, or with `LARDER_INTERNAL` for a page that
    ///   was released.
    public func process(_ page: LoopPage, since eventID: EventID?, _ turn: any LoopTurn) throws(LoopFailure) {
        guard let kept = instance.pages[page.number] else {
            throw LoopFailure(status: LARDER_INTERNAL, message: "the page was released")
        }
        try call("process", .loop, eventID, turn) { context, loop in
            withUnsafePointer(to: kept) { table.process(context, loop, $0) }
        }
    }

    /// Fetches again the data that `what` names. Release the page afterwards.
    /// - Parameters:
    ///   - what: The bits of the data to fetch.
    ///   - eventID: The event id up to which the loop has processed the events; nil if there is none.
    ///   - turn: The turn that answers the service requests of the call.
    /// - Returns: The page.
    /// - Throws: The errors of ``poll(since:_:)``.
    public func refresh(_ what: UInt32, since eventID: EventID?, _ turn: any LoopTurn) throws(LoopFailure) -> LoopPage {
        try page("refresh", .loop, eventID, turn) { context, loop, page in table.refresh(context, loop, what, page) }
    }

    /// Tells the loop why a turn failed.
    /// - Parameters:
    ///   - error: The failure of the turn.
    ///   - eventID: The event id up to which the loop has processed the events; nil if there is none.
    ///   - turn: The turn that answers the service requests of the call.
    /// - Throws: Nothing in practice, because this call returns no status.
    public func onError(_ error: LoopReport, since eventID: EventID?, _ turn: any LoopTurn) throws(LoopFailure) {
        try call("onError", .loopReading, eventID, turn) { context, loop in
            var told = larder_loop_error(
                struct_size: size(of: larder_loop_error.self), code: error.code.rawValue, status: error.status,
                reserved: 0, message: self.context.lend(error.message))
            table.on_error(context, loop, &told)
            return LARDER_OK
        }
    }

    /// Gives a page back to the plugin. A page that was given back before is ignored.
    public func release(_ page: LoopPage) { instance.release(page.number) }

    private func page(
        _ name: StaticString, _ phase: InstanceContext.Phase, _ eventID: EventID?, _ turn: any LoopTurn,
        _ body: (
            UnsafeMutableRawPointer?, UnsafePointer<larder_loop>, UnsafeMutablePointer<larder_event_page>
        ) -> larder_status
    ) throws(LoopFailure) -> LoopPage {
        var out = larder_event_page()
        out.struct_size = size(of: larder_event_page.self)
        try call(name, phase, eventID, turn) { context, loop in
            body(context, loop, &out)
        }
        let number = instance.keep(out)
        do throws(LoopFailure) {
            let isRefresh = out.refresh != 0
            guard isRefresh || !out.event_id.isAbsent else { throw bad(name, "without an event id") }
            let text = isRefresh ? nil : out.event_id.text
            if !isRefresh {
                guard let text else { throw bad(name, "whose event id is not UTF-8") }
                guard !text.isEmpty else { throw bad(name, "with an empty event id") }
            }
            return LoopPage(
                eventID: text.map { EventID($0) }, refresh: out.refresh, more: out.more != 0, number: number)
        } catch {
            instance.release(number)
            throw error
        }
    }

    private func bad(_ name: StaticString, _ what: String) -> LoopFailure {
        instance.log.note(.failed, "\(name) of the loop \(loop) handed out a page \(what)")
        return LoopFailure(status: LARDER_FAILED, message: "\(name) handed out a page \(what)")
    }

    private func call(
        _ name: StaticString, _ phase: InstanceContext.Phase, _ eventID: EventID?, _ turn: any LoopTurn,
        _ body: (UnsafeMutableRawPointer?, UnsafePointer<larder_loop>) -> larder_status
    ) throws(LoopFailure) {
        (context.turn, context.recordShortage) = (turn, nil)
        (context.valueRoom, context.recordRoom) = (nil, nil)
        defer { (context.turn, context.valueRoom, context.recordRoom) = (nil, nil, nil) }
        var id = loop.text
        let (status, message) = id.withUTF8 { id in
            context.call(name, phase, .loop(id)) {
                var view = larder_loop(
                    struct_size: size(of: larder_loop.self), reserved: 0, id: context.lend(loop.text),
                    event_id: eventID.map { context.lend($0.text) } ?? larder_str(ptr: nil, len: 0))
                return body(instance.receiver, &view)
            }
        }
        if let shortage = context.recordShortage {
            throw LoopFailure(status: shortage.status, message: shortage.message, isOverQuota: true)
        }
        guard status != LARDER_OK else { return }
        // A failure of the host is logged once, where it occurred. A failure of the plugin counts as its mistake.
        if !context.mayReturn(status) {
            instance.log.note(.unknownStatus, "\(name) of the loop \(loop) returned the unknown status \(status)")
        } else if status == LARDER_FAILED || status == LARDER_INTERNAL || status == LARDER_INVALID_ARGUMENT {
            instance.log.note(.failed, "\(name) of the loop \(loop) failed: \(message ?? statusName(status))")
        }
        throw LoopFailure(status: isKnown(status) ? status : LARDER_FAILED, message: message ?? statusName(status))
    }
}

/// The result of a poll or a refresh. The data that the plugin keeps for the page stay on the plugin's thread.
public struct LoopPage: Sendable {
    /// The event id that the loop reaches with the page; nil if the page asks for a refresh.
    public var eventID: EventID?
    /// The bits of the data to fetch again; 0 for none.
    public var refresh: UInt32
    /// Whether there are more events after the page.
    public var more: Bool
    let number: Int
}

/// The reason why a call into a loop failed.
public struct LoopFailure: Error, Hashable, Sendable {
    /// One of the ABI's statuses.
    public var status: Int32
    /// The explanation of the failure.
    public var message: String
    /// Whether the plugin's records would have taken more than their quota.
    public var isOverQuota: Bool

    /// Creates a failure.
    public init(status: Int32, message: String, isOverQuota: Bool = false) {
        self.status = status
        self.message = message
        self.isOverQuota = isOverQuota
    }

    /// Whether the loop has nothing to poll on this server.
    public var isNotOffered: Bool { status == LARDER_UNSUPPORTED }
}

/// The report to a loop about a turn that failed.
public struct LoopReport: Hashable, Sendable {
    /// The class of a failure. The raw values are those of the ABI.
    public enum Code: UInt32, Sendable {
        case missingID = 1
        case outdated, pollFailed, processing, timedOut, noProgress
    }

    /// The class of the failure.
    public var code: Code
    /// One of the ABI's statuses.
    public var status: Int32
    /// The explanation of the failure.
    public var message: String

    /// Creates a report.
    public init(code: Code, status: Int32, message: String) {
        self.code = code
        self.status = status
        self.message = message
    }
}
