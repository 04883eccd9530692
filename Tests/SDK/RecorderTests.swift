import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// Tests of a plugin in C, built by the system's compiler against the headers alone.
@Suite struct RecorderTests {
    private func withRecorder(_ body: (PluginFixture, String) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/recorder.so"
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-I",
                    "\(Build.root)/SDK/C/include", "\(Build.root)/Tests/Support/Plugins/recorder.c", "-o", library,
                ])
            try body(PluginFixture(library: library), "\(folder)/log")
        }
    }

    private func settings(_ log: String, match: String, cleanup: String) -> String {
        #"{"log": "\#(log)", "match": "\#(match)", "cleanup": "\#(cleanup)"}"#
    }

    @Test("G5: a C processor gets the calls of the pattern in their order, and what it asks for is noted")
    func pattern() async throws {
        try await withRecorder { fixture, log in
            #expect(
                fixture.start(
                    "org.example.recorder",
                    settings: settings(log, match: #"path.startsWith(\"/a/\")"#, cleanup: #"path == \"/b\""#))
                    == LARDER_OK)
            fixture.put(.file("/a/1"), .file("/a/2"), .file("/b"), .file("/c"))
            #expect(fixture.run(.policiesChanged) == LARDER_OK)
            let written = try Files.text(log)
            #expect(
                written == """
                    updatePolicies - -
                    performPreflightOnPolicies policiesChanged -
                    willEnterTrigger policiesChanged -
                    beginMatching policiesChanged -
                    performAction policiesChanged /a/1
                    performAction policiesChanged /a/2
                    endMatching policiesChanged -
                    beginCleanup policiesChanged -
                    performCleanup policiesChanged /b
                    endCleanup policiesChanged -
                    didPassTrigger policiesChanged -

                    """)
            #expect(fixture.paths("download") == ["/a/1"])
            #expect(fixture.mistakes == [])
        }
    }

    @Test("G5: without an item that matches, and without a condition, begin and end are not called")
    func nothingMatches() async throws {
        try await withRecorder { fixture, log in
            fixture.start(
                "org.example.recorder", settings: settings(log, match: #"path == \"/none\""#, cleanup: ""))
            fixture.put(.file("/a"))
            fixture.run(.itemsChanged, .file("/a"))
            fixture.run(.itemListUpdateCompletedWithoutChanges)
            #expect(
                fixture.calls == [
                    "update_policies", "preflight", "will_enter_trigger", "did_pass_trigger", "preflight",
                    "will_enter_trigger", "did_pass_trigger",
                ])
            #expect(fixture.actions == [])
        }
    }

    @Test(
        "A condition that is not valid, or fails, is the run's status; it is a mistake, and no item meets it",
        arguments: ["size >", "oops", #"size > \"x\""#])
    func badCondition(condition: String) async throws {
        try await withRecorder { fixture, log in
            try #require(
                fixture.start("org.example.recorder", settings: settings(log, match: condition, cleanup: ""))
                    == LARDER_OK)
            fixture.put(.file("/a"))
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_INVALID_ARGUMENT)
            // The plugin gives it as both conditions.
            #expect(
                fixture.mistakes
                    == ["policy_condition", "match_condition"].map { "\($0) \(LARDER_INVALID_ARGUMENT)" })
            #expect(!fixture.calls.contains("perform_action /a") && fixture.calls.last == "did_pass_trigger")
        }
    }

    @Test("Conditions go by the availableOffline that the test gives an item, and else by the policies on the stage")
    func availableOffline() async throws {
        try await withRecorder { fixture, log in
            let kept = #"availableOffline != \"none\""#
            try #require(
                fixture.start("org.example.recorder", settings: settings(log, match: "", cleanup: kept)) == LARDER_OK)
            fixture.put(.pin(folder: "/"))
            fixture.put(.file("/by policy"))
            for (name, level) in [("none", LARDER_AVAILABLE_OFFLINE_NONE), ("told", LARDER_AVAILABLE_OFFLINE_INDIRECT)]
            {
                withView(of: .file("/\(name)")) { view in
                    var view = view.pointee
                    view.present |= 1 << UInt64(LARDER_FIELD_AVAILABLE_OFFLINE)
                    view.available_offline = level
                    larder_fake_put_item(fixture.fake, &view)
                }
            }
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            #expect(
                fixture.calls.filter { $0.hasPrefix("perform_cleanup") } == [
                    "perform_cleanup /by policy", "perform_cleanup /told",
                ])
        }
    }

    @Test("A start that fails tells its own status, and why for as long as the test does not go on")
    func failedStart() async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("same", to: "\(folder)/same.so")
            let fixture = try PluginFixture(library: "\(folder)/same.so")
            larder_fake_fail(fixture.fake, "config.settings", 1, LARDER_IO)
            #expect(fixture.start("org.example.same") == LARDER_IO)
            let problem = larder_fake_problem(fixture.fake)
            #expect(fixture.start("org.example.same", settings: "no JSON") == LARDER_INVALID_ARGUMENT)
            #expect(problem.map { String(cString: $0) }?.hasPrefix("it did not start") == true)
            #expect(fixture.problem?.hasPrefix("settings: ") == true)
        }
    }

    @Test("GL1: what is no plugin is reported with the reason")
    func refusals() async throws {
        try await withTemporaryFolder { folder in
            try Files.write("no library", to: "\(folder)/text.so")
            let text = try #require(throws: SetupError.self) { try PluginFixture(library: "\(folder)/text.so") }
            #expect(text.description == "not a shared library: it is not an ELF file")
            try Files.write("int nothing;", to: "\(folder)/bare.c")
            try await mustRun("gcc", ["-shared", "-fPIC", "\(folder)/bare.c", "-o", "\(folder)/bare.so"])
            let bare = try #require(throws: SetupError.self) { try PluginFixture(library: "\(folder)/bare.so") }
            #expect(bare.description == "no entry symbol: it exports no larder_plugin_entry_v1")
        }
        try await withRecorder { fixture, _ in
            #expect(fixture.start("org.example.recorders") == LARDER_NOT_FOUND)
            #expect(fixture.start("org.example") == LARDER_NOT_FOUND)
            #expect(fixture.start("") == LARDER_NOT_FOUND)
        }
    }
}
