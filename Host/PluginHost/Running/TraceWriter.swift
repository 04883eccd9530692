import Glibc
public import Model
import Synchronization

/// A trace of every call into every plugin, in a file. A call has a JSON line at its begin, a line for each event in
/// between, and a line at its end.
///
/// A line is in the file when the function that writes the line returns. If a call ends the process, the trace
/// therefore ends at the right line.
public final class TraceWriter: TraceSink {
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

    /// Writes a line. May be called on any thread. The numbers of the lines rise in their order in the file.
    func write(_ members: String) {
        state.withLock { state in
            guard state.failure == nil else { return }
            state.sequence += 1
            let line = Array(shown("{\"seq\":\(state.sequence),\(members)}\n").utf8)
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

    /// Checks that all lines are in the file.
    /// - Throws: `.localIO` with the first error since the start. The trace ends at this error.
    public func check() throws(Failure) {
        if let failure = state.withLock(\.failure) {
            throw Failure(.localIO, "cannot write the trace to \(path): \(String(cString: strerror(failure)))")
        }
    }
}
