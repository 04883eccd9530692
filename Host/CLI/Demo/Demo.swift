import ArgumentParser
import Core
import Logging
import Model

struct Demo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Demonstrate Larder with a server of its own, without a config.",
        discussion: """
            Starts the WebDAV server `larder-demo` on 127.0.0.1 with a few folders, creates an account for it in a temporary folder, \
            and keeps a folder available offline while files change on the server. Then shows what happens to files \
            that were fetched by hand. At the end everything is removed.

            With --serve, nothing of that is shown. A host keeps the account until Ctrl-C, and the address of the server \
            and the path of the config are printed, with which all other commands work in another shell.
            """)

    @OptionGroup var global: GlobalOptions
    @Flag(help: "Keep the temporary folder, and print its path.") var keep = false
    @Flag(help: "Run a host for the account until Ctrl-C, and print how to use it.") var serve = false
    @Option(
        help: ArgumentHelp(
            "With --serve: a library whose plugins the host runs too, inside it.", valueName: "file"),
        completion: .file())
    var plugin: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        guard plugin == nil || serve else {
            throw Failure(.usage, "--plugin needs --serve", hint: "write `demo --serve --plugin …`")
        }
        if serve {
            let level = try global.level() ?? .warning
            return try await DemoService(plugin: plugin, keeps: keep, level: level, isJSON: global.isJSON)
                .serve(console)
        }
        var log = LogConfig()
        log.level = try global.level() ?? .warning
        let folder = try DemoFolder()
        let failures = await withServer(in: folder, console, log)
        if keep {
            try folder.writeConfig()
            console.print(
                global.isJSON
                    ? JSONValue.object(["folder": .string(folder.path)]).text
                    : "The folder is kept, but the server has stopped. Try: larder --config \(folder.config) ls -r")
        } else {
            folder.remove()
        }
        return failures
    }

    private func withServer(in folder: DemoFolder, _ console: Console, _ log: LogConfig) async -> [Failure] {
        let server: DemoChild
        do { server = try await DemoChild.start() } catch { return [error] }
        let story = DemoStory(server: server, folder: folder, console: console, isJSON: global.isJSON, log: log)
        var failures: [Failure] = []
        do {
            failures = try await story.tell()
        } catch {
            failures.append(error)
        }
        await server.stop()
        return failures
    }
}
