import Core
import Glibc
import Model
import TestSupport
import Testing

@testable import larder

@Suite struct SecretTests {
    private let folder = TemporaryFolder()

    private func config(_ password: String) throws(Failure) -> Config {
        try Config.decode(
            "accounts: [{ name: a, url: 'https://a.example', vault: /v, username: ada, password: \(password) }]",
            file: folder.path + "/c.yaml")
    }

    @Test("C1: a secret's file that others can read is refused, unless that is meant")
    func permissions() async throws {
        try folder.write("hunter2\n", to: "secret")
        for mode: mode_t in [0o644, 0o640, 0o604] {
            chmod(folder.path + "/secret", mode)
            #expect(throws: Failure.self) { try config("{ file: secret }") }
            do {
                _ = try config("{ file: secret }")
            } catch {
                #expect(error.message.contains("c.yaml:1:") && error.message.contains("chmod 600"))
                #expect(!error.message.contains("hunter2"))
            }
            _ = try config("{ file: secret, insecure: true }")
        }
        chmod(folder.path + "/secret", 0o600)
        let account = try config("{ file: secret }").accounts[0]
        guard case .password("ada", "hunter2") = try await account.readSecret().credentials else {
            Issue.record("other credentials")
            return
        }
    }

    @Test("C10: a password is for the kind of login that the config names")
    func logins() async throws {
        try folder.write("hunter2\n", to: "secret", mode: 0o600)
        let all: [(String, Credentials)] = [
            ("auto", .password(username: "ada", password: "hunter2")),
            ("basic", .basic(username: "ada", password: "hunter2")),
            ("digest", .digest(username: "ada", password: "hunter2")),
        ]
        for (word, credentials) in all {
            let account = try config("{ file: secret }, auth: \(word)").accounts[0]
            #expect(try await account.readSecret().credentials == credentials)
        }
    }

    @Test("C1: one trailing newline is dropped, a second is a problem")
    func newline() async throws {
        for (text, expected) in [("a b", "a b"), ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", nil), ("", nil), ("\n", nil)] {
            try folder.write(text, to: "secret", mode: 0o600)
            let read = try? await SecretSource.file(folder.path + "/secret").read()
            #expect(read == expected, "\(text)")
        }
    }

    @Test("H10, C1: a credential is a file in the service manager's folder, read as any secret's file")
    func credential() async throws {
        func config(_ name: String, _ environment: [String: String]) throws(Failure) -> Config {
            try Config.decode(
                "accounts: [{ name: a, url: 'https://a.example', vault: /v, token: { credential: \(name) } }]",
                file: folder.path + "/c.yaml", environment: environment)
        }
        let here = ["CREDENTIALS_DIRECTORY": folder.path]
        func token(_ environment: [String: String]) async throws -> Credentials {
            try await config("secret", environment).accounts[0].readSecret().credentials
        }
        // An access list for the service's user shows in the group's bits.
        try folder.write("hunter2\n", to: "secret", mode: 0o440)
        guard case .bearer("hunter2") = try await token(here) else {
            Issue.record("other credentials")
            return
        }
        chmod(folder.path + "/secret", 0o444)
        let readable = #expect(throws: Failure.self) { try config("secret", here) }
        #expect(readable?.message.contains("others can read \(folder.path)/secret") == true)
        try folder.write(String(repeating: "x", count: 70_000), to: "secret", mode: 0o400)
        await #expect(throws: Failure.self) { try await token(here) }
        for environment in [[:], ["CREDENTIALS_DIRECTORY": ""], ["CREDENTIALS_DIRECTORY": "relative"]] {
            // Commands that need no secret work without the folder.
            let account = try config("secret", environment).accounts[0]
            let failure = await #expect(throws: Failure.self) { try await account.readSecret() }
            #expect(failure?.kind == .config)
            #expect(failure?.message.contains("LoadCredential=secret:FILE") == true, "\(failure?.message ?? "")")
            let problem = try await config("secret", environment).laterChecks.first?()
            #expect(problem?.message.contains("CREDENTIALS_DIRECTORY") == true)
        }
        for name in ["a/b", "..", "''", "."] { #expect(throws: Failure.self) { try config(name, here) } }
    }

    @Test("H10, C1: a command for a secret that hangs ends with the host, and with it all that it started")
    func cancelledCommand() async throws {
        let file = folder.path + "/processes"
        let command = SecretCommand(words: ["sh", "-c", "sleep 3000 & echo $$ $! > '\(file)'; wait"])
        let reading = Task { try await command.output(limit: 100) }
        await until { (try? Files.text(file))?.hasSuffix("\n") ?? false }
        reading.cancel()
        await #expect(throws: Failure.self) { try await reading.value }
        for process in try Files.text(file).split(whereSeparator: \.isWhitespace) {
            let process = try #require(pid_t(String(process)))
            // The last of them may wait to be reaped by whoever has taken it over.
            await until { kill(process, 0) < 0 || (try? Files.text("/proc/\(process)/stat"))?.contains(") Z ") ?? true }
        }
    }

    @Test("H10: of a command for a secret that is to end, nothing is waited for that has left its group")
    func cancelledCommandWithOther() async throws {
        let file = folder.path + "/process"
        let command = SecretCommand(
            words: ["sh", "-c", "setsid sh -c 'echo $$ > \(file).new; mv \(file).new \(file); sleep 3000' & wait"])
        let reading = Task { try await command.output(limit: 100) }
        await until { Files.exists(file) }
        reading.cancel()
        // With its end it would be the time limit's failure.
        let failure = await #expect(throws: Failure.self) { try await reading.value }
        #expect(failure?.kind == .failed && failure?.message.contains("was ended before it was done") == true)
        let other = try #require(
            pid_t(try Files.text(file).trimmingPrefix(" ").split(separator: "\n").first.map(String.init) ?? ""))
        #expect(kill(other, 0) == 0)
        kill(-other, SIGKILL)
    }

