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
            let accounts = try ["a", "b"].map { name in
                let vault = "\(folder)/\(name)"
                try Files.write(
                    VaultHolder(process: getpid(), control: .socket(socket.path)).text, to: "\(vault)/lock")
                return AccountConfig(
                    bookmark: Bookmark(
                        name: name, url: "https://example.org", username: nil, vault: vault, files: "\(vault)/files"),
                    secret: .none)
            }
            let clock = TestClock()
            let asking = Task {
                var hosts = AskedHosts(of: "\(folder)/config.yaml", clock: clock.host)
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
            clock.advance(.milliseconds(9_999))
            #expect(!clock.sleeping.isEmpty)
            clock.advance(.milliseconds(1))
            let failures = await asking.value
            #expect(
                failures.map(\.?.kind) == [.vaultLocked, .vaultLocked]
                    && failures.map(\.?.message) == ["a: the host does not answer", "b: the host does not answer"])
        }
    }
}
