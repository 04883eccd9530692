import Core
import Glibc
import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import larder

/// Hosts that are hard to reach: their sockets are gone, they do not answer, or they have too much to answer.
@Suite struct ReachedHostTests {
    private func account(_ name: String, in folder: String) -> AccountConfig {
        AccountConfig(
            bookmark: Bookmark(
                name: name, url: "https://example.org", username: nil, vault: "\(folder)/\(name)",
                files: "\(folder)/\(name)/files"),
            secret: .none)
    }

    /// Tells whether a process listens at a socket.
    private func isListening(_ socket: String?) -> Bool {
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        return socket.flatMap(UnixAddress.init)?.call(connect, number) == 0
    }

    @Test("H9: a socket that was removed or replaced is made anew, also in the vault, where the runtime folder is gone")
    func madeAnew() async throws {
        try await withTemporaryFolder { folder in
            let (runtime, vault) = ("\(folder)/runtime", "\(folder)/vault")
            for path in [runtime, vault] { try Files.makeFolder(path) }
            let control = Control(environment: ["XDG_RUNTIME_DIR": runtime])
            await control.begin(logger: CollectedLog().logger) { _, _ in }
            let first = try #require(await control.path(forVault: vault))
            #expect(first.hasPrefix("\(runtime)/larder/") && isListening(first))
            await control.checkSocket()
            #expect(await control.path(forVault: vault) == first)

            Files.remove("\(runtime)/larder")
            await control.checkSocket()
            let second = try #require(await control.path(forVault: vault))
            #expect(second != first && second.hasPrefix("\(runtime)/larder/") && isListening(second))
            Files.remove(second)
            try Files.write("in the way", to: second)
            await control.checkSocket()
            let third = try #require(await control.path(forVault: vault))
            #expect(third != second && isListening(third))

            Files.remove(runtime)
            await control.checkSocket()
            let last = try #require(await control.path(forVault: vault))
            #expect(last.hasPrefix("\(vault)/control/") && isListening(last))
            await control.close()
            #expect(try Files.names(in: "\(vault)/control") == [])
        }
    }

