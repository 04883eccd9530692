import ArgumentParser
import Core
import Model

struct Wait: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until a running host has everything in sync.",
        discussion: """
            Has the host ask the server, and ends with 0 when all, or all below PATH, is in sync. The exit code is 1 if \
            something cannot go on now, which is named, or if the account is paused; 124 after --timeout; 69 if no host runs or the server is not \
            reached.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server of a file or folder.") var path = "/"
    @Option(help: ArgumentHelp("Exit after this time, with exit code 124.", valueName: "duration"))
    var timeout: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let limit = try timeout.map { text throws(Failure) in try CLIArgument.duration(text, of: "--timeout") }
        let config = try global.loadConfig()
        let (account, file) = (try config.oneAccount(), config.file)
        let result = await withTaskGroup(of: Result<WaitOutcome, Failure>.self) { group in
            group.addTask {
                do throws(Failure) {
                    return Result.success(try await Self.wait(for: path, account, in: file, console))
                } catch {
                    return Result.failure(error)
                }
            }
            if let limit {
                group.addTask {
                    do { try await Task.sleep(for: limit) } catch {}
                    return .failure(
                        Failure(.timedOut, "not in sync after \(ConfigScalar.write(limit))", hint: .listSyncRecords))
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(Failure(.internal, "nothing was waited for"))
        }
        let outcome = try result.get()
        let isInSync = outcome.failures.isEmpty && outcome.issues.isEmpty && outcome.leftCount == 0
        if global.isJSON {
            console.print(
                JSONValue.object([
                    "path": .string(path.text), "inSync": .bool(isInSync), "leftCount": .integer(outcome.leftCount),
                    "left": JSONValue(outcome.left), "issues": JSONValue(outcome.issues),
                ]))
        } else if isInSync {
            console.print("\(Text.visible(path.text)): in sync")
        }
        let waiting = outcome.left.map { Failure(.failed, "\($0.path): \($0.why)") }
        // Whatever the reason, that something cannot go on is code 1.
        return (outcome.failures + outcome.issues.map { Failure($0) } + waiting).map { failure in
            Failure(.failed, failure.message, hint: failure.hint)
        }
    }

    private static func wait(
        for path: ItemPath, _ account: AccountConfig, in config: String, _ console: Console
    ) async throws(Failure) -> WaitOutcome {
        let progress = ShownProgress(console)
        defer { progress.end() }
        return try await RunningHost.ask(for: account, in: config, console) { host throws(Failure) in
            try await host.carryOut(Core.Wait(path), for: account) { progress.show($0) }
        }
    }
}
