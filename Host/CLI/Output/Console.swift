import Glibc
import Model
import Synchronization

/// Standard output and standard error of the program. May be used from any thread.
///
/// What is asked for goes to the output, gathered in large writes. Logs, errors and the line of progress go to the
/// error output, which is written at once; a line of progress gives way to any other and comes back below it.
final class Console: Sendable {
    /// The process's own, called once, before any plugin is opened: what a plugin, or a library that it uses, writes to
    /// standard output goes to standard error from then on, and never between the lines that were asked for.
    /// - Parameter isProbe: whether the process opens one library and ends; it sees to this by itself.
    static func keepingOutput(isProbe: Bool) -> Console {
        let own = isProbe ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard own >= 0, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else { return Console() }
        return Console(output: own)
    }

    private struct State {
        var pending: [UInt8] = []
        var progress: String?
        var failure: Int32?
    }

    /// Takes a line of a terminal away.
    private static let cleared = "\r\u{1b}[K"

    private let state = Mutex(State())
    private let output: Int32
    private let errors: Int32
    let outputIsTerminal: Bool
    let errorsAreTerminal: Bool
    /// Whether escape sequences for colours may be written to the output.
    let hasColour: Bool

    /// - Parameters:
    ///   - output: the descriptor for what was asked for.
    ///   - errors: the descriptor for logs, errors and progress.
    init(output: Int32 = 1, errors: Int32 = 2) {
        self.output = output
        self.errors = errors
        outputIsTerminal = isatty(output) == 1
        errorsAreTerminal = isatty(errors) == 1
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        hasColour = isatty(output) == 1 && getenv("NO_COLOR") == nil && !isDumb
    }

    /// Adds a line to the output.
    func print(_ line: String) {
        state.withLock { state in
            state.pending += line.utf8
            state.pending.append(UInt8(ascii: "\n"))
            if state.pending.count >= 65_536 || outputIsTerminal { flush(&state) }
        }
    }

    /// Adds bytes to the output as they are.
    /// - Parameter endingLine: whether a line's end is added if they have none at theirs.
    func write(_ bytes: [UInt8], endingLine: Bool) {
        state.withLock { state in
            state.pending += bytes
            if endingLine, bytes.last != UInt8(ascii: "\n") { state.pending.append(UInt8(ascii: "\n")) }
            if state.pending.count >= 65_536 || outputIsTerminal { flush(&state) }
        }
    }

    func print(_ json: JSONValue) { print(json.text) }

    /// Writes what was added to the output.
    /// - Throws: `localIO` if it, or something before, could not be written.
    func flush() throws(Failure) {
        let failure = state.withLock { state in
            flush(&state)
            return state.failure
        }
        // A reader that has seen enough, like `head`, is no failure.
        guard let failure, failure != EPIPE else { return }
        throw Failure(.localIO, "the output cannot be written: \(errorText(failure))")
    }

    /// Writes a line to the error output.
    func note(_ line: String) {
        state.withLock { state in
            if state.progress != nil { Self.write(Array(Self.cleared.utf8), to: errors) }
            Self.write(Array("\(line)\n".utf8), to: errors)
            if let progress = state.progress { Self.write(Array(progress.utf8), to: errors) }
        }
    }

    /// Shows a line of progress, nil takes it away. Only a terminal has one.
    func showProgress(_ line: String?) {
        guard errorsAreTerminal else { return }
        state.withLock { state in
            guard line != state.progress else { return }
            state.progress = line
            Self.write(Array((Self.cleared + (line ?? "")).utf8), to: errors)
        }
    }

    /// How many columns the error output has; 80 if it does not tell.
    var width: Int {
        var size = winsize()
        return ioctl(errors, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    private func flush(_ state: inout State) {
        // Both are the same screen then.
        let progress = outputIsTerminal && !state.pending.isEmpty ? state.progress : nil
        if progress != nil { Self.write(Array(Self.cleared.utf8), to: errors) }
        if state.failure == nil, let number = Self.write(state.pending, to: output) { state.failure = number }
        state.pending.removeAll(keepingCapacity: true)
        if let progress { Self.write(Array(progress.utf8), to: errors) }
    }

    /// - Returns: nil, or the error number.
    @discardableResult private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest.removeFirst(count)
        }
        return nil
    }
}
