import Core
import Glibc
import Logging
import Model
import Synchronization
import Threads
import Validator

/// The work of `larder plugin dev`: a plugin is built at each save, and a host of its own runs what was built.
///
/// The host never has the library in `out` open, which a build may write over, but a copy in the demo's folder. The copy is
/// replaced while no host runs.
struct DevLoop: Sendable {
    let project: PluginProject
    let demo: ServedDemo
    let console: Console
    let level: Logger.Level
    let isJSON: Bool
    let lines: DevLines

    /// The interval between two readings of the sources, and the number of readings in which files may still change before
    /// they are built.
    private static let interval = Duration.milliseconds(100)
    private static let mostUnsettled = 10
    /// The time that a build has to end in before it is killed.
    private static let buildGrace = Duration.seconds(2)

    /// What runs in the host.
    private struct Running {
        var host: DevHost?
        var plugin: DemoPlugin?
        /// The bytes of the library, and the path of the host's copy.
        var bytes: [UInt8]?
        var place = ""
        /// Whether the library has come since the last checks.
        var isNew = false

        /// What follows if there is no other library to run.
        var otherwise: String {
            host?.isRunning == true ? "the host goes on with the plugin that it has" : "waiting for the next save"
        }
    }

    /// Builds and runs the plugin until the task is cancelled, or nobody reads the output any more. No host runs then.
    func run() async {
        var running = Running()
        var changes = BuildChanges()
        var built = await sources()
        while !Task.isCancelled {
            if let library = await build(otherwise: running.otherwise) { await take(library, into: &running) }
            guard !Task.isCancelled else { break }
            let after = await sources()
            let changed = after.changes(since: built)
            if changes.areByBuild(changed) {
                note(
                    "each ./build changes \(changed.joined(separator: ", ")), which counts as saved after the build alone; "
                        + "let it write into out")
                built = after
            }
            let place = running.isNew ? running.place : nil
            running.isNew = false
            let checks = Task { if let place { await check(place) } }
            let next = await saved(since: built)
            // Another library is about to come to its place.
            checks.cancel()
            await checks.value
            guard let next else { break }
            built = next
        }
        await running.host?.end()
    }

    /// Runs `./build`, whose output goes where this command's messages go.
    /// - Parameter otherwise: What follows if it fails.
    /// - Returns: The library that it has left; nil if there is none to take.
    private func build(otherwise: String) async -> String? {
        let began = ContinuousClock.now
        let errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        defer { close(errors) }
        var program = ChildProgram(words: ["./build"])
        program.folder = project.folder
        let build: RunningProgram
        do throws(ChildProgram.NotStarted) { build = try await RunningProgram.start(program, output: errors) } catch {
            note("./build cannot be started: \(errorText(error.code)); \(otherwise)")
            return nil
        }
        let ending = await build.endedOrEnd(by: SIGINT, within: Self.buildGrace)
        guard !Task.isCancelled else { return nil }
        guard ending == .code(0) else {
            tell("buildFailed", ending.members, "./build failed with \(ending); \(otherwise)")
            return nil
        }
        let took = ContinuousClock.now - began
        do throws(Failure) {
            let library = try await runBlocking { [project] in
                Result { () throws(Failure) in try project.library() }
            }.get()
            tell(
                "built", [.init(name: "milliseconds", value: .integer(took.nanoseconds / 1_000_000))],
                "built in \(Self.written(took))")
            return library
        } catch {
            tell(
                "refused", [.init(name: "message", value: .string(error.message))], "\(error.message); \(otherwise)")
            return nil
        }
    }

