import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// The examples of the authors' guide are built as it says, and run.
@Suite struct GuideTests {
    /// The first block of code in a language that has a word, unless told the entry function's name.
    private func example(in language: String, with word: String = "larder_plugin_entry_v1") throws -> String {
        let guide = try Files.text("\(Build.root)/Host/Docs/plugin-abi.md")
        for block in guide.split(separator: "```\(language)\n").dropFirst() {
            let code = block.prefix(upTo: block.firstRange(of: "```")?.lowerBound ?? block.endIndex)
            if code.contains(word) { return String(code) }
        }
        throw SetupError("the guide has no example in \(language)")
    }

    private func keepsFavorites(_ library: String) throws {
        let stage = try Stage(library: library)
        #expect(stage.start("org.example.favorites") == LARDER_OK)
        var (favorite, stale) = (Item.file("/a", etag: "5"), Item.file("/b", etag: "2", here: "user", copyEtag: "1"))
        favorite.isFavorite = true
        stale.isFavorite = true
        stage.put(favorite, stale, .file("/c"))
        #expect(stage.run(.itemListUpdateCompleted) == LARDER_OK)
        #expect(stage.actions.map(\.key) == ["download:id of /a:5", "download:id of /b:2"])
        #expect(stage.mistakes == [] && stage.badConditions == [])
        larder_fake_stop(stage.fake)
        larder_fake_withhold(stage.fake, LARDER_EXT_ACTIONS)
        #expect(stage.start("org.example.favorites") == LARDER_UNSUPPORTED)
    }

    @Test("G15: the guide's example in C is built with its command and works")
    func c() async throws {
        try await withTemporaryFolder { folder in
            try Files.write(try example(in: "c"), to: "\(folder)/favorites.c")
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
                    "-I",
                    "\(Build.root)/SDK/C/include", "\(folder)/favorites.c", "-o", "\(folder)/libfavorites.so",
                ])
            try keepsFavorites("\(folder)/libfavorites.so")
        }
    }

    @Test("G15: the guide's conditions are such, and have the types that it says")
    func conditions() async throws {
        try await withTemporaryFolder { folder in
            let code = try example(in: "swift", with: "let large: Condition")
            try Files.write("import LarderSDK\n\n" + code, to: "\(folder)/conditions.swift")
            try await mustRun(
                "swiftc",
                [
                    "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-I",
                    "\(Build.root)/.build/debug/Modules",
                    "-I", "\(Build.root)/SDK/C/include", "\(folder)/conditions.swift",
                ])
        }
    }

    @Test("G15: the guide's event loop is checked against the header")
    func loop() async throws {
        try await withTemporaryFolder { folder in
            try Files.write(try example(in: "swift", with: "struct Headlines"), to: "\(folder)/headlines.swift")
            try await mustRun(
                "swiftc",
                [
                    "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-I",
                    "\(Build.root)/.build/debug/Modules", "-I", "\(Build.root)/SDK/C/include",
                    "\(folder)/headlines.swift",
                ])
        }
    }

    @Test("G15: the guide's example in Swift is checked against the header and works")
    func swift() async throws {
        try await withTemporaryFolder { folder in
            let build = "\(Build.root)/.build/debug"
            try Files.write(try example(in: "swift"), to: "\(folder)/favorites.swift")
            let sources = try Files.filesBelow("\(Build.root)/SDK/Swift").filter { $0.hasSuffix(".swift") }
            let objects = sources.map { "\(build)/LarderSDK.build/\($0.split(separator: "/").last ?? "").o" }
            try await mustRun(
                "swiftc",
                [
                    "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-emit-library", "-module-name",
                    "Favorites", "-I", "\(build)/Modules", "-I", "\(Build.root)/SDK/C/include", "-Xlinker",
                    "--version-script=\(Build.root)/SDK/C/plugin.map", "\(folder)/favorites.swift", "-o",
                    "\(folder)/libfavorites.so",
                ] + objects)
            try keepsFavorites("\(folder)/libfavorites.so")
        }
    }
}
