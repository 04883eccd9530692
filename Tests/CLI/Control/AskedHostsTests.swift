import Glibc
import Model
import TestSupport
import Testing

@testable import larder

/// A host that hangs: its socket takes connections, and nobody answers.
@Suite struct AskedHostsTests {
    @Test("H13: a host that does not answer is waited for ten seconds, and once for all its accounts")
    func silent() async throws {
        try await withTemporaryFolder { folder in
            let socket = try ControlSocket(in: "\(folder)/sockets")
            defer { close(socket.descriptor) }
            let accounts = try ["a", "b"].map { try account($0, in: folder, socket.path) }
            let clock = TestClock()
            let asking = Task {
                let hosts = AskedHosts(of: "\(folder)/config.yaml", clock: clock.host)
                var failures: [Failure?] = []
                for account in accounts {
                    do throws(Failure) {
                        _ = try await hosts.state(of: account)
                        failures.append(nil)
                    } catch {
                        failures.append(error)
                    }
                }
                return failures
            }
            await clock.untilSleeping(for: .seconds(10))
            // While the machine sleeps, no host can answer.
            clock.sleepMachine(.seconds(10))
            await clock.untilSleeping(for: .seconds(10))
            clock.advance(.milliseconds(9_999))
            #expect(!clock.sleeping.isEmpty)
            clock.advance(.milliseconds(1))
            let failures = await asking.value
            #expect(
                failures.map(\.?.kind) == [.vaultLocked, .vaultLocked]
                    && failures.map(\.?.message) == ["a: the host does not answer", "b: the host does not answer"])
        }
    }

    private func account(_ name: String, in folder: String, _ socket: String) throws -> AccountConfig {
        let vault = "\(folder)/\(name)"
        try Files.write(VaultHolder(process: getpid(), control: .socket(socket)).text, to: "\(vault)/lock")
        return AccountConfig(
            bookmark: Bookmark(
                name: name, url: "https://example.org", username: nil, vault: vault, files: "\(vault)/files"),
            secret: .none)
    }

    @Test("H13: hosts that do not answer are waited for together, and their accounts are told in order")
    func severalSilent() async throws {
        try await withTemporaryFolder { folder in
            let sockets = try (0..<40).map { _ in try ControlSocket(in: "\(folder)/sockets") }
            defer { for socket in sockets { close(socket.descriptor) } }
            let names = sockets.indices.map { "account\($0)" }
            let accounts = try zip(names, sockets).map { try account($0, in: folder, $1.path) }
            let clock = TestClock()
            let asking = Task {
                await HealthCheck.healths(of: accounts, AskedHosts(of: "\(folder)/config.yaml", clock: clock.host))
            }
            // Not more at a time than a host has room for.
            for count in [16, 16, 8] {
                await until { clock.sleeping.count == count }
                clock.advance(.seconds(10))
            }
            let healths = await asking.value
            #expect(healths.map(\.account) == names)
            #expect(healths.allSatisfy { $0.problem?.kind == .vaultLocked })
        }
    }

    @Test("A host that has the vault for an account of another name makes the code of a locked vault")
    func otherName() async throws {
        try await withTemporaryFolder { folder in
            let socket = try ControlSocket(in: "\(folder)/sockets")
            let account = try account("mine", in: folder, socket.path)
            let refusal = Failure(.notFound, "the host that runs has no account `mine`", hint: "reload it")
            let listener = try ControlListener(socket.descriptor, logger: CollectedLog().logger, clock: .system) {
                _, connection in
                try await connection.answer("404 Not Found", Array(JSONValue(error: refusal).text.utf8))
            }
            let listening = Task { await listener.run() }
            let healths = await HealthCheck.healths(of: [account], AskedHosts(of: "\(folder)/config.yaml"))
            #expect(healths.map(\.problem?.kind) == [.vaultLocked])
            #expect(
                healths[0].problem?.message == "mine: the vault is in use, and the host that runs has no account `mine`"
            )
            #expect(healths[0].problem?.hint == .text("reload it"))
            listener.stop()
            listening.cancel()
            await listening.value
        }
    }
}
