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
