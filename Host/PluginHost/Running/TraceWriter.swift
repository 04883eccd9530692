import Glibc
public import Model
import Synchronization

/// A call as lines of a trace name it.
struct TracedCall: Sendable {
    var plugin: PluginID
    /// Nil: none is known, as in what came from a thread of the plugin's own.
    var call: StaticString?
    var trigger: Trigger?
    /// Of the item that it is about.
    var path: String?
    /// The event loop that it is about.
    var loop: String?

    /// Those whose end has had a line without `phase` from the beginning.
    private static let plain: Set<String> = [
        "updatePolicies", "performPreflightOnPolicies", "willEnterTrigger", "beginMatching", "performAction",
        "endMatching",
        "beginCleanup", "performCleanup", "endCleanup", "didPassTrigger", "poll", "process", "refresh", "onError",
    ]

    var hasPlainEnd: Bool { call.map { Self.plain.contains("\($0)") } ?? false }

    fileprivate var members: String {
        "\"plugin\":\(JSONText.quoted(plugin.text)),\"call\":\(call.map { "\"\($0)\"" } ?? "null")"
            + ",\"trigger\":\(trigger.map { "\"\($0.name)\"" } ?? "null"),\"path\":\(quoted(path)),\"loop\":\(quoted(loop))"
    }
}

/// Every call into every plugin, in a file: a JSON line when it begins, one for what comes of it meanwhile, and one when it ends.
///
/// A line is in the file when the function returns that writes it, so that what ends the process ends the trace at the right place.
public final class TraceWriter: Sendable {
    /// What a line is about that is no call's end.
    enum Phase: String {
        case begin
        /// The end of a call that has no line otherwise.
        case end
        /// The text of a condition that the call gave.
        case condition
        /// What the call asked for, and that it counts; that it does not.
        case asked, dropped
        /// A service that was not done.
        case refused
        /// What the plugin said.
        case message
    }

    private struct State {
        var sequence: Int64 = 0
        var failure: Int32?
    }

    private let descriptor: Int32
    private let path: String
    private let state = Mutex(State())

    /// Opens the file.
    /// - Parameter path: the file; one that is there is replaced.
    /// - Throws: `.cannotCreate` if it cannot be written.
    public init(path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(.cannotCreate, "cannot write the trace to \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    // All may be called on any thread; the lines' numbers rise in their order in the file.

    func begin(_ call: TracedCall, at time: Timestamp) {
        write(call, at: time, ",\"phase\":\"\(Phase.begin.rawValue)\"")
    }

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
            let line = Array("{\"seq\":\(state.sequence),\(end)".utf8)
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

    /// What a plugin asked for in a call that is over is not carried out.
    /// - Parameters:
    ///   - action: what it asked for, such as `download`.
    ///   - path: of the item that it is about.
    ///   - because: a sentence.
    public func dropped(_ action: String, path: String?, by plugin: PluginID, because: String, at time: Timestamp) {
        note(.dropped, TracedCall(plugin: plugin, path: path), what: action, text: path, because: because, at: time)
    }

    /// Tells whether all lines are in the file.
    /// - Throws: `.localIO` with the first error since the start; the trace ends there.
    public func check() throws(Failure) {
        if let failure = state.withLock(\.failure) {
            throw Failure(.localIO, "cannot write the trace to \(path): \(String(cString: strerror(failure)))")
        }
    }
}

private func quoted(_ text: String?) -> String { text.map(JSONText.quoted) ?? "null" }
