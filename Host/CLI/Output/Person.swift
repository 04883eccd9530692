import Glibc
import Model
import Threads

/// The person at the terminal, who can be asked. Without a terminal nobody is.
struct Person {
    private let console: Console
    /// Whether standard input and the error output are a terminal.
    let isThere: Bool

    init(_ console: Console) {
        self.console = console
        isThere = isatty(STDIN_FILENO) == 1 && console.errorsAreTerminal
    }

    /// Asks for a line.
    /// - Throws: `usage` if the input ends.
    func ask(_ question: String) async throws(Failure) -> String {
        console.ask(question)
        guard let line = await runBlocking({ readLine() }) else { throw Self.silence }
        return line
    }

    /// Asks a question to which only `y` and `yes` mean yes.
    func agrees(to question: String) async throws(Failure) -> Bool {
        ["y", "yes"].contains(try await ask("\(question) [y/N] ").lowercased())
    }

    /// Asks for a secret. The terminal does not show what is typed.
    /// - Throws: `usage` if the input ends or is interrupted with Ctrl-C.
    func askSecret(_ question: String) async throws(Failure) -> String {
        let line = await runBlocking { [console] () -> String? in
            var before = termios()
            guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
            var quiet = before
            // Without signals from keys, the terminal cannot be left in this state.
            quiet.c_lflag &= ~tcflag_t(ECHO | ISIG)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
            defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
            // Nothing that is typed after the question is shown or lost.
            console.ask(question)
            return readLine()
        }
        console.note("")
        guard let line, !line.utf8.contains(3) else { throw Self.silence }
        return line
    }

    private static let silence = Failure(.usage, "the question was not answered; nothing was changed")
}
