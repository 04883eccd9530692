import ArgumentParser
import Core
import Glibc
import Model
import Threads

struct PluginTry: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "try", abstract: "Call a plugin for given items, without a server.",
        usage: "larder plugin try <library> [--items <file> | --account <name>] [--trigger <trigger>] [--watch]",
        discussion: """
            Calls the processors of a library as a host does, and prints each call and what it asks for. Nothing of \
            that is done. With --items, the items come from a file with the JSON of an item on each line, as \
            `larder ls -r --json` prints them; only `path` must be there. With --account, they are those of an account, \
            which is not changed. Without either there are no items. The settings of the plugin are those in the config \
            if --config or --account is given. With --watch, the library is called again each time that it has changed.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's library.", completion: .file()) var library: String
    @Option(
        help: ArgumentHelp("A file with items as JSON; - for standard input.", valueName: "file"), completion: .file())
    var items: String?
    @Option(
        help: ArgumentHelp(
            "One of \(Trigger.allCases.map(\.name).joined(separator: ", ")). With the first, all items have changed.",
            valueName: "trigger"))
    var trigger = Trigger.itemListUpdateCompleted.name
    @Flag(help: "Do it again whenever the library has changed, until Ctrl-C.") var watch = false
    @Option(name: .customLong("in"), help: .hidden) var folder: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let trigger = try Trigger(typed: trigger, among: Trigger.allCases)
        guard items == nil || global.account == nil else {
            throw Failure(.usage, "the items come from --items or from --account, and not from both")
        }
        guard items != "-" || !watch else {
            throw Failure(
                .usage, "standard input can be read once, and --watch would read it again",
                hint: "Write the items to a file, and name it with --items")
        }
        if let folder {
            defer { Trial.end(in: folder) }
            return try await Trial(library: library, items: items, trigger: trigger, folder: folder, global: global)
                .make(console)
        }
        // A plugin may do anything to the process that calls it, so that this is another one.
        let ends = try Signals(heeding: SIGINT, SIGTERM, SIGHUP, SIGQUIT)
        let process = TrialProcess()
        let result = await withTaskGroup(of: Result<Int32, Failure>?.self) { group in
            group.addTask {
                var code: Int32 = 0
                for await signal in ends {
                    code = 128 + signal
                    break
                }
                process.end()
                return code == 0 ? nil : .success(code)
            }
            group.addTask {
                do throws(Failure) { return .success(try await makeTrials(in: process, console)) } catch {
                    return .failure(error)
                }
            }
            // What a trial that was ended has left is removed before the command ends.
            let first = await group.next() ?? nil
            group.cancelAll()
            _ = await group.next()
            return first
        }
        let code = try result?.get() ?? 0
        // A person ends the watch by a signal. Otherwise the other process has said what is wrong.
        if code != 0, !watch { ProcessSetup.leave(code) }
        return []
    }

    /// Makes a trial, or with ``watch`` one for each time that the library has changed.
    /// - Returns: The last trial's exit code.
    private func makeTrials(in process: TrialProcess, _ console: Console) async throws(Failure) -> Int32 {
        while true {
            let before = FileStamp(library)
            do throws(Failure) {
                let code = try await makeTrial(in: process, console)
                guard watch else { return code }
            } catch {
                guard watch, !Task.isCancelled else { throw error }
                console.note("larder: \(error.message)")
            }
            console.note("larder: waiting for \(library) to change")
            guard await change(from: before, console) else { return 0 }
        }
    }

    /// Makes one trial in a process of its own.
    /// - Returns: its exit code.
    private func makeTrial(in process: TrialProcess, _ console: Console) async throws(Failure) -> Int32 {
        let folder = try TemporaryFolder(named: "larder-try")
        var words = [BuiltIn.executable, "plugin", "try", library, "--trigger", trigger, "--in", folder.path]
        if let items { words += ["--items", items == "-" ? Trial.givenItems(in: folder.path) : items] }
        if let file = global.configFile { words += ["--config", file] }
        if let account = global.account { words += ["--account", account] }
        if let level = global.logLevel { words += ["--log-level", level] }
        if global.isJSON { words.append("--json") }
        let program = ChildProgram(words: words)
        return try await runBlocking { [output = console.output, items] () -> Result<Int32, Failure> in
            let terminal = TerminalState()
            defer {
                terminal?.restore()
                folder.remove()
            }
            do throws(Failure) {
                // A process in the background cannot read a terminal.
                if items == "-" { try process.copyInput(to: Trial.givenItems(in: folder.path)) }
                let status = try process.run(program, output: output)
                guard status & 0x7f == 0 else {
                    throw Failure(.internal, "the process of the plugin was ended by the signal \(status & 0x7f)")
                }
                guard Trial.hasEnded(in: folder.path) else {
                    throw Failure(.internal, "the plugin ended the process, in the last call that is shown or after it")
                }
                return .success(status >> 8 & 0xff)
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Waits until the library is another file, or has been written, and nobody writes it any more.
    /// - Returns: False if the task was cancelled, or nobody reads the output any more.
    private func change(from before: FileStamp?, _ console: Console) async -> Bool {
        var last = before
        while true {
            do { try await Task.sleep(for: .milliseconds(200)) } catch { return false }
            if console.isReaderGone { return false }
            let now = FileStamp(library)
            if now != nil, now != before, now == last { return true }
            last = now
        }
    }
}

extension Trigger {
    /// Reads a trigger that a person has typed.
    /// - Throws: `usage` if it is none of these.
    init(typed text: String, among triggers: [Trigger]) throws(Failure) {
        guard let trigger = triggers.first(where: { $0.name == text }) else {
            let names = triggers.map(\.name)
            let meant = nearestName(to: text, among: names, ifLikely: true).map { "did you mean `\($0)`? " } ?? ""
            let kind = triggers.count < Trigger.allCases.count ? " for which all items are checked" : ""
            throw Failure(
                .usage, "--trigger: `\(Text.visible(text))` is not a trigger\(kind)",
                hint: meant + "the triggers are: \(names.joined(separator: ", "))")
        }
        self = trigger
    }
}
