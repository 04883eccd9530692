import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport
import Testing

/// The commands for event loops, as a person types them.
@Suite struct LoopCommandTests {
    /// The fields of a loop that the tests check.
    private struct Loop: Decodable {
        var id: String
        var kind: String
        var plugin: String
        var enabled: Bool
        var eventID: String?
        var lastPoll: String?
        var lastResult: String?
        var nextPoll: String?

        var summary: String { "\(kind):\(id) \(enabled ? "" : "disabled ")\(lastResult ?? "-") \(eventID ?? "-")" }
    }

    /// An account whose loops are those of test plugins in C. `looper` has one loop; `first` and `second` have a loop
    /// for each record of `looper`.
    private struct Fixture {
        let server: TestServer
        let folder: String

        init(in folder: String, _ server: TestServer) async throws {
            (self.folder, self.server) = (folder, server)
            for name in ["looper", "first", "second"] {
                let more = name == "looper" ? [] : ["COLLECTION=\"org.example.looper\""]
                try await CompiledPlugin.build(
                    "looper", to: "\(folder)/\(name).so",
                    defines: ["OWN=\"org.example.\(name)\"", "KIND=\"\(name)\""] + more)
            }
        }

        /// Makes the account, with the plugin `looper` in a mode.
        /// - Parameter followers: the names of the other plugins that are enabled.
        func account(
            _ mode: String = "", pages: Int = 3, followers: [String] = [], url: String? = nil
        ) throws -> Account {
            var lines = [
                "plugins:", "  core-loop: { enabled: false }", "  calendar-loop: { enabled: false }",
                "  share-loop: { enabled: false }",
            ]
            for name in ["looper"] + followers {
                let mode = name == "looper" ? mode : ""
                lines += [
                    "  org.example.\(name):",
                    "    library: \"\(folder)/\(name).so\"",
                    "    isolation: in-process",
                    "    settings: { mode: \"\(mode)\", pages: \"\(pages)\", target: /Shared/deep }",
                ]
            }
            guard let url else { return try Account(in: folder, server, settings: lines) }
            return try Account(in: folder, url: url, user: "ada", password: "secret", settings: lines)
        }
    }

