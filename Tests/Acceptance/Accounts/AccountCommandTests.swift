import DemoServer
import TestServer
import TestSupport
import Testing

/// The commands about accounts, as a person uses them.
@Suite(.serialized) struct AccountCommandTests {
    /// A person without a config, and a server.
    private struct Person {
        let folder: String
        let server: TestServer
        var larder: LarderCommand
        var config: String { larder.config }
        var secret: String { "\(folder)/config/home.password" }
        var url: String { server.url }
        var user: String { server.configuration.user }

        /// The arguments of `account add`, with the password in a file.
        func adding(_ more: String..., password: String? = nil) throws -> [String] {
            let file = "\(folder)/typed"
            try Files.write((password ?? server.configuration.password) + "\n", to: file, mode: 0o600)
            return ["account", "add", url, "--name", "home", "--username", user, "--password-file", file] + more
        }
    }

    private func withPerson(
        certificate: Bool = false, _ body: (Person) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            if certificate {
                let made = try await Certificate.make(in: folder)
                configuration.certificate = (made.file, made.key)
            }
            try await TestServer.running(configuration) { server in
                server.tree.put("/cat.txt", "cat")
                try Files.makeFolder("\(folder)/home")
                let larder = LarderCommand(config: "\(folder)/config/config.yaml", home: "\(folder)/home")
                try await body(Person(folder: folder, server: server, larder: larder))
            }
        }
    }

    @Test("`account add` tries the login, and writes secret and config for their owner alone; then the account works")
    func add() async throws {
        try await withPerson { person in
            let wrong = try await person.larder.run(person.adding(password: "wrong"))
            #expect(wrong.exitCode == 77 && !Files.exists("\(person.folder)/config"), "\(wrong.summary)")
            let added = try await person.larder.run(person.adding("--files", "\(person.folder)/Cloud", "--json"))
            #expect(added.exitCode == 0, "\(added.summary)")
            let account = try #require(added.lines.first)
            #expect(account.contains(#""account":"home""#) && account.contains("\(person.folder)/Cloud"))
            #expect(Files.mode(of: person.secret) == 0o600 && Files.mode(of: person.config) == 0o600)
            #expect(Files.mode(of: "\(person.folder)/config") == 0o700)
            let run = try await person.larder("run", "--once")
            #expect(run.exitCode == 0, "\(run.summary)")
            #expect(try await person.larder("ls").output.contains("cat.txt"))
            let list = try await person.larder("account", "list", "--json")
            #expect(list.lines == [account], "\(list.summary)")
            let verified = try await person.larder("account", "verify")
            #expect(verified.exitCode == 0 && verified.output.contains("home: the login works"), "\(verified.summary)")
            let again = try await person.larder.run(person.adding())
            #expect(again.exitCode == 65 && again.errors.contains("already"), "\(again.summary)")
            #expect(!added.errors.contains(person.server.configuration.password))
        }
    }

    @Test("`account add` keeps what the config says, and says which lines to add where it cannot be written")
    func keepsConfig() async throws {
        try await withPerson { person in
            let text = "# mine\naccounts:\n  - name: a # one\n    url: http://127.0.0.1:1/${X}\npoll: 1m\n"
            try Files.makeFolder("\(person.folder)/config")
            try Files.write(text, to: person.config, mode: 0o640)
            let added = try await person.larder.run(person.adding())
            #expect(added.exitCode == 0, "\(added.summary)")
            let lines = """
                  - name: home
                    url: \(person.url)
                    username: \(person.user)
                    password: { file: home.password }

                """
            #expect(try Files.text(person.config) == text.replacing("poll", with: lines + "poll"))
            #expect(Files.mode(of: person.config) == 0o640)

            // A folder in which nothing can be created.
            try Files.write(text, to: person.config)
            Files.remove(person.secret)
            try await mustRun("chmod", ["0644", person.config])
            try await mustRun("chmod", ["0555", "\(person.folder)/config"])
            var other = person.larder
            other.unprivileged = Build.isRoot
            let words = try person.adding()
            try await mustRun("chmod", ["0755", person.folder])
            try await mustRun("chmod", ["0644", "\(person.folder)/typed"])
            let refused = try await other.run(words)
            try await mustRun("chmod", ["0755", "\(person.folder)/config"])
            #expect(refused.exitCode == 73 && refused.errors.contains("{ name: home, url: "), "\(refused.summary)")
            #expect(try Files.text(person.config) == text && !Files.exists(person.secret))
        }
    }

    @Test("C4: `account add --pinned` shows the certificate and waits for an approval; the key is remembered")
    func pinned() async throws {
        try await withPerson(certificate: true) { person in
            let unknown = try await person.larder.run(person.adding())
            #expect(unknown.exitCode == 77 && unknown.errors.contains("--pinned"), "\(unknown.summary)")
            let asked = try await person.larder.run(person.adding("--pinned"))
            #expect(asked.exitCode == 77 && asked.errors.contains("certificate  "), "\(asked.summary)")
            #expect(person.server.requests.isEmpty && !Files.exists("\(person.folder)/config"))
            let added = try await person.larder.run(person.adding("--pinned", "--approve"))
            #expect(added.exitCode == 0, "\(added.summary)")
            #expect(try Files.text(person.config).contains("tls: { trust: pinned }"))
            let run = try await person.larder("run", "--once")
            #expect(run.exitCode == 0, "\(run.summary)")
        }
    }

    @Test("on a terminal `account add` asks for what is missing, does not show the password, and asks for an approval")
    func terminal() async throws {
        try await withPerson(certificate: true) { person in
            let (user, password) = (person.user, person.server.configuration.password)
            let shown = try await atTerminal(
                person, "account add \(person.url) --name home --pinned",
                ["Login name": user, "Password": password, "y/N": "y"])
            #expect(shown.contains("certificate  ") && shown.contains("was added"), "\(shown)")
            #expect(!shown.contains(password), "\(shown)")
            #expect(try Files.text(person.secret) == password + "\n")
        }
    }

    @Test("C4: `account verify` on a terminal asks about a key that changed; `no` is remembered")
    func verifyAtTerminal() async throws {
        try await withPerson(certificate: true) { person in
            try Files.makeFolder("\(person.folder)/config")
            try Files.write(person.server.configuration.password, to: person.secret, mode: 0o600)
            try Files.write(
                "accounts:\n  - { name: home, url: \"\(person.url)\", username: \(person.user), "
                    + "password: { file: home.password }, tls: { trust: pinned } }\n", to: person.config)
            let asked = try await person.larder("account", "verify", "--json")
            #expect(asked.exitCode == 77 && asked.lines.first?.contains("connection.key") == true, "\(asked.summary)")
            let no = try await atTerminal(person, "account verify", ["y/N": "n"])
            #expect(no.contains("was rejected"), "\(no)")
            let run = try await person.larder("run", "--once")
            #expect(run.exitCode == 77 && run.errors.contains("was rejected"), "\(run.summary)")
            let yes = try await atTerminal(person, "account verify", ["y/N": "y"])
            #expect(yes.contains("the login works"), "\(yes)")
            #expect(person.server.requests.count > 0)
            let after = try await person.larder("run", "--once")
            #expect(after.exitCode == 0, "\(after.summary)")
        }
    }

    @Test("the password comes from standard input where there is no terminal")
    func standardInput() async throws {
        try await withPerson { person in
            let result = try await run(
                "sh",
                [
                    "-c",
                    "printf '%s\\n' \"$PASSWORD\" | \"$LARDER\" --config \"$CONFIG\" account add "
                        + "\"$URL\" --name home --username \"$LOGIN\"",
                ],
                environment: [
                    "PASSWORD": person.server.configuration.password, "LARDER": try Build.larder, "URL": person.url,
                    "CONFIG": person.config, "LOGIN": person.user, "HOME": "\(person.folder)/home",
                    "PATH": "/usr/bin:/bin",
                ])
            #expect(result.exitCode == 0, "\(result.summary)")
            #expect(try Files.text(person.secret) == person.server.configuration.password + "\n")
        }
    }

    /// Runs a command at a terminal, and answers questions in the order in which they come.
    /// - Returns: what the terminal shows.
    private func atTerminal(_ person: Person, _ command: String, _ answers: [String: String]) async throws -> String {
        let script = """
            import os, pty, sys
            command, answers = sys.argv[1:-1], eval(sys.argv[-1])
            pid, terminal = pty.fork()
            if pid == 0: os.execv(command[0], command)
            shown = asked = b""
            while True:
                try: piece = os.read(terminal, 4096)
                except OSError: break
                if not piece: break
                shown += piece; asked += piece
                for question, answer in answers.items():
                    if question.encode() in asked and asked.rstrip().endswith((b":", b"]")):
                        asked = b""
                        os.write(terminal, (answer + "\\n").encode())
            os.waitpid(pid, 0)
            sys.stdout.buffer.write(shown)
            """
        let quoted = answers.map { "'\($0)': '\($1)'" }.joined(separator: ", ")
        let result = try await run(
            "python3",
            ["-c", script, try Build.larder, "--config", person.config] + command.split(separator: " ").map(String.init)
                + ["{\(quoted)}"],
            environment: ["HOME": "\(person.folder)/home", "PATH": "/usr/bin:/bin", "TERM": "xterm"])
        return result.output + result.errors
    }
}
