import Glibc
public import Model
import Synchronization

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

/// A trace of every call into every plugin, in a file. A call has a JSON line at its begin, a line for each event in
/// between, and a line at its end.
///
/// A line is in the file when the function that writes the line returns. If a call ends the process, the trace
/// therefore ends at the right line.
public final class TraceWriter: Sendable {
    /// The kind of a line that is not a call's plain end.
    enum Phase: String {
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

    private struct State {
        var sequence: Int64 = 0
        var failure: Int32?
    }

    private let descriptor: Int32
    private let path: String
    /// Returns what is written for a line.
    private let shown: @Sendable (String) -> String
    private let state = Mutex(State())

    /// Creates the file of a trace.
    /// - Parameter path: The path of the file. An existing file is replaced.
    /// - Throws: `.cannotCreate` if the file cannot be written.
    public init(path: String) throws(Failure) {
        self.path = path
        shown = { $0 }
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(.cannotCreate, "cannot write the trace to \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Creates a trace on the output of a command.
    /// - Parameters:
    ///   - output: The descriptor, which is duplicated.
    ///   - shown: Returns what is written for a line of JSON that ends with a line break. It is called on the threads of
    ///     the plugins.
    public init(output: Int32, as shown: @escaping @Sendable (String) -> String) {
        (path, descriptor, self.shown) = ("the output", fcntl(output, F_DUPFD_CLOEXEC, 3), shown)
    }

    deinit { close(descriptor) }

    // All of the following may be called on any thread. The numbers of the lines rise in their order in the file.

    func begin(_ call: TracedCall, at time: Timestamp) {
        write(call, at: time, ",\"phase\":\"\(Phase.begin.rawValue)\"")
    }

    /// Writes the line for the end of a call.
    /// - Parameter status: `ok`, or the name of the error that the plugin returned.
    func end(_ call: TracedCall, status: String, at time: Timestamp, took duration: Duration) {
        let phase = call.hasPlainEnd ? "" : ",\"phase\":\"\(Phase.end.rawValue)\""
        write(
            call, at: time,
            "\(phase),\"status\":\(JSONText.quoted(status)),\"microseconds\":\(duration.nanoseconds / 1000)")
    }

    func note(
        _ phase: Phase, _ call: TracedCall, what: String, text: String?, because: String? = nil, at time: Timestamp
    ) {
        write(
            call, at: time,
            ",\"phase\":\"\(phase.rawValue)\",\"what\":\(JSONText.quoted(what)),\"text\":\(quoted(text))"
                + ",\"because\":\(quoted(because))")
    }

    private func write(_ call: TracedCall, at time: Timestamp, _ rest: String) {
        let end = "\"time\":\"\(time)\",\(call.members)\(rest)}\n"
        state.withLock { state in
            guard state.failure == nil else { return }
            state.sequence += 1
            let line = Array(shown("{\"seq\":\(state.sequence),\(end)").utf8)
            var written = 0
            while written < line.count {
                let count = line[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count >= 0 {
                    written += count
                } else if errno != EINTR {
                    state.failure = errno
                    return
                }
            }
        }
    }

    /// Writes that a request of a finished call is not carried out.
    /// - Parameters:
    ///   - action: The request, such as `download`.
    ///   - path: The path of the item that the request is about.
    ///   - plugin: The plugin that made the request.
    ///   - because: The reason, as a sentence.
    ///   - time: The time of the line.
    public func dropped(_ action: String, path: String?, by plugin: PluginID, because: String, at time: Timestamp) {
        note(.dropped, TracedCall(plugin: plugin, path: path), what: action, text: path, because: because, at: time)
    }

    /// Checks that all lines are in the file.
    /// - Throws: `.localIO` with the first error since the start. The trace ends at this error.
    public func check() throws(Failure) {
        if let failure = state.withLock(\.failure) {
            throw Failure(.localIO, "cannot write the trace to \(path): \(String(cString: strerror(failure)))")
        }
    }
}

private func quoted(_ text: String?) -> String { text.map(JSONText.quoted) ?? "null" }
