import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// `larder pause` and `larder resume`, which a person tells a running host.
@Suite(.serialized) struct PauseTests {
    @Test("U9: a pause stops a download of Apache's, outlasts a kill, and the download goes on where it was")
    func apache() async throws {
        try await withTemporaryFolder { folder in
            let size = 8_000_000
            try Files.makeFolder("\(folder)/data")
            var options = Account.withLogin
            options.kilobytesPerSecond = 400
            try await withServer(.apache, data: "\(folder)/data", options: options) { server in
                try await server.put("big", String(repeating: "x", count: size), modified: 1_600_000_000)
                try await server.put("small", "small", modified: 1_600_000_000)
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let killed = try account.larder.start(["run"], errors: "\(folder)/log")
                _ = try await account.untilCommanded(killed)
                #expect(try await account.larder("get", "--queue", "/big").exitCode == 0)
                try await soon("half a megabyte has arrived", beside: killed, log: "\(folder)/log") {
                    try account.incoming() > 500_000
                }
                let paused = try await account.larder("pause")
                #expect(paused.exitCode == 0 && paused.output == "home: paused until `larder resume`\n")

                try await server.forgetRequests()
                #expect(try await account.larder("pin", "/small").exitCode == 0)
                #expect(try await account.larder("get", "--queue", "/small").exitCode == 0)
                let waited = try await account.larder("wait")
                #expect(waited.exitCode == 1 && waited.errors.contains("paused"), "\(waited.summary)")
                let got = try await account.larder("--json", "get", "/small")
                #expect(got.exitCode == 1 && got.errors.contains("`larder resume`"), "\(got.summary)")
                let arrived = try account.incoming()
                #expect(arrived < size)
                killed.send(SIGKILL)
                #expect(await killed.wait() == .signal(SIGKILL))

                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                _ = try await account.untilCommanded(host)
                let health = try await account.larder("healthcheck")
                #expect(health.exitCode == 0 && health.output == "home: paused\n", "\(health.summary)")
                let status = try await account.larder("--json", "status")
                #expect(status.output.contains(#""paused":true,"pausedUntil":null"#), "\(status.summary)")
                #expect(try account.incoming() == arrived)
                let silent = try await server.requests()
                #expect(silent.allSatisfy { $0.path == "/big" }, "\(silent)")

                let resumed = try await account.larder("resume")
                #expect(resumed.exitCode == 0 && resumed.output == "home: goes on\n", "\(resumed.summary)")
                try await soon("both files are here", beside: host, log: "\(folder)/log") {
                    try account.localFiles().sorted() == ["big", "small"]
                }
                #expect(try await account.difference(from: server.data) == "")
                let requests = try await server.requests()
                let ranges = requests.filter { $0.method == "GET" && $0.path == "/big" }.compactMap(\.range)
                #expect(ranges == ["bytes=\(arrived)-"], "\(requests)")
                #expect(requests.paths(of: "PROPFIND").contains("/"))
                #expect(try await account.larder("resume").output == "home: was not paused\n")
                #expect(await host.stop() == .code(0))
            }
        }
    }

    @Test("U9: a pause with a length ends by itself, another replaces its end, and a reload does not end it")
    func ends() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                #expect(try await account.larder("pause").exitCode == 69)
                #expect(try await account.larder("resume").exitCode == 69)
                #expect(try await account.larder("pause", "--for", "0s").exitCode == 64)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let manager = try NotifyReceiver("\(folder)/notify")
                var larder = account.larder
                larder.environment["NOTIFY_SOCKET"] = "\(folder)/notify"
                let host = try larder.start(["run"], errors: "\(folder)/log")
                _ = try await account.untilCommanded(host)
                #expect(try await account.larder("wait").exitCode == 0)

                let long = try await account.larder("--json", "pause", "--for", "1h")
                #expect(long.exitCode == 0, "\(long.summary)")
                #expect(long.output.contains(#""account":"home","paused":true,"pausedUntil":"20"#), "\(long.summary)")
                try await soon("the manager knows", beside: host) {
                    manager.status?.hasPrefix("home: paused until 20") ?? false
                }
                // The account is opened anew for this.
                try Files.write(
                    try Files.text("\(folder)/config.yaml") + "walk: 2h\n", to: "\(folder)/config.yaml", mode: 0o600)
                #expect(try await account.larder("reload").output == "home restarted\n")
                server.forgetRequests()
                server.tree.put("/b", "two")
                let status = try await account.larder("status")
                #expect(status.output.contains("home: paused\n"), "\(status.summary)")
                #expect(status.output.contains("  paused     until 20"), "\(status.summary)")
                #expect(server.requests.isEmpty)

                #expect(try await account.larder("pause", "--for", "2s").exitCode == 0)
                try await soon("it polls by itself", beside: host, log: "\(folder)/log") {
                    try account.text("b") == "two"
                }
                let after = try await account.larder("--json", "status")
                #expect(after.output.contains(#""paused":false,"pausedUntil":null"#), "\(after.summary)")

                #expect(try await account.larder("pause").exitCode == 0)
                #expect(await host.stop() == .code(0))
                let without = try await account.larder("status")
                #expect(without.output.contains("`larder resume`"), "\(without.summary)")
                server.tree.put("/c", "three")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try account.text("c") == "three")
                #expect(try await account.larder("--json", "status").output.contains(#""paused":true"#))
            }
        }
    }
}

extension Account {
    /// The number of bytes of downloads that are not complete.
    fileprivate func incoming() throws -> Int {
        let files = try Files.filesBelow("\(vault)/incoming").map { "\(vault)/incoming/\($0)" }
        return files.map { path in
            var status = stat()
            return stat(path, &status) == 0 ? Int(status.st_size) : 0
        }.reduce(0, +)
    }
}
