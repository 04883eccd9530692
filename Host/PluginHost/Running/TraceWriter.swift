import Glibc
public import Model
import Synchronization

/// Every call into every plugin, a JSON line each, in a file.
public final class TraceWriter: Sendable {
    private struct State {
        var sequence: Int64 = 0
        var buffer: [UInt8] = []
        var failure: Int32?
    }

    private static let bufferSize = 64 << 10
    private let descriptor: Int32
    private let path: String
    private let state = Mutex(State())

    /// - Parameter path: the file; one that is there is replaced.
    public init(path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(.cannotCreate, "cannot write the trace to \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// One call into a plugin. May be called on any thread; the lines' numbers rise in the order of the calls' ends.
    /// - Parameters:
    ///   - path: of the item that a call is about.
    ///   - loop: the event loop that a call is about.
    ///   - status: `ok`, or the name of the error that the plugin returned.
    func record(
        plugin: PluginID, call: StaticString, trigger: Trigger?, path: String?, loop: LoopID? = nil, status: String,
        time: Timestamp,
        took duration: Duration
    ) {
        state.withLock { state in
            state.sequence += 1
            var line = "{\"seq\":\(state.sequence),\"time\":\"\(time)\",\"plugin\":\(JSONText.quoted(plugin.text))"
            line += ",\"call\":\"\(call)\",\"trigger\":\(trigger.map { "\"\($0.name)\"" } ?? "null")"
            line +=
                ",\"path\":\(path.map(JSONText.quoted) ?? "null"),\"loop\":\(loop.map { JSONText.quoted($0.text) } ?? "null")"
            line += ",\"status\":\(JSONText.quoted(status)),\"microseconds\":\(duration.nanoseconds / 1000)}\n"
            state.buffer.append(contentsOf: line.utf8)
            if state.buffer.count >= Self.bufferSize { write(&state) }
        }
    }

    /// Writes what is still in memory.
    /// - Throws: the first error since the start; the trace has a gap then.
    public func flush() throws(Failure) {
        let failure = state.withLock { state in
            write(&state)
            return state.failure
        }
        if let failure {
            throw Failure(.localIO, "cannot write the trace to \(path): \(String(cString: strerror(failure)))")
        }
    }

    private func write(_ state: inout State) {
        var written = 0
        while written < state.buffer.count, state.failure == nil {
            let count = state.buffer[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { written += count } else if errno != EINTR { state.failure = errno }
        }
        state.buffer.removeAll(keepingCapacity: true)
    }
}
