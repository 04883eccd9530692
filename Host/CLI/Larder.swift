import ArgumentParser
import Core
import Glibc
import Model
import Threads

/// The root command of the command line.
@main struct Larder: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "larder",
        abstract: "Synchronizes a WebDAV account's files as its policies say.",
        discussion: """
            Begin with `larder demo`, which needs no config and no account. Exit codes: 0 all done, 1 something failed \
            or waits for a person, 64 usage, 65 bad input, 66 not found, 69 server not reachable, \
            70 internal error, or a plugin ended the host, 73 cannot create, 74 local input or output, 75 vault locked \
            by another host, 76 the server's answer makes no sense, 77 not authenticated or not allowed, 78 config, 124 a wait that took too long.
            """,
        version: Product.version,
        subcommands: [
            Demo.self, Run.self, Reload.self, Pause.self, Resume.self, HealthCheck.self, Wait.self, Status.self,
            Watch.self, Events.self,
            List.self, Stat.self, Explain.self, Pin.self, Unpin.self, Get.self, Put.self, MakeFolder.self, Copy.self,
            Move.self, Remove.self, Favorite.self, Touch.self,
            Free.self, Use.self, ClaimCommand.self, PolicyCommand.self, SyncCommand.self, IssueCommand.self,
            LoopCommand.self, Check.self, AccountsCommand.self, CalendarCommand.self, ShareCommand.self,
            PluginCommand.self,
            ProjectCommand.self,
            ConfigCommand.self, Completions.self, Probe.self,
        ])

    @OptionGroup var global: GlobalOptions

    static func main() async {
        ProcessSetup.perform()
        // Nothing that runs later gets the service manager's variables.
        _ = ServiceManager.own
        let arguments = Array(CommandLine.arguments.dropFirst())
        // The signal has a host read its config anew. Before the host heeds it, it must not end the process.
        let isHost = words(arguments).first == Run.configuration.commandName
        if isHost { signal(SIGHUP, SIG_IGN) }
        let isProbe = arguments.first == Probe.name
        let console = Console.keepingOutput(isProbe: isProbe)
        let code: Int32
        if let failure = unreadableArgument() ?? tooFewFiles() ?? tooFewThreads(isHost: isHost, isProbe: isProbe) {
            report(failure, to: console)
            code = failure.kind.rawValue
        } else if PluginValidate.makeCheck(arguments) {
            code = 0
        } else {
            code = await run(arguments, console: console)
        }
        // A plugin's exit handlers are not the host's to run: they may hang or crash.
        ProcessSetup.leave(code)
    }

    /// Returns the failure of an argument that is not UTF-8. Swift would put another character in place of the bytes, and
    /// two different names would become one.
    private static func unreadableArgument() -> Failure? {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil else {
                continue
            }
            return Failure(
                .badData, "the argument \(CommandLine.arguments[index]) is not UTF-8",
                hint: "Rename the file, or name the folder it is in")
        }
        return nil
    }

    /// Returns the failure of a limit of open files that is below what one account takes.
    private static func tooFewFiles() -> Failure? {
        let limit = ProcessSetup.mostOpenFiles
        guard limit < 128 else { return nil }
        return Failure(
            .localIO, "this process may have \(limit) files open, and Larder needs 128",
            hint: "Raise the limit: `ulimit -n 1024` in a shell, `LimitNOFILE=1024` in a unit of systemd")
    }

    /// Returns the failure of a limit of threads that is below what a host with one account takes, or another command.
    /// Libraries end the process where they cannot start a thread, or wait for one without end.
    private static func tooFewThreads(isHost: Bool, isProbe: Bool) -> Failure? {
        let count = isHost ? 32 : 16
        guard !isProbe, !SystemThread.canStart(count) else { return nil }
        return Failure(
            .localIO, "this process cannot have \(count) threads, and Larder needs them",
            hint: "Raise the limit of threads: `ulimit -u` in a shell, which counts all processes and threads of the "
                + "user, `TasksMax=` in a unit of systemd")
    }

    /// Parses and runs a command line, and prints its failures.
    /// - Returns: the exit code.
    static func run(_ arguments: [String], console: Console) async -> Int32 {
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        var failures: [Failure]
        do throws(Failure) {
            guard let command = try await parse(arguments, console: console) else { return 0 }
            failures = try await command.perform(console)
        } catch {
            failures = [error]
        }
        console.showProgress(nil)
        for failure in failures { report(failure, to: console) }
        let worst = Failure.Kind.worst(of: failures.map(\.kind))
        if isJSON, let first = failures.first(where: { $0.kind == worst }) { console.print(JSONValue(error: first)) }
        do {
            try console.flush()
        } catch {
            report(error, to: console)
            return Failure.Kind.worst(of: [error.kind, worst ?? error.kind])?.rawValue ?? error.kind.rawValue
        }
        return worst?.rawValue ?? 0
    }

    private static func report(_ failure: Failure, to console: Console) {
        // The message of a config failure has one line for each problem, and its text is the person's own. Any other
        // message may quote a server, so its line breaks are made visible.
        let lines =
            failure.kind == .config ? failure.message.split(separator: "\n").map(String.init) : [failure.message]
        for (index, line) in lines.enumerated() { console.note(index == 0 ? "larder: \(line)" : line) }
        if let hint = failure.advice { console.note("  \(hint)") }
    }

    /// Returns the command that the arguments name. Prints the help or the version if the arguments ask for one of
    /// them.
    /// - Returns: the command; nil if the help or the version was printed.
    /// - Throws: `usage` if the arguments cannot be parsed.
    private static func parse(_ arguments: [String], console: Console) async throws(Failure) -> (any LarderCommand)? {
        // The parser's own `help` treats the name of an unknown command as if no command were named.
        let words = words(arguments)
        if words.first == "help", let failure = command(words.dropFirst()).unknown { throw failure }
        do {
            var command = try await asyncParseAsRoot(arguments)
            if let command = command as? any LarderCommand { return command }
            try command.run()
            return nil
        } catch {
            let message = message(for: error)
            guard exitCode(for: error) != .success else {
                console.write(Array(fullMessage(for: error).utf8), endingLine: true)
                try console.flush()
                return nil
            }
            throw misuse(arguments, Text.shortened(message.split(separator: "\n").joined(separator: " ")))
        }
    }

    /// Returns the failure for a command line that cannot be parsed: an unknown command, else the parser's message.
    private static func misuse(_ arguments: [String], _ message: String) -> Failure {
        let (name, unknown) = command(words(arguments)[...])
        return unknown ?? Failure(.usage, message, hint: "see `\(name) --help`")
    }

    /// Returns the name of the command that the words name, as far as they name one, and the failure for the first word
    /// that names no command.
    private static func command(_ words: ArraySlice<String>) -> (name: String, unknown: Failure?) {
        var group: any ParsableCommand.Type = Larder.self
        var command = "larder"
        for word in words {
            let known = group.configuration.subcommands.filter { $0.configuration.shouldDisplay }
            if known.isEmpty { break }
            guard let next = known.first(where: { $0.configuration.commandName == word }) else {
                let names = known.compactMap { $0.configuration.commandName }
                let meant = nearestName(to: word, among: names, ifLikely: true).map { "did you mean `\($0)`? " } ?? ""
                let typed = Text.visible("\(command) \(word)".dropFirst("larder ".count).description)
                return (
                    command,
                    Failure(.usage, "there is no command `\(typed)`", hint: meant + "`\(command) --help` lists all")
                )
            }
            group = next
            command += " \(word)"
        }
        return (command, nil)
    }

    /// Returns the arguments without options and without the values of the options that every command has.
    private static func words(_ arguments: [String]) -> [String] {
        var words: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if ["--config", "--account", "--log-level"].contains(argument) { rest = rest.dropFirst() }
            if !argument.hasPrefix("-") { words.append(argument) }
        }
        return words
    }
}
