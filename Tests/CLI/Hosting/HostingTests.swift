import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// `larder run` as a process, with a server that answers when the test wants it to.
@Suite struct HostingTests {
    private let folder = TemporaryFolder()

    private func command(_ server: TestServer) throws -> LarderCommand {
        try folder.write(server.configuration.password, to: "password")
        try folder.write(
            """
            accounts:
            - { name: home, url: '\(server.url)', username: \(server.configuration.user), vault: vault,
                password: { file: password } }
            """, to: "config.yaml")
        return LarderCommand(config: folder.path + "/config.yaml", home: folder.path)
    }

    @Test("H2: a signal in the middle of a download ends the host gracefully, exit 0", arguments: [SIGTERM, SIGINT])
    func signal(number: Int32) async throws {
        try await TestServer.running { server in
            server.tree.put("/Photos/large", Array(repeating: 7, count: 300_000))
            let larder = try command(server)
            #expect(try await larder("pin", "/Photos").exitCode == 0)
            let fault = server.add(Fault(.hold(afterBytes: 100_000), method: "GET", path: "/Photos/large"))
            let host = try larder.start(["run"])
            await server.untilHeld(fault)
            let status = try await larder("--json", "status")
            #expect(status.output.contains(#""connection":"online""#), "\(status.output)")
            #expect(try await larder("run", "--once").exitCode == 75)
            host.send(number)
            #expect(await host.wait(atMost: .seconds(60)) == .code(0))
            #expect(try await larder("--json", "status").output.contains(#""connection":"offline""#))
        }
    }

    @Test(
        "H10, H8: a run does its work with standard streams that are closed, and is not ended by a SIGHUP at its start",
        arguments: [
            ["sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh"], ["sh", "-c", "exec \"$@\" >&-", "sh"],
            // The signal comes with the call by which the program sets up its output.
            ["strace", "-f", "-o", "/dev/null", "-e", "inject=?dup2,?dup3:signal=SIGHUP:when=1"],
        ])
    func start(wrapper: [String]) async throws {
        try await TestServer.running { server in
            server.tree.put("/Photos/a", "one")
            var larder = try command(server)
            #expect(try await larder("pin", "/Photos").exitCode == 0)
            larder.wrapper = wrapper
            let run = try await larder("run", "--once")
            #expect(run.status == .code(0), "\(run.errors)")
            #expect(try Files.text("\(folder.path)/vault/files/Photos/a") == "one")
        }
    }

    @Test("H1: a run that is not done within its time is exit code 1 and says so")
    func timeout() async throws {
        try await TestServer.running { server in
            server.tree.put("/Photos/large", Array(repeating: 7, count: 300_000))
            let larder = try command(server)
            #expect(try await larder("pin", "/Photos").exitCode == 0)
            server.add(Fault(.hold(afterBytes: 100_000), method: "GET", path: "/Photos/large"))
            let result = try await larder("--json", "run", "--once", "--timeout", "1s")
            #expect(result.exitCode == 1)
            #expect(result.lines.last?.hasPrefix(#"{"error":{"code":"failed","#) == true, "\(result.output)")
        }
    }
}
