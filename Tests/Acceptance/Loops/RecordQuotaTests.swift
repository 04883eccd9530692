import DemoServer
import TestServer
import TestSupport
import Testing

/// The limit for the records of event loops, as a person meets it.
@Suite struct RecordQuotaTests {
    @Test("G43: a loop that lacks room for its records says so, and goes on where it was when the quota is raised")
    func raised() async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("looper", to: "\(folder)/looper.so")
            try await TestServer.running { server in
                let account = { (quota: String) in
                    try Account(
                        in: folder, server,
                        settings: [
                            "plugins:", "  org.example.looper:",
                            "    { library: \"\(folder)/looper.so\", isolation: in-process, record-quota: \(quota),",
                            "      settings: { mode: hoard, pages: '2' } }",
                        ]
                    ).larder
                }
                let small = try account("25kB")
                // The first poll fetches everything; the second would take two pages, and has room for one.
                #expect(try await small("loop", "poll", "looper").exitCode == 0)
                let full = try await small("loop", "poll", "looper")
                #expect(full.exitCode == 1 && full.output.contains("1"), "\(full.summary)")
                let named = "the records of the plugin org.example.looper would take 25"
                #expect(
                    full.errors.contains(named) && full.errors.contains("`record-quota` is 25000"), "\(full.summary)")
                let issues = try await small("issue", "list")
                #expect(issues.output.contains("loop.full") && issues.output.contains(named), "\(issues.summary)")
                let info = try await small("plugin", "info", "org.example.looper")
                #expect(info.output.contains("records 20243B of 25kB"), "\(info.summary)")
                let large = try account("100kB")
                let done = try await large("--json", "loop", "poll", "looper")
                #expect(done.exitCode == 0 && done.output.contains(#""eventID":"2""#), "\(done.summary)")
                #expect(try await !large("issue", "list").output.contains("loop.full"))
                let json = try await large("--json", "plugin", "info", "org.example.looper")
                #expect(json.output.contains(#""recordBytes":40469,"recordQuota":100000"#), "\(json.summary)")
            }
        }
    }
}
