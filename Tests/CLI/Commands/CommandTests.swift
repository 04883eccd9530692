import ArgumentParser
import Glibc
import Model
import TestSupport
import Testing

@testable import larder

/// Runs a command line in this process, with its output and errors in files.
private func larder(_ arguments: String...) async throws -> (code: Int32, output: String, errors: String) {
    let folder = TemporaryFolder()
    let output = open(folder.path + "/out", O_CREAT | O_RDWR, 0o600)
    let errors = open(folder.path + "/err", O_CREAT | O_RDWR, 0o600)
    defer {
        close(output)
        close(errors)
    }
    let code = await Larder.run(arguments, console: Console(output: output, errors: errors))
    return (code, try Files.text(folder.path + "/out"), try Files.text(folder.path + "/err"))
}

/// Returns all commands that have no subcommands, with the words that call them.
private func leaves(
    _ command: any ParsableCommand.Type = Larder.self, _ words: [String] = []
) -> [(
    words: [String], type: any ParsableCommand.Type
)] {
    let below = command.configuration.subcommands
    if below.isEmpty { return [(words, command)] }
    return below.filter { $0.configuration.shouldDisplay }
        .flatMap { leaves($0, words + [$0.configuration.commandName ?? ""]) }
}

@Suite struct CommandTests {
    /// A part of the config that disables all plugins. The host tries a plugin's library in a process of its own
    /// program, and the program of the tests is not `larder`.
    private static let withoutPlugins =
        "plugins: { \(firstPartyNames.map { "\($0): { enabled: false }" }.joined(separator: ", ")) }\n"
    private let folder = TemporaryFolder()

    private func config(_ more: String = "") throws -> String {
        try folder.write(
            "accounts:\n- { name: home, url: 'https://cloud.example.org', vault: \(folder.path)/vault }\n" + more,
            to: "config.yaml")
        return folder.path + "/config.yaml"
    }

