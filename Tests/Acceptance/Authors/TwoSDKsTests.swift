import TestServer
import TestSupport
import Testing

/// Tests of plugins that were built with different versions of the SDK, in one host.
@Suite struct TwoSDKsTests {
    private static let plugins = "\(Build.root)/Tests/Support/Plugins"

    /// Copies a processor's source with an id and a kind of its own.
    private func source(_ language: String, _ name: String, in folder: String) throws -> String {
        let copy = "\(folder)/\(name).\(language)"
        let text = try Files.text("\(Self.plugins)/same.\(language)")
            .replacing("org.example.same", with: "org.example.\(name)")
            .replacing("LARDER_TEXT(\"same\")", with: "LARDER_TEXT(\"\(name)\")")
            .replacing("kind = \"same\"", with: "kind = \"\(name)\"")
        try Files.write(text, to: copy)
        return copy
    }

    /// Builds a processor in C with headers of another version.
    private func buildC(_ name: String, headers: String, in folder: String) async throws -> String {
        let library = "\(folder)/\(name).so"
        try await mustRun(
            "cc",
            [
                "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC", "-I", headers,
                try source("c", name, in: folder), "-o", library,
            ])
        return library
    }

    /// Makes an SDK for Swift whose log and whose structs are others than those of this version.
    private func makeOtherSDK(in folder: String) async throws {
        try await mustRun("cp", ["-r", "\(Build.root)/SDK/Swift", folder])
        for (file, old, new) in [
            ("Services/Log.swift", "loan.text(message)", "loan.text(\"other: \" + message)"),
            ("Services/Log.swift", "public struct Log {", "public struct Log {\n        let more = (1, 2, 3)"),
        ] {
            let text = try Files.text("\(folder)/\(file)")
            guard text.contains(old) else { throw SetupError("\(file) has no \(old)") }
            try Files.write(text.replacing(old, with: new), to: "\(folder)/\(file)")
        }
        try await CompiledPlugin.buildSDK(in: folder)
    }

    @Test("G30: plugins that were built with the SDK of other versions work beside each other in one host")
    func beside() async throws {
        try await withTemporaryFolder { folder in
            try await makeOtherSDK(in: "\(folder)/sdk")
            try CompiledPlugin.writeFirstHeaders(into: "\(folder)/first")
            try CompiledPlugin.writeLaterHeaders(into: "\(folder)/later")
            var libraries = [
                "same-c": try await buildC("same-c", headers: "\(folder)/first", in: folder),
                "same-d": try await buildC("same-d", headers: "\(folder)/later", in: folder),
            ]
            // Plugins are opened in the order of their ids.
            for (ours, other) in [("same-a", "same-b"), ("same-b", "same-a")] {
                let home = "\(folder)/\(ours)"
                try Files.makeFolder(home)
                (libraries[ours], libraries[other]) = ("\(home)/ours.so", "\(home)/other.so")
                try await CompiledPlugin.buildSwift(
                    try source("swift", ours, in: home), module: "Ours", to: "\(home)/ours.so")
                try await CompiledPlugin.buildSwift(
                    try source("swift", other, in: home), module: "Other", to: "\(home)/other.so",
                    withSDK: "\(folder)/sdk")
                try await expectSame(libraries, ours: ours, other: other, in: home)
            }
        }
    }

    /// Expects that plugins in one host do the same, and that each uses the SDK that it was built with.
    private func expectSame(_ libraries: [String: String], ours: String, other: String, in home: String) async throws {
        var random = SeededGenerator()
        try await TestServer.running { server in
            _ = SameTracesTests.putItems(on: server.tree, &random)
            let account = try Account(
                in: home, server,
                settings: ["plugins:"]
                    + libraries.sorted { $0.key < $1.key }.map {
                        "  org.example.\($0.key): { library: \"\($0.value)\", isolation: in-process }"
                    })
            let trace = "\(home)/trace"
            // The plugins ask for the same again and again, which is told.
            let run = try await account.larder("run", "--once", "--trace", trace)
            let text = try Files.text(trace)
            let first = SameTracesTests.firstRun("itemListUpdateCompleted", in: text, of: "org.example.\(ours)")
            #expect(first.count > 8, "\(run.summary)")
            for name in libraries.keys {
                let lines = SameTracesTests.firstRun("itemListUpdateCompleted", in: text, of: "org.example.\(name)")
                let isSame = lines.map { $0.replacing(name, with: ours) } == first
                #expect(isSame, "\(name): \(lines), not \(first); LARDER_TEST_SEED=\(random.seed)")
                let said = run.errors.split(separator: "\n").filter { $0.hasSuffix("plugin=org.example.\(name)") }
                // Each has the SDK that it was built with.
                #expect(said.contains { $0.contains("info: \(name == other ? "other: " : "")trigger ") }, "\(said)")
            }
        }
    }
}
