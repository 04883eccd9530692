import ArgumentParser
import Core
import Glibc
import Logging
import Model

struct Demo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Demonstrate Larder with a server of its own, without a config.",
        discussion: """
            Starts the WebDAV server `larder-demo` on 127.0.0.1 with a few folders, creates an account for it in a temporary folder, \
            and keeps a folder available offline while files change on the server. Then shows what happens to files \
            that were fetched by hand. At the end everything is removed.
            """)

    @OptionGroup var global: GlobalOptions
    @Flag(help: "Keep the temporary folder, and print its path.") var keep = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
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

/// The temporary folder that contains all files of the demo.
struct DemoFolder {
    private let folder: TemporaryFolder

    init() throws(Failure) { folder = try TemporaryFolder(named: "larder-demo") }

    var path: String { folder.path }
    var vault: String { path + "/vault" }
    var files: String { path + "/Cloud" }
    var config: String { path + "/config.yaml" }

    /// Writes a config with which the account can be inspected after the server has stopped.
    func writeConfig() throws(Failure) {
        let text = """
            accounts:
              - { name: demo, url: 'http://127.0.0.1:9/', vault: vault, files: Cloud }

            """
        let file = open(config, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(.cannotCreate, "\(config): \(errorText(errno))") }
        defer { close(file) }
        guard write(file, text, text.utf8.count) == text.utf8.count else {
            throw Failure(.localIO, "\(config): \(errorText(errno))")
        }
    }

    func remove() { folder.remove() }
}
