import DemoServer
import TestServer
import TestSupport
import Testing

@Suite(.serialized) struct ForeignPluginTests {
    @Test("P8 G5: a plugin in C gets the calls in their order, and the one download that it asks for happens")
    func calls() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/recorder.so"
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-I",
                    "\(Build.root)/SDK/C/include", "\(Build.root)/Tests/Support/Plugins/recorder.c", "-o", library,
                ])
            try await TestServer.running { server in
                for name in ["Ada", "Grace", "Mary"] { server.tree.put("/Photos/\(name).jpg", name) }
                server.tree.put("/other", "x")
                let account = try Account(
                    in: folder, server,
                    settings: [
                        "plugins:", "  org.example.recorder:", "    enabled: true", "    library: \"\(library)\"",
                        "    isolation: in-process",
                        "    settings: { log: \"\(folder)/calls\", match: 'path.startsWith(\"/Photos/\")' }",
                    ])
                let result = try await account.larder("run", "--once", "--trace", "\(folder)/trace")
                #expect(result.exitCode == 0, "\(result.summary)")
                #expect(server.requests.paths(of: "GET") == ["/Photos/Ada.jpg"])
                #expect(try account.localFiles() == ["Photos/Ada.jpg"])

                let calls = try Files.text("\(folder)/calls").split(separator: "\n").map(String.init)
                let completed = calls.filter { $0.contains(" itemListUpdateCompleted ") }
                #expect(
                    completed == [
                        "performPreflightOnPolicies itemListUpdateCompleted -",
                        "willEnterTrigger itemListUpdateCompleted -", "beginMatching itemListUpdateCompleted -",
                        "performAction itemListUpdateCompleted /Photos/Ada.jpg",
                        "performAction itemListUpdateCompleted /Photos/Grace.jpg",
                        "performAction itemListUpdateCompleted /Photos/Mary.jpg",
                        "endMatching itemListUpdateCompleted -", "didPassTrigger itemListUpdateCompleted -",
                    ], "\(calls)")
                let trace = try Files.text("\(folder)/trace").split(separator: "\n")
                let traced = trace.filter { $0.contains("org.example.recorder") && $0.contains("\"performAction\"") }
                #expect(traced.contains { $0.contains("\"/Photos/Ada.jpg\"") }, "\(trace.prefix(20))")
            }
        }
    }

    @Test("G4: without leave to run inside the host a foreign plugin is refused with what to do")
    func isolation() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                try Files.write("not looked into", to: "\(folder)/plugin.so")
                server.tree.put("/a", "x")
                let account = try Account(
                    in: folder, server,
                    settings: [
                        "plugins:", "  org.example.recorder: { enabled: true, library: \"\(folder)/plugin.so\" }",
                    ])
                let result = try await account.larder("plugin", "why", "org.example.recorder")
                #expect((result.output + result.errors).contains("isolation: in-process"), "\(result.summary)")

                // The host runs on. The run reports a failure, because the plugin did not do its work.
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let run = try await account.larder("run", "--once")
                #expect(run.exitCode == 1 && run.errors.contains("org.example.recorder is refused"), "\(run.summary)")
                #expect(run.errors.contains("larder plugin disable org.example.recorder"), "\(run.summary)")
                #expect(try account.localFiles() == ["a"])
                #expect(try await account.larder("plugin", "disable", "org.example.recorder").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
            }
        }
    }
}
