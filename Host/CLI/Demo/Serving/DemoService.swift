import Core
import Glibc
import Logging
import Model
import Threads

/// The work of `larder demo --serve`: a served demo and a host, until a person ends them.
struct DemoService {
    /// The path of a library whose plugins the host runs too.
    let plugin: String?
    /// Whether the folder is left.
    let keeps: Bool
    let level: Logger.Level
    let isJSON: Bool

    /// Why the demo ends.
    private enum Reason: Sendable {
        case wanted
        case server(Failure)
        case host(RunningProgram.Ending)
    }

    /// The time that a host has to end in before it is killed.
    static let hostGrace = Duration.seconds(15)

    func serve(_ console: Console) async throws(Failure) -> [Failure] {
        let ends = try Signals(heeding: SIGINT, SIGTERM, SIGHUP, SIGQUIT)
        let library = plugin.map { ConfigPaths.tidied($0.hasPrefix("/") ? $0 : currentFolder() + "/" + $0) }
        if let library, access(library, R_OK) != 0 { throw .reading(plugin ?? library, errno) }
        let added: DemoPlugin? = if let library { try await DemoPlugin(in: library, console) } else { nil }
        let demo = try await ServedDemo.start()
        var failures: [Failure] = []
        do throws(Failure) {
            try demo.folder.writeConfig(for: demo.server.contents, with: added)
            let host = try await start(demo, console)
            let reason = await reason(demo, host, ends, console)
            _ = await host.end(by: SIGTERM, within: Self.hostGrace)
            switch reason {
            case .wanted: break
            case .server(let failure): failures.append(failure)
            case .host(let ending): failures.append(failure(ending))
            }
        } catch {
            failures.append(error)
        }
        await demo.end(keepingFolder: keeps)
        if keeps {
            console.print(
                isJSON
                    ? JSONValue.object(["folder": .string(demo.folder.path)]).text
                    : "The folder \(demo.folder.path) is kept. The host and the server have stopped.")
        }
        return failures
    }

    /// Starts the host, whose log goes where this command's messages go.
    private func start(_ demo: ServedDemo, _ console: Console) async throws(Failure) -> RunningProgram {
        let errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        defer { close(errors) }
        do throws(ChildProgram.NotStarted) {
            return try await RunningProgram.start(demo.hostProgram(level: level), output: errors)
        } catch {
            throw Failure(.cannotCreate, "the host cannot be started: \(errorText(error.code))")
        }
    }

    /// Says how to use the demo once the host takes commands, and waits for the reason to end.
    private func reason(
        _ demo: ServedDemo, _ host: RunningProgram, _ ends: Signals, _ console: Console
    ) async -> Reason {
        await withTaskGroup(of: Reason?.self) { group in
            group.addTask {
                for await _ in ends { return .wanted }
                return nil
            }
            group.addTask { await demo.untilServerEnded().map { .server($0) } }
            group.addTask {
                do { return .host(try await host.endedUnlessCancelled()) } catch { return nil }
            }
            group.addTask {
                if await demo.untilHostAnswers() { tell(demo, host, console) }
                return nil
            }
            defer { group.cancelAll() }
            while let reason = await group.next() {
                if let reason { return reason }
            }
            return .wanted
        }
    }

    private func tell(_ demo: ServedDemo, _ host: RunningProgram, _ console: Console) {
        if isJSON {
            console.print(
                .object(demo.members + [.init(name: "host", value: .integer(Int64(host.pid)))]))
        } else {
            for line in demo.lines { console.print(line) }
            console.print(
                "Ctrl-C ends the host and the server"
                    + (keeps ? ". The folder \(demo.folder.path) is kept." : ", and removes \(demo.folder.path)."))
        }
        console.send()
    }

    /// Returns the failure that tells of the host's end.
    private func failure(_ ending: RunningProgram.Ending) -> Failure {
        var kind = Failure.Kind.internal
        if case .code(let code) = ending { kind = Failure.Kind(rawValue: code) ?? .failed }
        return Failure(
            kind, "the demo's host has ended with \(ending), and the demo with it",
            hint: plugin.map { "what it said is above; `larder plugin try \($0)` calls the plugin without a host" }
                ?? "what it said is above; `larder demo --serve --log-level debug` shows more")
    }
}