    @Test("H13: a command ends ten seconds after the host's last sign of life, whatever the host is busy with")
    func silence() async throws {
        try await withTemporaryFolder { folder in
            let socket = try ControlSocket(in: "\(folder)/sockets")
            defer { close(socket.descriptor) }
            let clock = TestClock()
            let heard = Mutex(0)
            let asking = Task {
                do throws(Failure) {
                    _ = try await RunningHost(socket: socket.path).ask(.reload, clock: clock.host) { _ in
                        heard.withLock { $0 += 1 }
                    }
                    return Failure?.none
                } catch {
                    return error
                }
            }
            let client = try await accept(socket)
            defer { close(client) }
            await clock.untilSleeping(for: .seconds(10))
            clock.advance(.seconds(9))
            // A comment, which a command hears nothing of, and progress behind it.
            let progress = #"event: progress\ndata: {"files":1,"filesTotal":2,"bytes":1,"bytesTotal":2}\n\n"#
            say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n:\n\n", to: client)
            say(progress.replacing("\\n", with: "\n"), to: client)
            await until { heard.withLock { $0 } == 1 }
            clock.advance(.seconds(1))
            await clock.untilSleeping(for: .seconds(9))
            // Nobody knows what the host said while the command itself was stopped.
            clock.advance(.seconds(300))
            await clock.untilSleeping(for: .seconds(10))
            // While the machine slept, no host could say anything.
            clock.sleepMachine(.seconds(10))
            await clock.untilSleeping(for: .seconds(10))
            clock.advance(.seconds(10))
            let failure = await asking.value
            #expect(
                failure?.kind == .vaultLocked && failure?.message == "the host does not answer", "\(failure as Any)")
        }
    }

    @Test("A host that gave no sign of life is not asked again for ten seconds in which the machine is awake")
    func silentAgain() async throws {
        try await withTemporaryFolder { folder in
            let socket = try ControlSocket(in: "\(folder)/sockets")
            defer { close(socket.descriptor) }
            let (host, clock) = (RunningHost(socket: socket.path), TestClock())
            @Sendable func ask() async -> String {
                do throws(Failure) {
                    return try await host.ask(.host, clock: clock.host).map { String(decoding: $0, as: UTF8.self) }
                        ?? ""
                } catch {
                    return error.message
                }
            }
            async let first = ask()
            let hung = try await accept(socket)
            defer { close(hung) }
            await clock.untilSleeping(for: .seconds(10))
            clock.advance(.seconds(10))
            #expect(await first == ControlClient.silent.message)
            // Nobody accepts a connection.
            #expect(await ask() == ControlClient.silent.message)
            clock.sleepMachine(.seconds(60))
            clock.advance(.milliseconds(9_999))
            #expect(await ask() == ControlClient.silent.message)
            clock.advance(.milliseconds(1))
            async let next = ask()
            let client = try await accept(socket)
            say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", to: client)
            close(client)
            #expect(await next == "{}")
        }
    }

    @Test("H9: a host with too many connections is asked again, and says so if that does not end")
    func busy() async throws {
        try await withTemporaryFolder { folder in
            let socket = try ControlSocket(in: "\(folder)/sockets")
            defer { close(socket.descriptor) }
            // How long this takes on a busy machine is no matter.
            let clock = TestClock()
            let asking = Task { try await RunningHost(socket: socket.path).ask(.host, clock: clock.host) }
            let error = #"{"error":{"code":"vaultLocked","message":"too many"}}"#
            for (status, body) in [
                ("503 Service Unavailable", error), ("503 Service Unavailable", error), ("200 OK", "{}"),
            ] {
                let client = try await accept(socket)
                say("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)", to: client)
                // The request is not read, as a host that has too many does not read it.
                close(client)
            }
            #expect(try await asking.value.map { String(decoding: $0, as: UTF8.self) } == "{}")
        }
    }

    @Test("A command waits for another one as long as that takes, and for a host that has lost its socket ten seconds")
    func waits() async throws {
        try await withTemporaryFolder { folder in
            let account = account("home", in: folder)
            try Files.makeFolder(account.bookmark.vault)
            let vault = open(account.bookmark.vault, O_RDONLY | O_DIRECTORY)
            defer { close(vault) }
            #expect(flock(vault, LOCK_EX) == 0)
            func write(_ control: VaultHolder.Control) throws {
                try Files.write(
                    VaultHolder(process: getpid(), control: control).text, to: "\(account.bookmark.vault)/lock")
            }
            let clock = TestClock { _ in .passes }
            var wait = VaultWait(Console(output: -1, errors: -1), clock: clock.host)
            try write(.none)
            for _ in 0..<300 { #expect(try await wait.goesOn(for: account)) }
            let began = clock.monotonic
            try write(.socket("/nowhere/1.sock"))
            let failure = await #expect(throws: Failure.self) {
                while try await wait.goesOn(for: account) {}
            }
            #expect(failure?.kind == .vaultLocked)
            #expect(
                failure?.message == "home: process \(getpid()) runs the account, and does not answer at /nowhere/1.sock"
            )
            #expect(clock.monotonic - began == .seconds(10))

            // So do commands that only a host can carry out; without one they say so at once.
            let asked = await #expect(throws: Failure.self) {
                let hosts = AskedHosts(of: "\(folder)/config.yaml")
                _ = try await hosts.state(of: account)
            }
            #expect(asked?.kind == .vaultLocked && asked?.message == failure?.message)
            try write(.unknown)
            #expect(try await !wait.goesOn(for: account))
            #expect(flock(vault, LOCK_UN) == 0)
            try write(.socket("/nowhere/1.sock"))
            let none = await #expect(throws: Failure.self) {
                try await RunningHost.ask(for: account, in: "\(folder)/config.yaml", Console(output: -1, errors: -1)) {
                    _ throws(Failure) -> Int? in nil
                }
            }
            #expect(none?.kind == .unreachable)
        }
    }

    /// Accepts a connection, and waits for its request: an answer that comes before it is no answer.
    private func accept(_ socket: ControlSocket) async throws -> Int32 {
        var client: Int32 = -1
        await until {
            client = Glibc.accept(socket.descriptor, nil, nil)
            return client >= 0
        }
        var byte: UInt8 = 0
        await until { recv(client, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0 }
        return client
    }

    private func say(_ text: String, to client: Int32) { _ = send(client, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }
}
