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
            try Files.write(try example(in: "swift"), to: "\(folder)/favorites.swift")
            try await CompiledPlugin.buildSwift(
                "\(folder)/favorites.swift", module: "Favorites", to: "\(folder)/libfavorites.so")
            try keepsFavorites("\(folder)/libfavorites.so")
        }
    }

    @Test("G15: the guide's plugin with projects lowers its limit by a step, and takes back what a person undoes")
    func projects() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/libsmall.so"
            try Files.write(try example(in: "swift", with: "struct SmallFiles"), to: "\(folder)/small.swift")
            try await CompiledPlugin.buildSwift("\(folder)/small.swift", module: "SmallFiles", to: library)
            let stage = try Stage(library: library)
            #expect(stage.start("org.example.small-files") == LARDER_OK)
            func limit() -> String? {
                #expect(stage.run(.itemListUpdateCompleted) == LARDER_OK)
                return larder_fake_match_condition(stage.fake).flatMap { text in
                    String(cString: text).split(separator: " < ").last.map(String.init)
                }
            }
            larder_fake_room(stage.fake, 0, 0, 50, 100)
            #expect(limit() == "1000000" && larder_fake_project_count(stage.fake) == 0)
            larder_fake_room(stage.fake, 0, 0, 9, 100)
            _ = limit()
            larder_fake_room(stage.fake, 0, 0, 50, 100)
            #expect(limit() == "500000" && larder_fake_project_count(stage.fake) == 1)
            #expect(larder_fake_project_id(stage.fake, 0).map { larder_fake_set_cursor(stage.fake, $0, 0) } == 1)
            #expect(limit() == "1000000")
            #expect(stage.mistakes == [] && stage.badConditions == [])
        }
    }

    @Test("G15: the guide's function in C that adds a step compiles as it stands")
    func projectsInC() async throws {
        try await withTemporaryFolder { folder in
            try Files.write(try example(in: "c", with: "add_number"), to: "\(folder)/numbers.c")
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-function", "-fsyntax-only",
                    "-I", "\(Build.root)/SDK/C/include", "\(folder)/numbers.c",
                ])
        }
    }
}
