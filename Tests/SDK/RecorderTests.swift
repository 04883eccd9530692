import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// A plugin in C, built by the system's compiler against the headers alone.
@Suite struct RecorderTests {
    private func withRecorder(_ body: (Stage, String) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/recorder.so"
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-I",
                    "\(Build.root)/SDK/C/include", "\(Build.root)/Tests/Support/Plugins/recorder.c", "-o", library,
                ])
            try body(Stage(library: library), "\(folder)/log")
        }
    }

    private func settings(_ log: String, match: String, cleanup: String) -> String {
        #"{"log": "\#(log)", "match": "\#(match)", "cleanup": "\#(cleanup)"}"#
    }

    @Test("G5: a C processor gets the calls of the pattern in their order, and what it asks for is noted")
    func pattern() async throws {
        try await withRecorder { stage, log in
            #expect(
                stage.start(
                    "org.example.recorder",
                    settings: settings(log, match: #"path.startsWith(\"/a/\")"#, cleanup: #"path == \"/b\""#))
                    == LARDER_OK)
            stage.put(.file("/a/1"), .file("/a/2"), .file("/b"), .file("/c"))
            #expect(stage.run(.policiesChanged) == LARDER_OK)
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
            #expect(stage.paths("download") == ["/a/1"])
            #expect(stage.mistakes == [])
        }
    }

    @Test("G5: without an item that matches, and without a condition, begin and end are not called")
    func nothingMatches() async throws {
        try await withRecorder { stage, log in
            stage.start(
                "org.example.recorder", settings: settings(log, match: #"path == \"/none\""#, cleanup: ""))
            stage.put(.file("/a"))
            stage.run(.itemsChanged, .file("/a"))
            stage.run(.itemListUpdateCompletedWithoutChanges)
            #expect(
                stage.calls == [
                    "update_policies", "preflight", "will_enter_trigger", "did_pass_trigger", "preflight",
                    "will_enter_trigger", "did_pass_trigger",
                ])
            #expect(stage.actions == [])
        }
    }

    @Test("GL1: what is no plugin is reported with the reason")
    func refusals() async throws {
        try withTemporaryFolder { folder in
            try Files.write("no library", to: "\(folder)/text.so")
            let text = try #require(throws: SetupError.self) { try Stage(library: "\(folder)/text.so") }
            #expect(text.description.contains("cannot open the library: "))
            let bare = try #require(throws: SetupError.self) { try Stage(library: "libc.so.6") }
            #expect(bare.description == "the library does not export larder_plugin_entry_v1")
        }
        try await withRecorder { stage, _ in
            #expect(stage.start("org.example.recorders") == LARDER_NOT_FOUND)
            #expect(stage.start("org.example") == LARDER_NOT_FOUND)
            #expect(stage.start("") == LARDER_NOT_FOUND)
        }
    }
}