    @Test("H1: the commands are those that the contract names and this build has")
    func commands() {
        #expect(
            leaves().map { $0.words.joined(separator: " ") }.sorted() == [
                "account add", "account list", "account remove", "account verify", "calendar list",
                "calendar objects", "check", "claim add", "claim list", "claim remove", "completions", "config show",
                "config validate", "cp", "demo", "events", "explain", "favorite", "free", "get", "healthcheck",
                "issue list",
                "issue resolve", "loop disable", "loop enable", "loop list", "loop poll", "ls", "mkdir", "mv", "pause",
                "pin", "plugin dev", "plugin disable", "plugin enable", "plugin info", "plugin list", "plugin new",
                "plugin records", "plugin retry", "plugin trace", "plugin try", "plugin validate", "plugin values",
                "plugin why",
                "policy add",
                "policy history", "policy list", "policy redo", "policy remove", "policy run", "policy undo",
                "policy update", "project add-step",
                "project create", "project date", "project delete", "project duplicate",
                "project list", "project redo", "project show", "project size", "project step", "project undo",
                "project update", "put", "reload", "resume", "rm", "run", "share list", "stat", "status", "sync cancel",
                "sync list",
                "sync retry", "touch", "unpin", "use", "wait",
                "watch",
            ])
    }

    @Test("H1: each command's help says what it is for and names its options")
    func help() async throws {
        let own: [String: [String]] = [
            "run": ["--once", "--timeout", "--trace"], "demo": ["--keep", "--serve", "--plugin"],
            "get": ["--to", "--wait", "--queue"],
            "put": ["--replace", "--wait", "--queue"], "favorite": ["--off", "--wait", "--queue"],
            "touch": ["--time", "--wait", "--queue"],
            "mkdir": ["--wait", "--queue"], "rm": ["--wait", "--queue"], "pause": ["--for"], "status": ["--watch"],
            "calendar objects": ["--ics"], "claim add": ["--type", "--until", "--pid", "--id"],
            "ls": ["-r", "--where", "--removed", "--sort", "--descending", "--limit"],
            "plugin new": ["--language", "--kind"], "plugin trace": ["--timeline"],
            "policy list": ["--kind", "--path", "--internal"],
            "policy add": ["--kind", "--where", "--id", "--description", "--remove-when-none"],
            "policy run": ["--trigger", "--dry-run"], "policy history": ["--limit"],
            "policy update": ["--where", "--description", "--remove-when-none"], "issue resolve": ["--all", "--code"],
            "project create": ["--base", "--bundle-id"], "project list": ["--base", "--sort", "--ascending"],
            "project show": ["--base", "--steps", "--user-data"], "project size": ["--base"],
            "project add-step": ["--base", "--user-data", "--assets", "--project-user-data"],
            "project update": ["--base", "--cursor", "--delete-step", "--user-data"],
            "project date": ["--base", "--created", "--modified"],
        ]
        for (words, type) in leaves() {
            let text = Larder.helpMessage(for: type, columns: 120)
            #expect(!type.configuration.abstract.isEmpty, "\(words)")
            for option in ["--config", "--account", "--json", "--log-level"] + (own[words.joined(separator: " ")] ?? [])
            {
                #expect(text.contains(option), "\(words) \(option)")
            }
        }
        let help = try await larder("ls", "--help")
        #expect(help.code == 0 && help.output.contains("--where") && help.errors.isEmpty)
        #expect(try await larder("--version").output == Product.version + "\n")
    }

    @Test(
        "H1: usage errors are 64, and the last line of JSON output too",
        arguments: [
            ["nosuch"], ["--bogus"], ["ls", "--bogus"], ["ls", "--limit", "x"], ["ls", "--limit", "-1"], ["pin"],
            ["run", "--timeout", "5s"], ["run", "--once", "--timeout", "5"], ["ls", "--sort", "siz"],
            ["policy", "undo", "1"], ["policy", "history", "--limit", "-1"],
            ["issue", "resolve", "1"], ["issue", "resolve", "x", "retry"], ["issue", "resolve", "--all", "retry"],
            ["sync", "cancel", "x"], ["--account", "other", "ls"], ["--log-level", "loud", "ls"],
            ["demo", "--log-level", "loud"],
        ])
    func usage(words: [String]) async throws {
        let file = try config()
        let result = try await run(["--json", "--config", file] + words)
        #expect(result.code == 64, "\(result)")
        #expect(!result.errors.isEmpty)
        #expect(result.output.hasPrefix(#"{"error":{"code":"usage","message":""#), "\(result.output)")
    }

    @Test("H1: of thousands of arguments that are too many, the message has the first few")
    func tooMany() async throws {
        let result = try await run(["pin"] + (1...9_999).map { "/a\($0)" })
        #expect(result.code == 64 && result.errors.contains("/a2"))
        #expect(result.errors.utf8.count < 1_000, "\(result.errors.utf8.count)")
    }

    @Test("H1: each problem of a config is a line, and one without accounts names the file")
    func problems() async throws {
        let file = try config("bogus: 1\nbogus2: 2\n")
        let result = try await run(["--config", file, "config", "validate"])
        #expect(result.code == 78 && result.errors.split(separator: "\n").count == 3, "\(result)")
        try Files.write("", to: file)
        let empty = try await run(["--config", file, "config", "validate"])
        #expect(empty.errors.hasPrefix("larder: \(file):1:1: `accounts` must be a list"), "\(empty)")
    }

    @Test(
        "H1: a command that there is not is told with the nearest that there is",
        arguments: [
            (["stauts"], "there is no command `stauts`", "did you mean `status`? `larder --help`"),
            (["plugin", "lst"], "there is no command `plugin lst`", "did you mean `list`? `larder plugin --help`"),
            (["--json", "sync", "xyzzy"], "there is no command `sync xyzzy`", "`larder sync --help` lists all"),
            (["help", "bogus"], "there is no command `bogus`", "`larder --help` lists all"),
            (
                ["help", "policy", "remve"], "there is no command `policy remve`",
                "did you mean `remove`? `larder policy --help`"
            ),
            (["sync", "--account", "a", "cancel"], "Missing expected argument", "see `larder sync cancel --help`"),
        ])
    func unknown(words: [String], message: String, hint: String) async throws {
        let result = try await run(words)
        #expect(result.code == 64)
        #expect(result.errors.contains("larder: \(message)") && result.errors.contains("  \(hint)"), "\(result)")
    }

    private func run(_ words: [String]) async throws -> (code: Int32, output: String, errors: String) {
        let output = folder.path + "/out"
        let errors = folder.path + "/err"
        let (out, err) = (
            open(output, O_CREAT | O_TRUNC | O_RDWR, 0o600), open(errors, O_CREAT | O_TRUNC | O_RDWR, 0o600)
        )
        let code = await Larder.run(words, console: Console(output: out, errors: err))
        close(out)
        close(err)
        return (code, try Files.text(output), try Files.text(errors))
    }

    @Test(
        "H1: input that makes no sense is 65",
        arguments: [["ls", "a//b"], ["pin", "/a/../b"], ["ls", "--where", "size >"], ["stat", "/.."], ["pin", ""]])
    func badData(words: [String]) async throws {
        #expect(try await run(["--config", try config()] + words).code == 65)
    }

    @Test("H1: what is not there is 66; before the first run the lists are empty and the account is offline")
    func notFound() async throws {
        // The command must not open a library, because that would start the program of the tests once more.
        let file = try config("plugins: { available-offline: { enabled: false } }\n")
        for words in [["ls"], ["stat", "/x"], ["plugin", "info", "nosuch"], ["plugin", "enable", "nosuch"]] {
            #expect(try await run(["--config", file] + words).code == 66, "\(words)")
        }
        for words in [["policy", "list"], ["sync", "list"], ["issue", "list"]] {
            let result = try await run(["--config", file] + words)
            #expect(result.code == 0 && result.output.isEmpty, "\(words)")
        }
        let status = try await run(["--config", file, "--json", "status"])
        #expect(
            status.output.hasPrefix(
                #"{"account":"home","connection":"offline","epoch":null,"anchor":0,"items":0,"localCopies":0,"localBytes":0,"#
            ))
        #expect(!Files.exists(folder.path + "/vault"))
    }

    @Test("H3: a config with problems is 78, each on a line of its own, and nothing is done")
    func badConfig() async throws {
        let result = try await run(["--config", try config("pol: 1\nwalk: 2\n"), "pin", "/"])
        #expect(result.code == 78)
        #expect(result.errors.contains("config.yaml:3:1: ") && result.errors.contains("config.yaml:4:7: "))
        #expect(!Files.exists(folder.path + "/vault"))
        #expect(try await run(["--config", folder.path + "/none.yaml", "ls"]).code == 78)
    }

    @Test("C1 H3: secrets that are missing are told with their places, among all other problems; no command is run")
    func missingSecrets() async throws {
        try folder.write("hunter2\nhunter3\n", to: "two-lines")
        try folder.write("", to: "empty")
        let secrets = [
            "password: { file: none }", "password: { env: NO_SUCH_SECRET }", "token: { file: two-lines }",
            "password: { file: . }", "token: { file: empty }", "token: { command: [touch, '\(folder.path)/ran'] }",
        ]
        let accounts = secrets.enumerated().map { index, secret in
            "- { name: a\(index), url: 'https://cloud.example.org', vault: v\(index), username: ada, \(secret) }\n"
        }
        let text = "accounts:\n" + accounts.joined() + Self.withoutPlugins
        try folder.write(text, to: "config.yaml")
        let file = folder.path + "/config.yaml"
        let problems = [
            """
            \(file):2:93: `accounts.a0.password`: the secret's file \(folder.path)/none cannot be read: \
            No such file or directory
            """,
            """
            \(file):3:92: `accounts.a1.password`: the environment variable NO_SUCH_SECRET, \
            which holds the secret, is not set
            """,
            """
            \(file):4:90: `accounts.a2.token`: the secret contains control characters or is not UTF-8; \
            it must be a single line
            """,
            "\(file):5:93: `accounts.a3.password`: the secret's file \(folder.path) cannot be read: Is a directory",
            "\(file):6:90: `accounts.a4.token`: the secret is empty",
        ]
        let alone = try await run(["--config", file, "config", "validate"])
        #expect(
            alone.code == 78
                && alone.errors
                    == "larder: \(problems.joined(separator: "\n"))\n  5 problems in the config; nothing was started\n",
            "\(alone)")

        // An account that is wrong itself, and a setting below it.
        try folder.write(
            text.replacing("name: a1, url: 'https://", with: "name: a1, url: '") + "walk: 1\n", to: "config.yaml")
        for words in [["config", "validate"], ["run", "--once"]] {
            let result = try await run(["--config", file] + words)
            #expect(
                result.code == 78 && result.errors.hasSuffix("\n  7 problems in the config; nothing was started\n"),
                "\(result)")
            for problem in problems where !problem.contains("NO_SUCH") {
                #expect(result.errors.contains(problem), "\(problem)\n\(result)")
            }
            #expect(result.errors.contains("NO_SUCH_SECRET, which holds the secret, is not set"), "\(result)")
        }
        #expect(
            try await run(["--config", file, "ls"]).errors.hasSuffix(
                "\n  2 problems in the config; nothing was started\n"))
        #expect(!Files.exists(folder.path + "/ran"))
    }

    @Test(
        "H3: a file of certificate authorities that is missing or none is told with its place, among all other problems"
    )
    func missingAuthorities() async throws {
        try folder.write("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", to: "broken.pem")
        let accounts = ["none.pem", "broken.pem"].map {
            "- { name: \($0), url: 'https://cloud.example.org', vault: \($0).vault, tls: { ca: \($0) } }\n"
        }
        let text = "accounts:\n" + accounts.joined() + Self.withoutPlugins
        try folder.write(text, to: "config.yaml")
        let file = folder.path + "/config.yaml"
        let problems = [("none.pem", "2:89"), ("broken.pem", "3:93")].map { name, place in
            """
            \(file):\(place): `accounts.\(name).tls.ca`: the file of certificate authorities \
            \(folder.path)/\(name) cannot be read as PEM
            """
        }
        let alone = try await run(["--config", file, "config", "validate"])
        #expect(
            alone.code == 78
                && alone.errors
                    == "larder: \(problems.joined(separator: "\n"))\n  2 problems in the config; nothing was started\n",
            "\(alone)")
        try folder.write(text + "walk: 1\n", to: "config.yaml")
        let run = try await run(["--config", file, "run", "--once"])
        #expect(run.code == 78 && run.errors.hasPrefix("larder: \(problems.joined(separator: "\n"))\n"), "\(run)")
    }

    @Test("H3: config show prints each setting with its source and no secret")
    func show() async throws {
        try folder.write("hunter2", to: "secret")
        let file = try config()
        try folder.write(
            """
            accounts:
            - { name: home, url: 'https://cloud.example.org', vault: v, username: ada, password: { file: secret } }
            plugins:
              org.example.x: { settings: { api-token: hunter2, url: 'https://ada:hunter2@host/x' } }
            """, to: "config.yaml")
        let result = try await run(["--config", file, "--json", "config", "show"])
        #expect(result.code == 0 && !result.output.contains("hunter2"), "\(result)")
        #expect(result.output.contains(#"{"key":"poll","value":null,"source":"default"}"#))
        #expect(
            result.output.contains(
                #"{"key":"plugins.org.example.x.settings.url","value":"https://********@host/x","source":"\#(file):4:"#)
        )
        #expect(try await run(["--config", file, "config", "validate"]).code == 0)
    }

    @Test("G2: a plugin is switched in the file; what cannot be written is 73 with the line to add")
    func switchPlugin() async throws {
        let file = try config("# mine\n")
        let result = try await run(["--config", file, "plugin", "disable", "available-offline"])
        #expect(result.code == 0, "\(result)")
        let text = try Files.text(file)
        #expect(text.hasSuffix("# mine\nplugins:\n  available-offline: { enabled: false }\n"))
        #expect(try await run(["--config", file, "plugin", "disable", "available-offline"]).code == 0)
        #expect(try Files.text(file) == text)
        try folder.write(
            text.replacing("{ enabled: false }", with: "&x { enabled: false }\n  vacuum: *x"), to: "config.yaml")
        let refused = try await run(["--config", file, "plugin", "enable", "vacuum"])
        #expect(refused.code == 73 && refused.errors.contains("vacuum: { enabled: true }"), "\(refused)")
    }
}
