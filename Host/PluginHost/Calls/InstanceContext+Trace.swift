import CLarder
import CLinux
import Model

/// The lines of a call in the trace, if there is a trace.
extension InstanceContext {
    /// Makes a call as ``call(_:_:_:_:_:)`` does, and writes its first and last line.
    func tracedCall(
        _ name: StaticString, _ phase: Phase, _ subject: CallSubject, _ trigger: Trigger?, in trace: CallTrace,
        _ body: () -> larder_status
    ) -> (status: larder_status, message: String?) {
        let text = String(decoding: subject.text, as: UTF8.self)
        let call = TracedCall(
            plugin: plugin, call: name, trigger: trigger,
            path: subject.kind == UInt32(LINUX_CALL_ABOUT_ITEM) ? text : nil,
            loop: subject.kind == UInt32(LINUX_CALL_ABOUT_LOOP) ? text : nil)
        traced = call
        defer { traced = nil }
        let began = clock.monotonic()
        trace.begin(call, at: clock.now())
        let result = untracedCall(name, phase, subject, body)
        trace.end(call, status: statusName(result.status), at: clock.now(), took: clock.monotonic() - began)
        return result
    }

    /// Writes a line about the call under way. Must be called on the plugin's thread. Outside a call the line names no
    /// call.
    func trace(
        _ phase: TracePhase, _ what: @autoclosure () -> String, _ text: @autoclosure () -> String?,
        because: String? = nil
    ) {
        guard let trace else { return }
        trace.note(
            phase, traced ?? TracedCall(plugin: plugin), what: what(), text: text(), because: because, at: clock.now())
    }

    /// Writes a line about a service that was called from a thread without a call under way.
    func traceStray(_ service: StaticString, _ status: larder_status, because: String) {
        trace?.note(
            .refused, TracedCall(plugin: plugin), what: "\(service)", text: statusName(status), because: because,
            at: clock.now())
    }

    /// Writes lines about the requests of a call that has returned.
    func traceAsked(_ status: larder_status) {
        guard trace != nil else { return }
        let (phase, because): (TracePhase, String?) =
            status == LARDER_OK ? (.asked, nil) : (.dropped, "the call returned \(statusName(status))")
        for intent in asked.all { trace(phase, intent.change.name, subject(of: intent.change), because: because) }
        for ask in loopAsked { trace(phase, ask.name, ask.subject, because: because) }
    }

    func subject(of change: Intent.Change) -> String {
        switch change {
        case .download(let item, _), .update(let item), .removeLocalCopy(let item, _, _), .purge(let item):
            run?.path(of: item)?.text ?? item.text
        case .server(let change): subject(of: change)
        case .addPolicy(let policy, _), .updatePolicy(let policy, _): policy.condition
        case .removePolicy(let id, _): id.text
        case .putValue(let key, _), .deleteValue(let key): String(decoding: key, as: UTF8.self)
        }
    }

    private func subject(of change: PluginChange) -> String {
        let item = change.item.map { run?.path(of: $0)?.text ?? $0.text }
        return [item, change.target?.text].compactMap(\.self).joined(separator: " to ")
    }
}

extension LoopAsk {
    fileprivate var name: String {
        switch self {
        case .record(.put): "putRecord"
        case .record(.remove): "removeRecord"
        case .value(_, let value): value == nil ? "deleteValue" : "putValue"
        case .requestListing: "look"
        }
    }

    fileprivate var subject: String {
        switch self {
        case .record(.put(let record, let collection)): "\(collection) \(record.key)"
        case .record(.remove(let key, let collection)): "\(collection) \(key)"
        case .value(let key, _): String(decoding: key, as: UTF8.self)
        case .requestListing(let path): path.text
        }
    }
}