    private func looping(_ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in try await body(try await Fixture(in: folder, server)) }
        }
    }

    private func loops(_ result: ProcessResult) throws -> [String] {
        try result.lines.filter { !$0.hasPrefix(#"{"error""#) }.map { line in
            let loop = try JSONDecoder().decode(Loop.self, from: Data(line.utf8))
            #expect(loop.nextPoll == nil, "nothing polls it while no host runs")
            return loop.summary
        }
    }

    @Test("L22: polling one loop takes its pages, and no other's; polling all takes all, also of loops that came up")
    func poll() async throws {
        try await looping { fixture in
            let larder = try fixture.account(followers: ["first"]).larder
            #expect(
                try loops(await larder("--json", "loop", "poll")) == [
                    "looper:looper refresh 0", "first:refreshed refresh 0",
                ])
            #expect(try loops(await larder("--json", "loop", "poll", "looper")) == ["looper:looper ok 3"])
            #expect(
                try loops(await larder("--json", "loop", "list")) == [
                    "looper:looper ok 3", "first:refreshed refresh 0", "first:count - -", "first:page 1 - -",
                    "first:page 2 - -", "first:page 3 - -",
                ])
            let all = try await larder("loop", "poll")
            #expect(all.exitCode == 0, "\(all.summary)")
            #expect(all.lines.count == 7 && all.output.contains("page 3"))
        }
    }

    @Test("What the item list is to look at is left for the next run, which looks")
    func look() async throws {
        try await looping { fixture in
            fixture.server.tree.put("/Shared/deep/1", "one")
            let larder = try fixture.account("look 0").larder
            let first = try await larder("run", "--once")
            #expect(first.exitCode == 0, "\(first.summary)")
            fixture.server.behave { $0.propagation = .none }
            fixture.server.tree.put("/Shared/deep/2", "two")
            #expect(try loops(await larder("--json", "loop", "poll")) == ["looper:looper ok 3"])
            #expect(try await larder("stat", "/Shared/deep/2").exitCode == 66)
            let second = try await larder("run", "--once")
            #expect(second.exitCode == 0, "\(second.summary)")
            #expect(try await larder("stat", "/Shared/deep/2").exitCode == 0)
        }
    }

    /// The names of a host's threads, and the targets of its descriptors except for sockets.
    private struct Inside {
        var threads: [String]
        var descriptors: [String]

        init(_ process: pid_t) throws {
            threads = try Files.names(in: "/proc/\(process)/task").compactMap { task in
                // A thread may end meanwhile.
                do {
                    let name = try Files.text("/proc/\(process)/task/\(task)/comm")
                    return String(name.prefix { $0 != "\n" })
                } catch { return nil }
            }
            descriptors = try Files.names(in: "/proc/\(process)/fd").compactMap { number in
                var bytes = [CChar](repeating: 0, count: 4096)
                let length = readlink("/proc/\(process)/fd/\(number)", &bytes, 4096)
                let target = String(
                    decoding: bytes.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return target.hasPrefix("socket:") || length < 0 ? nil : String(target.prefix { $0 != "[" })
            }
        }
    }

    @Test(
        "GL4: a plugin whose last loop is disabled has no thread and no descriptor in a host; enabled, it is at work again"
    )
    func lastLoop() async throws {
        try await looping { fixture in
            let account = try fixture.account()
            func inside(without name: Substring? = nil) async throws -> Inside {
                let host = try account.larder.start(["run"])
                try await account.untilOnline(host)
                // The thread of a plugin that has nothing to do ends once it was asked.
                if let name {
                    try await until {
                        try !Inside(host.pid).threads.contains { $0 == name }
                    }
                }
                let inside = try Inside(host.pid)
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(120)) == .code(0))
                return inside
            }
            let before = try await inside()
            // A thread has the last 15 bytes of its plugin's id.
            let name = "org.example.looper".suffix(15)
            #expect(before.threads.count { $0 == name } == 1, "\(before.threads)")
            #expect(try await account.larder("loop", "disable", "looper").exitCode == 0)
            let after = try await inside(without: name)
            #expect(!after.threads.contains { $0 == name }, "\(after.threads)")
            // Descriptors may come and go, but no descriptor may remain that was not open before.
            let counts = Dictionary(grouping: after.descriptors, by: { $0 }).mapValues(\.count)
            for (target, count) in counts where !target.contains("/larder.db") {
                #expect(before.descriptors.count { $0 == target } >= count, "\(target)")
            }
            #expect(!after.descriptors.contains { $0.hasSuffix("looper.so") })
            #expect(try await account.larder("run", "--once").exitCode == 0)
            #expect(try await account.larder("loop", "enable", "looper").exitCode == 0)
            #expect(try await inside().threads.count { $0 == name } == 1)
            #expect(try loops(await account.larder("--json", "loop", "poll")) == ["looper:looper ok 3"])
        }
    }

    @Test("L33: a loop of which the server offered nothing is polled when a person says so")
    func resting() async throws {
        try await looping { fixture in
            let resting = try fixture.account("nothing there 0").larder
            #expect(try loops(await resting("--json", "loop", "poll")) == ["looper:looper refresh 0"])
            #expect(try loops(await resting("--json", "loop", "poll")) == ["looper:looper notOffered 0"])
            let larder = try fixture.account(pages: 1).larder
            #expect(try await larder("run", "--once").exitCode == 0)
            #expect(try loops(await larder("--json", "loop", "list")) == ["looper:looper notOffered 0"])
            #expect(try loops(await larder("--json", "loop", "poll", "looper")) == ["looper:looper ok 1"])
        }
    }

    @Test("L09: a loop that fails makes the exit code, and its reason is said")
    func failing() async throws {
        try await looping { fixture in
            let larder = try fixture.account("fail in poll 0").larder
            #expect(try await larder("loop", "poll").exitCode == 0)
            let failed = try await larder("--json", "loop", "poll")
            #expect(failed.exitCode == 1)
            #expect(failed.errors.contains("The loop looper:looper: as it was told to"), "\(failed.summary)")
            #expect(try loops(failed) == ["looper:looper error 0"])
            #expect(failed.lines.last?.hasPrefix(#"{"error""#) == true)
        }
    }

    @Test("L19: a loop that is disabled stays so until it is enabled, and goes on from where it was")
    func switching() async throws {
        try await looping { fixture in
            let larder = try fixture.account().larder
            #expect(try await larder("loop", "disable", "looper").exitCode == 0)
            #expect(try await larder("run", "--once").exitCode == 0)
            #expect(try loops(await larder("--json", "loop", "list")) == ["looper:looper disabled - -"])
            let refused = try await larder("loop", "poll", "looper")
            #expect(refused.exitCode == 65)
            #expect(refused.errors.contains("larder loop enable looper:looper"), "\(refused.summary)")
            #expect(try loops(await larder("--json", "loop", "enable", "looper")) == ["looper:looper - -"])
            #expect(try loops(await larder("--json", "loop", "poll")) == ["looper:looper refresh 0"])
            #expect(
                try loops(await larder("--json", "loop", "disable", "looper")) == ["looper:looper disabled refresh 0"])
            #expect(
                try loops(await larder("--json", "loop", "disable", "looper")) == ["looper:looper disabled refresh 0"])
            #expect(
                try await larder("loop", "enable", "looper").output
                    == "loop looper: enabled: the running host or the next `larder run` polls it\n")
            #expect(try loops(await larder("--json", "loop", "poll")) == ["looper:looper ok 3"])
        }
    }

    @Test(
        "L22: a loop that there is not is exit code 66 and names those that there are; one of two says how to tell them apart"
    )
    func naming() async throws {
        try await looping { fixture in
            let larder = try fixture.account(followers: ["first", "second"]).larder
            for command in ["poll", "enable", "disable"] {
                let unknown = try await larder("loop", command, "looker")
                #expect(unknown.exitCode == 66, "\(unknown.summary)")
                #expect(unknown.errors.contains("there is no loop `looker`") && unknown.errors.contains("looper"))
            }
            #expect(try await larder("loop", "poll").exitCode == 0)
            for command in ["poll", "enable", "disable"] {
                let either = try await larder("loop", command, "refreshed")
                #expect(either.exitCode == 65)
                #expect(either.errors.contains("write first:refreshed or second:refreshed"), "\(either.summary)")
            }
            #expect(try loops(await larder("--json", "loop", "poll", "second:refreshed")) == ["second:refreshed ok 3"])
        }
    }

    @Test("L32: a trace has a line for each call of a loop, and the status counts loops")
    func traced() async throws {
        struct Line: Decodable {
            var plugin: String
            var call: String
            var loop: String?
            var path: String?
            var trigger: String?
            var status: String
            var microseconds: Int
        }
        try await looping { fixture in
            let trace = fixture.folder + "/trace"
            let calls = { (mode: String) -> [String] in
                _ = try await fixture.account(mode).larder("run", "--once", "--trace", trace)
                // Only the lines that say how calls ended are kept.
                return try Files.text(trace).split(separator: "\n").filter { !$0.contains("\"phase\":") }
                    .map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
                    .filter { $0.plugin == "org.example.looper" }
                    .map { line in
                        #expect(line.loop == "looper" && line.path == nil && line.trigger == nil)
                        return "\(line.call) \(line.status)"
                    }
            }
            #expect(try await calls("") == ["onError ok", "refresh ok"])
            let failing = try await calls("fail in process 1")
            #expect(failing == ["poll ok", "process ok", "poll ok", "process failed", "onError ok"])
            let status = try await fixture.account().larder("status")
            #expect(status.output.contains("loops      1 error"), "\(status.summary)")
            #expect(status.output.contains("loop       looper:looper: "))
        }
    }

    @Test("While a host runs it polls by itself, and the commands say so; without a server it is exit code 69")
    func hosts() async throws {
        try await looping { fixture in
            let larder = try fixture.account().larder
            let host = try larder.start(["run"])
            while try await !larder("--json", "status").output.contains(#""lastResult":"refresh""#) {}
            // The time of the next poll is written shortly after the turn.
            while try await larder("--json", "loop", "list").output.contains(#""nextPoll":null"#) {}
            for command in ["poll", "disable", "enable"] {
                let result = try await larder("loop", command, "looper")
                #expect(result.exitCode == 0, "\(result.summary)")
            }
            #expect(try await larder("run", "--once").exitCode == 75)
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            let nowhere = try fixture.account(url: "http://127.0.0.1:9/").larder
            #expect(try await nowhere("loop", "poll").exitCode == 69)
        }
    }
}
