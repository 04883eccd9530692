import Glibc
import Model
import Synchronization

/// Standard output and standard error of the program. The console may be used from any thread.
///
/// The results of a command go to the output, which is buffered in large writes. Logs, errors and the line of progress
/// go to the error output, which is written at once. The line of progress is cleared before any other line is written
/// and is written again below that line.
final class Console: Sendable {
    /// Makes the console of the process and redirects standard output to standard error. Call this function once,
    /// before any plugin is opened. Anything that a plugin, or a library that the plugin uses, writes to standard
    /// output then goes to standard error and never mixes with the command's results.
    /// - Parameter isProbe: whether the process opens one library and ends; such a process redirects its output by
    ///   itself.
    static func keepingOutput(isProbe: Bool) -> Console {
        let own = isProbe ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard own >= 0, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else { return Console() }
        return Console(output: own)
    }

    private struct State {
        var pending: [UInt8] = []
        var progress: String?
        var failure: Int32?
        /// Whether each line of the error output begins with a priority.
        var hasPriorities = false
        /// Whether lines for the error output are dropped when nobody reads it.
        var dropsUnread = false
        /// The number of lines dropped since the error output last took one.
        var dropped = 0
    }

    /// The control sequence that clears a terminal's line.
    private static let cleared = "\r\u{1b}[K"

    private let state = Mutex(State())
    /// Whether the output could not be written.
    private let hasFailed = Atomic(false)
    /// The descriptor for the command's results. What is not printed here may be written to it.
    let output: Int32
    private let errors: Int32
    let outputIsTerminal: Bool
    let errorsAreTerminal: Bool
    /// Whether escape sequences for colours may be written to the output.
    let hasColour: Bool

    /// Whether the output is a terminal on which escape sequences draw.
    let hasScreen: Bool

    /// Makes a console.
    /// - Parameters:
    ///   - output: the descriptor for the command's results.
    ///   - errors: the descriptor for logs, errors and progress.
    init(output: Int32 = 1, errors: Int32 = 2) {
        self.output = output
        self.errors = errors
        outputIsTerminal = isatty(output) == 1
        errorsAreTerminal = isatty(errors) == 1
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        hasScreen = isatty(output) == 1 && !isDumb
        hasColour = isatty(output) == 1 && getenv("NO_COLOR") == nil && !isDumb
    }

    /// Adds a line to the output. Whatever the line contains, it is one line and moves no cursor.
    func print(_ line: String) { write(Array(Text.visible(line).utf8), endingLine: true) }

    /// Adds a document from a server to the output: as it is, or on a terminal without what moves the cursor.
    func print(document: [UInt8]) {
        let isShown = outputIsTerminal
        write(
            isShown ? Array(Text.visibleLines(String(decoding: document, as: UTF8.self)).utf8) : document,
            endingLine: true)
    }

    /// Adds bytes to the output without changing them. They contain nothing from a server that is not visible text.
    /// - Parameter endingLine: whether a newline is added if the bytes do not end with one.
    func write(_ bytes: [UInt8], endingLine: Bool) {
        state.withLock { state in
            state.pending += bytes
            if endingLine, bytes.last != UInt8(ascii: "\n") { state.pending.append(UInt8(ascii: "\n")) }
            if state.pending.count >= 65_536 || outputIsTerminal { flush(&state) }
        }
    }

    func print(_ json: JSONValue) { print(json.text) }

    /// Writes the buffered output.
    /// - Throws: `localIO` if this write or an earlier one failed.
    func flush() throws(Failure) {
        let failure = state.withLock { state in
            flush(&state)
            return state.failure
        }
        guard let failure else { return }
        throw Failure(.localIO, "the output cannot be written: \(errorText(failure))")
    }

    /// Writes the buffered output. ``flush()`` tells whether that went well.
    func send() { state.withLock { flush(&$0) } }

    /// Whether nobody can read the output any more, or it could not be written. Waits for no write that is under way.
    var isReaderGone: Bool {
        var poller = pollfd(fd: output, events: 0, revents: 0)
        return hasFailed.load(ordering: .relaxed)
            || poll(&poller, 1, 0) > 0 && Int32(poller.revents) & (POLLERR | POLLHUP) != 0
    }

    /// The size of the output's terminal; that of a small one if it is unknown.
    var screenSize: Screen.Size {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return .init(columns: 80, rows: 24)
        }
        return .init(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Begins each further line of the error output with its priority, for the journal, or no longer does.
    func showPriorities(_ shows: Bool = true) { state.withLock { $0.hasPriorities = shows } }

    /// Drops lines for the error output from now on when its reader takes none for a second. A host must not stop, or
    /// stay when it is told to end, because nobody reads its log.
    func dropUnreadLines() { state.withLock { $0.dropsUnread = true } }

    /// Writes a line to the error output. Whatever the line contains, it is one line and moves no cursor.
    func note(_ line: String, as priority: LinePriority = .error) {
        state.withLock { state in
            let line = Text.visible(line)
            let text = state.hasPriorities ? priority.prefixed(line) : line
            var lines = state.progress == nil ? "" : Self.cleared
            if state.dropped > 0 {
                let gap = "larder: lines that nobody read were dropped here: \(state.dropped)"
                lines += (state.hasPriorities ? LinePriority.warning.prefixed(gap) : gap) + "\n"
            }
            writeErrors(lines + "\(text)\n" + (state.progress ?? ""), &state)
        }
    }

    /// Writes a question to the error output, after which the cursor stays in the line.
    func ask(_ question: String) {
        state.withLock { _ in _ = Self.write(Array(Text.visible(question).utf8), to: errors) }
    }

    /// Shows a line of progress on a terminal; nil removes the line. Does nothing if the error output is not a
    /// terminal.
    func showProgress(_ line: String?) {
        guard errorsAreTerminal else { return }
        state.withLock { state in
            guard line != state.progress else { return }
            state.progress = line
            writeErrors(Self.cleared + (line ?? ""), &state, isLine: false)
        }
    }

    /// The number of columns of the error output; 80 if it is unknown.
    var width: Int {
        var size = winsize()
        return ioctl(errors, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    private func flush(_ state: inout State) {
        // If the output is a terminal, both outputs are the same screen, so the line of progress is cleared first.
        let progress = outputIsTerminal && !state.pending.isEmpty ? state.progress : nil
        if progress != nil { Self.write(Array(Self.cleared.utf8), to: errors) }
        if state.failure == nil, let number = Self.write(state.pending, to: output) {
            state.failure = number
            hasFailed.store(true, ordering: .relaxed)
        }
        state.pending.removeAll(keepingCapacity: true)
        if let progress { Self.write(Array(progress.utf8), to: errors) }
    }

    /// Writes a text to the error output. If unread lines are dropped, no write waits: one that is no longer than
    /// `PIPE_BUF` fits into whatever can take a byte.
    private func writeErrors(_ text: String, _ state: inout State, isLine: Bool = true) {
        guard state.dropsUnread else {
            Self.write(Array(text.utf8), to: errors)
            return
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            var poller = pollfd(fd: errors, events: Int16(POLLOUT), revents: 0)
            guard poll(&poller, 1, state.dropped > 0 ? 0 : 1_000) != 0 else {
                if isLine { state.dropped += 1 }
                return
            }
            Self.write(Array(rest.prefix(Int(PIPE_BUF))), to: errors)
            rest = rest.dropFirst(Int(PIPE_BUF))
        }
        if isLine { state.dropped = 0 }
    }

    /// Writes all bytes.
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
