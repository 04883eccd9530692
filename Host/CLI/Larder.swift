import ArgumentParser
import Core
import Glibc
import Model
import Threads

/// The command line.
@main struct Larder: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "larder",
        abstract: "Synchronizes a WebDAV account's files as its policies say.",
        discussion: """
            Begin with `larder demo`, which needs no config and no account. Exit codes: 0 all done, 1 something failed \
            or waits for a person, 64 usage, 65 bad input, 66 not found, 69 server not reachable, \
            70 internal error, or a plugin ended the host, 73 cannot create, 74 local input or output, 75 vault locked \
            by another host, 76 the server's answer makes no sense, 77 not authenticated or not allowed, 78 config.
            """,
        version: Product.version,
        subcommands: [
            Demo.self, Run.self, Status.self, List.self, Stat.self, Explain.self, Pin.self, Unpin.self, Get.self,
            Free.self, Use.self, ClaimCommand.self, PolicyCommand.self, SyncCommand.self, IssueCommand.self,
            LoopCommand.self, Check.self, CalendarCommand.self, ShareCommand.self, PluginCommand.self,
            ProjectCommand.self,
            ConfigCommand.self, Probe.self,
        ])

    @OptionGroup var global: GlobalOptions

    static func main() async {
        ProcessSetup.perform()
        let arguments = Array(CommandLine.arguments.dropFirst())
        let code = await run(arguments, console: .keepingOutput(isProbe: arguments.first == Probe.name))
        // With a thread inside a plugin that does not return, what libraries do at an exit is no longer safe.
        if HostProcess.mustEndAtOnce { _exit(code) }
        Glibc.exit(code)
    }

    /// Runs a command line.
    /// - Returns: the exit code.
    static func run(_ arguments: [String], console: Console) async -> Int32 {
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        var failures: [Failure]
        do throws(Failure) {
            guard let command = try parse(arguments, console: console) else { return 0 }
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
        // The problems of a config are a line each, and the person's own; anything else may hold what a server says.
        let lines =
            failure.kind == .config ? failure.message.split(separator: "\n").map(String.init) : [failure.message]
        console.note("larder: \(lines.map { Text.visible($0) }.joined(separator: "\n"))")
        if let hint = failure.advice { console.note("  \(Text.visible(hint))") }
    }

    /// - Returns: the command; nil if help or the version was asked for, which is printed.
    /// - Throws: `usage`.
    private static func parse(_ arguments: [String], console: Console) throws(Failure) -> (any LarderCommand)? {
        // The parser's own `help` takes a command that there is not for none.
        let words = words(arguments)
        if words.first == "help", let failure = command(words.dropFirst()).unknown { throw failure }
        do {
            var command = try parseAsRoot(arguments)
            if let command = command as? any LarderCommand { return command }
            try command.run()
            return nil
        } catch {
            let message = message(for: error)
            guard exitCode(for: error) != .success else {
                console.print(fullMessage(for: error))
                try console.flush()
                return nil
            }
            throw misuse(arguments, message.split(separator: "\n").joined(separator: " "))
        }
    }

    /// What is wrong with a command line that cannot be parsed: a command that there is not, else what the parser says.
    private static func misuse(_ arguments: [String], _ message: String) -> Failure {
        let (name, unknown) = command(words(arguments)[...])
        return unknown ?? Failure(.usage, message, hint: "see `\(name) --help`")
    }

    /// The command that words name as far as there is one, and what is wrong with the word that names none.
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

    /// The arguments that are neither options nor the values of options that every command has.
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
