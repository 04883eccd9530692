import Core
import Glibc
import Logging
import Model
import Threads

/// A demo whose server goes on: the folder, the server, and what a host needs to work with them.
struct ServedDemo: Sendable {
    let folder: DemoFolder
    let server: DemoChild

    /// Makes the folder, and starts the server.
    static func start() async throws(Failure) -> ServedDemo {
        let folder = try DemoFolder()
        do throws(Failure) {
            return ServedDemo(folder: folder, server: try await DemoChild.start())
        } catch {
            folder.remove()
            throw error
        }
    }

    /// Ends the server, and removes the folder unless it is kept.
    func end(keepingFolder isKept: Bool = false) async {
        await server.stop()
        if !isKept { await runBlocking { [folder] in folder.remove() } }
    }

    /// Waits until the server has ended by itself.
    /// - Returns: The failure that tells of it; nil if the task is cancelled.
    func untilServerEnded() async -> Failure? {
        do { try await server.untilGone() } catch { return nil }
        let how = await server.stop().map { " with \($0)" } ?? ""
        return Failure(
            .failed, "the demo's server has ended\(how), and the demo with it",
            hint: "start the demo again; it begins anew")
    }

    /// Makes the program of a host that runs the account.
    /// - Parameters:
    ///   - arguments: More arguments of `larder run`.
    ///   - format: The format of the log.
    func hostProgram(
        _ arguments: [String] = [], level: Logger.Level, format: LogConfig.Format = .text
    ) -> ChildProgram {
        var program = ChildProgram(
            words: [BuiltIn.executable, "--config", folder.config, "--log-level", level.rawValue, "run"] + arguments)
        // The person's own settings are not the demo's, and the demo's vault is not among the person's. How the host's
        // threads stood at a crash of a plugin takes seconds to find, and says nothing to its author.
        var variables = processEnvironment().filter { !$0.key.hasPrefix("LARDER_") }
        variables.merge(["SWIFT_BACKTRACE": "enable=no"]) { own, _ in own }
        variables.merge(["XDG_STATE_HOME": folder.state, "LARDER_LOG_FORMAT": format.rawValue]) { $1 }
        program.environment = variables.map { "\($0.key)=\($0.value)" }
        return program
    }

    /// Waits until a host takes commands for the account.
    /// - Returns: false if the task was cancelled first.
    func untilHostAnswers() async -> Bool {
        let request = Config.Request(file: folder.config, account: nil, logLevel: nil)
        guard let account = try? Config.load(request, environment: processEnvironment()).accounts.first else {
            return true
        }
        while !Task.isCancelled {
            if let host = await RunningHost(of: account, in: nil),
                case .success(.some)? = await host.answer(to: .host, clock: .system)
            {
                return true
            }
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        return false
    }

    /// What a person needs to know to use the demo from another shell.
    var lines: [String] {
        let contents = server.contents
        let content = Text.count(contents.items, "file and folder", "files and folders")
        return [
            "A WebDAV server at \(contents.url), with \(content), for the user \(contents.user) with the password "
                + "\(contents.password).",
            "A host keeps the account in \(folder.files). In another shell:",
            "    export LARDER_CONFIG=\(Self.quoted(folder.config))",
            "    larder status",
            "    larder ls -r",
            "    larder pin \(contents.photos)",
            "    larder plugin list",
        ]
    }

    /// The same as JSON.
    var members: [JSONValue.Member] {
        let contents = server.contents
        return [
            .init(
                name: "server",
                value: .object([
                    "url": .string(contents.url), "user": .string(contents.user),
                    "password": .string(contents.password),
                ])),
            .init(name: "config", value: .string(folder.config)),
            .init(name: "folder", value: .string(folder.path)),
            .init(name: "files", value: .string(folder.files)),
        ]
    }

    /// Returns a text as a word for a shell.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || "/._-+:,".utf8.contains(byte)
        }
        return isPlain ? text : "'\(text.replacing("'", with: #"'\''"#))'"
    }
}