    /// Has a host run a library, unless one runs it already. A library that cannot be used changes nothing.
    private func take(_ library: String, into running: inout Running) async {
        let name = library.split(separator: "/").last.map(String.init) ?? "plugin.so"
        let place = "\(demo.folder.path)/plugins/\(name)"
        let copy = place + ".new"
        do throws(Failure) {
            let bytes = try await runBlocking {
                Result { () throws(Failure) in try readFile(library, limit: 1 << 30) }
            }.get()
            let isSame = running.bytes == bytes
            if isSame, running.host?.isRunning == true {
                note("the library is what it was: the host goes on")
                return
            }
            try await runBlocking { Result { () throws(Failure) in try PrivateFile.put(bytes, at: copy) } }.get()
            let plugin = try await DemoPlugin(in: copy, as: place, console)
            await running.host?.end()
            running.host = nil
            guard rename(copy, place) == 0 else {
                throw Failure(.localIO, "\(place) cannot be written: \(errorText(errno))")
            }
            if plugin != running.plugin { try demo.folder.writeConfig(for: demo.server.contents, with: plugin) }
            running.bytes = bytes
            running.place = place
            running.isNew = true
            running.plugin = plugin
            running.host = try await startHost(plugin)
        } catch {
            unlink(copy)
            let advice = error.advice.map { "; \($0)" } ?? ""
            tell(
                "refused", [.init(name: "message", value: .string(error.message))],
                "\(error.message)\(advice); \(running.otherwise)")
        }
    }

    /// Checks the library that the host runs, and tells what is found. What stops the checks is told too.
    private func check(_ library: String) async {
        let validation = await runBlocking {
            Validation(library: library, seed: 1, command: [BuiltIn.executable, "plugin", "validate", library])
        }
        let found = Mutex(0)
        do throws(Failure) {
            try await validation.make(PluginCheck.all) { check, outcome in
                guard case .found(let finding) = outcome else { return }
                found.withLock { $0 += 1 }
                let words = ["\(check.id): \(check.claim)"] + ValidationReport.lines(of: finding, seed: 1)
                tell(
                    "found",
                    [.init(name: "check", value: .string(check.id)), .init(name: "claim", value: .string(check.claim))]
                        + finding.members, words.joined(separator: "\n  "))
            }
            guard !Task.isCancelled else { return }
            let count = found.withLock(\.self)
            tell(
                "checked", [.init(name: "found", value: .integer(Int64(count)))],
                count == 0
                    ? "the plugin passes the checks" : "the checks found \(count) \(count == 1 ? "thing" : "things")")
        } catch {
            guard !Task.isCancelled else { return }
            note("the checks cannot be made: \(error.message)")
        }
    }

    private func startHost(_ plugin: DemoPlugin) async throws(Failure) -> DevHost {
        lines.begin(with: plugin.ids)
        let host = try await DevHost.start(demo, level: level) { [lines, console] given in
            for line in given { console.write(Array(lines.text(of: line).utf8), endingLine: false) }
            console.send()
        } ended: { ending in
            tell("hostEnded", ending.members, "the host has ended with \(ending); the next save starts it again")
        }
        tell(
            "hostStarted", [.init(name: "pid", value: .integer(Int64(host.program.pid)))],
            "the host \(host.program.pid) runs \(plugin.ids.map(\.text).joined(separator: ", "))")
        return host
    }

    private func sources() async -> SourceFiles { await runBlocking { [project] in SourceFiles(in: project.folder) } }

    /// Waits until a file of the sources is saved, and no other is being saved.
    /// - Returns: The files then; nil if the task was cancelled, or nobody reads the output any more.
    private func saved(since before: SourceFiles) async -> SourceFiles? {
        var last = await sources()
        var unsettled = 0
        while true {
            do { try await Task.sleep(for: Self.interval) } catch { return nil }
            if console.isReaderGone { return nil }
            let now = await sources()
            if now == before {
                unsettled = 0
            } else if now == last || unsettled == Self.mostUnsettled {
                return now
            } else {
                unsettled += 1
            }
            last = now
        }
    }

    /// Tells of something: a line of JSON on the output, or else words.
    private func tell(_ event: String, _ members: [JSONValue.Member], _ words: String) {
        guard isJSON else { return note(words) }
        console.print(.object([.init(name: "event", value: .string(event))] + members))
        console.send()
    }

    /// Returns a time in seconds, such as `0.4 s`.
    private static func written(_ time: Duration) -> String {
        let tenths = time.nanoseconds / 100_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }

    private func note(_ words: String) { console.note("larder: \(words)", as: .notice) }
}