    @Test("C1: a secret in the config itself is refused and not repeated")
    func inline() {
        for text in ["hunter2", "[hunter2]", "{ value: hunter2 }"] {
            do {
                _ = try config(text)
                Issue.record("\(text) was taken")
            } catch {
                #expect(!error.message.contains("hunter2"))
            }
        }
        #expect(throws: Failure.self) { try config("{ env: A, file: b }") }
        #expect(throws: Failure.self) { try config("{ command: [] }") }
    }

    @Test("C1: a command prints the secret; it runs without a shell and fails by name alone")
    func command() async throws {
        #expect(try await SecretSource.command(["printf", "%s\\n", "$HOME;x"]).read() == "$HOME;x")
        for words in [["false", "hunter2"], ["/does/not/exist", "hunter2"], ["true"], ["sh", "-c", "kill -9 $$"]] {
            do {
                _ = try await SecretSource.command(words).read()
                Issue.record("\(words) gave a secret")
            } catch {
                #expect(error.kind == .config && !error.description.contains("hunter2"))
            }
        }
    }

    @Test("C1: a command that does not end is ended")
    func endless() async {
        await #expect(throws: Failure.self) {
            try await SecretCommand(words: ["sh", "-c", "sleep 1000 & sleep 1000"], timeLimit: .milliseconds(50))
                .output(limit: 10)
        }
        await #expect(throws: Failure.self) { try await SecretCommand(words: ["yes"]).output(limit: 10_000) }
    }

    @Test("C1: a command that closes its output and stays is ended in its time, with all that it started")
    func closedOutput() async throws {
        let (limit, note) = (Duration.milliseconds(200), folder.path + "/pids")
        let script = "sleep 1000 >/dev/null & echo $! $$ > \(note); echo secret; exec >&-; wait"
        let failure = await #expect(throws: Failure.self) {
            try await SecretCommand(words: ["sh", "-c", script], timeLimit: limit).output(limit: 100)
        }
        #expect(
            failure?.message.contains("command sh failed: it took longer than 200ms") == true,
            "\(failure?.message ?? "")")
        #expect(failure?.message.contains("secret\n") == false)
        for pid in try Files.text(note).split(whereSeparator: \.isWhitespace).compactMap({ Int32($0) }) {
            // One of the processes is not a child of the test. The system reaps it after some time.
            let isGone = await until(atMost: .seconds(60)) {
                let status = (try? Files.text("/proc/\(pid)/stat")) ?? ""
                return status.isEmpty || status.contains(") Z ")
            }
            #expect(isGone, "\(pid)")
        }
        let command = SecretCommand(words: ["sh", "-c", "printf a; exec >&-; sleep 0.05"], timeLimit: .seconds(20))
        #expect(try await command.output(limit: 10) == [UInt8(ascii: "a")])
    }

    @Test("C1: a pipe as a secret's file is waited for in its time alone, and other things that are no file are named")
    func pipes() async throws {
        let path = folder.path + "/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        func content(_ path: String, _ limit: Duration = .milliseconds(100)) async throws(Failure) -> [UInt8] {
            try await SecretFile(path: path, timeLimit: limit).content(limit: 100)
        }
        for place in [path, folder.path, "/dev/zero", folder.path + "/none"] {
            let failure = await #expect(throws: Failure.self) { try await content(place) }
            #expect(failure?.kind == .config && failure?.message.contains(place) == true, "\(place)")
        }
        // Checking the config takes nothing from the pipe.
        guard case .password(let setting) = try config("{ file: pipe }").accounts[0].secret else {
            Issue.record("no password")
            return
        }
        #expect(await setting.problem() == nil)
        async let written = onThread {
            let number = open(path, O_WRONLY | O_CLOEXEC)
            let count = write(number, "hunter2\n", 8)
            close(number)
            return count
        }
        #expect(try await content(path, .seconds(20)) == Array("hunter2\n".utf8))
        #expect(try await written == 8)
    }
}
