import Glibc
import TestServer
import TestSupport
import Testing

/// Loops whose process ends in the middle of a turn.
@Suite(.serialized) struct KilledLoopTests {
    /// An account with one loop, of the test plugin in C. The loop takes three pages and counts them.
    private struct Fixture {
        var account: Account
        let server: TestServer
        let library: String

        init(in folder: String, _ server: TestServer) async throws {
            library = "\(folder)/looper.so"
            self.server = server
            try await CompiledPlugin.build("looper", to: library)
            account = try Account(in: folder, server)
        }

        /// Runs once, with the plugin in a mode.
        func run(_ mode: String, wrapper: [String] = []) async throws -> ProcessResult {
            var copy = try Account(
                in: account.folder, server,
                settings: [
                    "plugins:", "  core-loop: { enabled: false }", "  calendar-loop: { enabled: false }",
                    "  share-loop: { enabled: false }", "  org.example.looper:",
                    "    { library: \"\(library)\", isolation: in-process, settings: { mode: \"\(mode)\" } }",
                ])
            copy.larder.wrapper = wrapper
            return try await copy.larder("run", "--once")
        }

        /// Returns the loop's event id, and the number of pages according to its records and its values.
        func stored() async throws -> String {
            let code = """
                import sqlite3, sys
                db = sqlite3.connect('file:%s?mode=ro' % sys.argv[1], uri=True)
                one = lambda sql: (db.execute(sql).fetchone() or ['-'])[0]
                last = one("SELECT value FROM pluginValues WHERE plugin = 'org.example.looper'")
                print(one("SELECT eventID FROM loops WHERE kind = 'looper'"),
                      one("SELECT version FROM records WHERE key = 'count'"),
                      one("SELECT count(*) FROM records WHERE key LIKE 'page %'"),
                      last.decode() if isinstance(last, bytes) else last)
                """
            let result = try await TestSupport.run("python3", ["-c", code, "\(account.vault)/larder.db"])
            return String(result.output.split(separator: "\n").first ?? "")
        }
    }

    @Test(
        "L13: killed in a call of a loop's, the next start goes on from an id and effects that belong together",
        arguments: [
            ("die in refresh 255", "None - 0 -"), ("die in poll 0", "0 - 0 -"), ("die in process 0", "0 - 0 -"),
            ("die in poll 1", "1 1 1 1"), ("die in process 1", "1 1 1 1"), ("die in poll 2", "2 2 2 2"),
            ("die in process 2", "2 2 2 2"),
        ])
    func inCalls(mode: String, left: String) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let fixture = try await Fixture(in: folder, server)
                // The first cycle of a loop without an event id ends with the loop's refresh.
                if mode != "die in refresh 255" {
                    #expect(try await fixture.run("").exitCode == 0)
                }
                let killed = try await fixture.run(mode)
                #expect(killed.exitCode != 0, "\(killed.summary)")
                #expect(try await fixture.stored() == left)
                var finished = try await fixture.run("")
                if mode == "die in refresh 255" { finished = try await fixture.run("") }
                #expect(finished.exitCode == 0, "\(finished.summary)")
                #expect(try await fixture.stored() == "3 3 3 3")
            }
        }
    }

    @Test(
        "L13: killed at any write to the disk, nothing is missed and nothing is done twice",
        .enabled(if: access("/usr/bin/strace", X_OK) == 0, "killing at a system call needs strace"),
        arguments: ["fdatasync", "pwrite64"])
    func atWrites(_ call: String) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                var kills = 0
                for moment in stride(from: 1, to: 60, by: call == "fdatasync" ? 1 : 5) {
                    try Files.makeFolder("\(folder)/\(moment)")
                    let fixture = try await Fixture(in: "\(folder)/\(moment)", server)
                    let killed = try await fixture.run(
                        "",
                        wrapper: [
                            "strace", "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                            "inject=\(call):signal=SIGKILL:when=\(moment)",
                        ])
                    if killed.exitCode != 0 { kills += 1 }
                    var after: [String] = []
                    for _ in 0..<2 { after.append(try await fixture.run("").summary) }
                    let stored = try await fixture.stored()
                    #expect(stored == "3 3 3 3", "killed at \(call) \(moment): \(killed.summary)\n\(after)")
                    // If the run was not killed, it has no further calls of this type.
                    if killed.exitCode == 0 { break }
                }
                #expect(kills > 2)
            }
        }
    }
}
