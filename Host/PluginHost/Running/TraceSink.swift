import Model

/// The name of a call in the lines of a trace.
struct TracedCall: Sendable {
    var plugin: PluginID
    /// The name of the call; nil if it is unknown, for instance when a thread of the plugin's own calls the host.
    var call: StaticString?
    var trigger: Trigger?
    /// The path of the item that the call is about.
    var path: String?
    /// The event loop that the call is about.
    var loop: String?

    /// The calls whose end line has had no `phase` since the first version of the trace.
    private static let plain: Set<String> = [
        "updatePolicies", "performPreflightOnPolicies", "willEnterTrigger", "beginMatching", "performAction",
        "endMatching",
        "beginCleanup", "performCleanup", "endCleanup", "didPassTrigger", "poll", "process", "refresh", "onError",
    ]

    var hasPlainEnd: Bool { call.map { Self.plain.contains("\($0)") } ?? false }

    fileprivate var members: String {
        "\"plugin\":\(JSONText.quoted(plugin.text)),\"call\":\(call.map { "\"\($0)\"" } ?? "null")"
            + ",\"trigger\":\(trigger.map { "\"\($0.name)\"" } ?? "null")"
            + ",\"path\":\(quoted(path)),\"loop\":\(quoted(loop))"
    }
}

/// The kind of a line that is not a call's plain end.
enum TracePhase: String {
    case begin
    /// The end of a call that has no line otherwise.
    case end
    /// The text of a condition that the call gave.
    case condition
    /// A request of the call that is carried out, and a request that is not.
    case asked, dropped
    /// A service call that was not carried out.
    case refused
    /// A message of the plugin.
    case message
}

/// A place to which the lines of a trace go.
protocol TraceSink: Sendable {
    /// Writes a line. May be called on any thread.
    /// - Parameter members: The members of the line's JSON object after its number.
    func write(_ members: String)
}

extension TraceSink {
    // All of the following may be called on any thread.

    func begin(_ call: TracedCall, at time: Timestamp) {
        write(call, at: time, ",\"phase\":\"\(TracePhase.begin.rawValue)\"")
    }

    /// Writes the line for the end of a call.
    /// - Parameter status: `ok`, or the name of the error that the plugin returned.
    func end(_ call: TracedCall, status: String, at time: Timestamp, took duration: Duration) {
        let phase = call.hasPlainEnd ? "" : ",\"phase\":\"\(TracePhase.end.rawValue)\""
        write(
            call, at: time,
            "\(phase),\"status\":\(JSONText.quoted(status)),\"microseconds\":\(duration.nanoseconds / 1000)")
    }

    func note(
        _ phase: TracePhase, _ call: TracedCall, what: String, text: String?, because: String? = nil, at time: Timestamp
    ) {
        write(
            call, at: time,
            ",\"phase\":\"\(phase.rawValue)\",\"what\":\(JSONText.quoted(what)),\"text\":\(quoted(text))"
                + ",\"because\":\(quoted(because))")
    }

    /// Writes that a request of a finished call is not carried out.
    /// - Parameters:
    ///   - action: The request, such as `download`.
    ///   - path: The path of the item that the request is about.
    ///   - plugin: The plugin that made the request.
    ///   - because: The reason, as a sentence.
    ///   - time: The time of the line.
    func dropped(_ action: String, path: String?, by plugin: PluginID, because: String, at time: Timestamp) {
        note(.dropped, TracedCall(plugin: plugin, path: path), what: action, text: path, because: because, at: time)
    }

    private func write(_ call: TracedCall, at time: Timestamp, _ rest: String) {
        write("\"time\":\"\(time)\",\(call.members)\(rest)")
    }
}

private func quoted(_ text: String?) -> String { text.map(JSONText.quoted) ?? "null" }
