import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// Tests that build the authors' guide's code by its own commands and run that code. These tests and the acceptance
/// tests cover all of its blocks of code.
@Suite struct GuideTests {
    private let guide: Guide

    init() throws { guide = try Guide() }

    @Test("G15: the guide has no block of code that no test runs")
    func all() {
        // The acceptance tests run the yaml block and the commands of `larder`.
        #expect(guide.blocks("c").count == 5 && guide.blocks("swift").count == 7 && guide.blocks("yaml").count == 2)
        #expect(guide.commands(of: "cc").count == 2 && guide.commands(of: "c++").count == 1)
    }

    @Test(
        "G15: the guide's example in C is built with its commands, as C and as C++, and works",
        arguments: ["cc", "c++"])
    func c(compiler: String) async throws {
        try await withTemporaryFolder { folder in
            let code = try guide.block("c", with: "struct plugin {")
            for name in ["favorites.c", "favorites.cpp"] { try Files.write(code, to: "\(folder)/\(name)") }
            try await guide.build(with: compiler, in: folder)
            try PluginFixture.keepsFavorites("\(folder)/libfavorites.so")
        }
    }

    @Test("G15: the guide's example is C++ for clang too, from C++11 on", arguments: ["c++11", "c++20"])
    func cxx(standard: String) async throws {
        try await withTemporaryFolder { folder in
            for (number, block) in guide.blocks("c").enumerated() {
                try Files.write(block, to: "\(folder)/\(number).cpp")
                for compiler in ["g++", "clang++"] {
                    try await mustRun(
                        compiler,
                        [
                            "-std=\(standard)", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-function",
                            "-Wno-unused-const-variable", "-Wno-unused-variable", "-fsyntax-only", "-I",
                            "\(Build.root)/SDK/C/include", "-I", "\(Build.root)/SDK/Testing/include",
                            "\(folder)/\(number).cpp",
                        ])
                }
            }
        }
    }

    @Test("G15: the guide's test is built with its command, and finds the example right and a broken one wrong")
    func test() async throws {
        try await withTemporaryFolder { folder in
            let code = try guide.block("c", with: "struct plugin {")
            try Files.write(code, to: "\(folder)/favorites.c")
            try Files.write(try guide.block("c", with: "larder_fake_open"), to: "\(folder)/test.c")
            try await guide.build(with: "cc", in: folder)
            try await guide.build(with: "cc", which: "test.c", in: folder)
            try await mustRun("sh", ["-c", "cd '\(folder)' && ./test"])
            // The plugin uses a service that it does not declare.
            try Files.write(
                code.replacing("LARDER_EXT_ACTIONS, \"\");", with: "\"\", \"\");"),
                to: "\(folder)/favorites.c")
            try await guide.build(with: "cc", in: folder)
            #expect(try await run("sh", ["-c", "cd '\(folder)' && ./test"]).errors.contains("larder_fake_start"))
        }
    }

    @Test(
        "G15: the guide's functions for settings, values, policies, items and projects work", arguments: ["cc", "c++"])
    func parts(compiler: String) async throws {
        try await withTemporaryFolder { folder in
            let parts = try guide.block("c", with: "count_runs") + guide.block("c", with: "add_number")
            try Files.write(parts, to: "\(folder)/parts.h")
            let library = "\(folder)/parts.so"
            try await mustRun(
                compiler,
                [
                    compiler == "cc" ? "-std=c99" : "-std=c++11", "-x", compiler == "cc" ? "c" : "c++", "-Wall",
                    "-Wextra",
                    "-Wpedantic", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-I",
                    "\(Build.root)/SDK/C/include", "-include", "\(folder)/parts.h",
                    "\(Build.root)/Tests/Support/Plugins/parts.c", "-o", library,
                ])
            let fixture = try PluginFixture(library: library)
            try reportsLargest(fixture, "org.example.parts", settings: #"{"largest": 2, "every": "2h"}"#)
            #expect(
                fixture.logLines == ["run 1: 1200 bytes, every 7200000 ms", "run 2: 1200 bytes, every 7200000 ms"])
            #expect(fixture.value(of: "runs") == "\u{2}\0\0\0\0\0\0\0")
            let id = try #require(larder_fake_project_id(fixture.fake, 0))
            #expect(larder_fake_project_count(fixture.fake) == 1)
            #expect(larder_fake_project(fixture.fake, id)?.pointee.step_count == 2)
        }
    }

    /// Makes two runs over three files.
    private func reportsLargest(_ fixture: PluginFixture, _ id: String, settings: String) throws {
        try #require(fixture.start(id, settings: settings) == LARDER_OK, "\(fixture.problem ?? "")")
        for (path, size) in [("/a", Int64(700)), ("/b", 300), ("/c", 500)] {
            var item = Item.file(path)
            item.size = size
            fixture.put(item)
        }
        for _ in 0..<2 { #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK) }
        #expect(fixture.policies.map(\.condition) == ["favorite"])
        #expect(fixture.mistakes == [])
    }

    @Test("G15: the guide's example in Swift of settings, values, policies and items works")
    func largest() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/liblargest.so"
            try Files.write(try guide.block("swift", with: "struct Largest"), to: "\(folder)/largest.swift")
            try await CompiledPlugin.buildSwift("\(folder)/largest.swift", module: "Largest", to: library)
            let fixture = try PluginFixture(library: library)
            try reportsLargest(fixture, "org.example.largest", settings: #"{"largest": 2}"#)
            #expect(fixture.logLines == ["run 1: 1200 bytes", "run 2: 1200 bytes"])
        }
    }

    @Test("G15 G20: the guide's plugin that changes the server asks for it if that is granted, and does without else")
    func archive() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/libarchive.so"
            try Files.write(try guide.block("swift", with: "struct Archive"), to: "\(folder)/archive.swift")
            try await CompiledPlugin.buildSwift("\(folder)/archive.swift", module: "GuideArchive", to: library)
            let fixture = try PluginFixture(library: library)
            var (old, new) = (Item.file("/old"), Item.file("/new"))
            // The fixture's time is that of 1970.
            old.lastModified = Timestamp(seconds: -40_000_000)
            new.lastModified = Timestamp(seconds: -1)
            fixture.put(old, new)
            #expect(fixture.start("org.example.archive") == LARDER_OK)
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            #expect(fixture.actions.isEmpty && fixture.logLines.count == 1 && fixture.failures.isEmpty)
            larder_fake_grant(fixture.fake, "server-changes")
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            #expect(fixture.actions.map(\.name) == ["create_folder", "move"])
            #expect(fixture.targets == ["/Archive", "/Archive/old"] && fixture.actions.last?.key == "move:id of /old")
            #expect(fixture.mistakes == [])
        }
    }

    @Test("G15: the guide's conditions are such, and mean what they say")
    func conditions() async throws {
        try await withTemporaryFolder { folder in
            let code = try guide.block("swift", with: "let large: Condition")
            let names = code.split(separator: "\n").compactMap { line in
                line.hasPrefix("let ") ? String(line.dropFirst(4).prefix { $0 != ":" }) : nil
            }
            let output = names.map { "print(\($0).text)\n" }.joined()
            try Files.write("import LarderSDK\n\n" + code + "\n" + output, to: "\(folder)/main.swift")
            try await CompiledPlugin.buildSwiftProgram("\(folder)/main.swift", to: "\(folder)/conditions")
            let texts = try await run("\(folder)/conditions").lines
            #expect(names.count == 8 && texts.count == 8)
            var item = Item.file("/Photos/keep", id: "8f31", here: "user")
            item.size = 2_000_000
            item.lastModified = Timestamp(seconds: 1_800_000_000)
            let now = Timestamp(seconds: 1_800_000_001)
            let met = try zip(names, texts).filter { try Condition(parsing: $1).matches(item, now: now) }.map(\.0)
            #expect(met == ["large", "neverUsed", "since2026", "named", "covered"], "\(texts)")
        }
    }

    @Test("G15: the guide's package is built against the SDK alone, hides everything but the entry, and works")
    func package() async throws {
        try await withTemporaryFolder { folder in
            let (plugin, sources) = ("\(folder)/favorites", "\(folder)/favorites/Sources/Favorites")
            try await mustRun("mkdir", ["-p", sources])
            try await mustRun("ln", ["-s", Build.root, "\(folder)/larder"])
            try Files.write(try guide.block("swift", with: "// swift-tools-version"), to: "\(plugin)/Package.swift")
            try Files.write(try Files.text("\(Build.root)/SDK/C/plugin.map"), to: "\(plugin)/plugin.map")
            try Files.write(try guide.block("swift", with: "struct Favorites"), to: "\(sources)/Favorites.swift")
            try await mustRun("swift", ["build", "--package-path", plugin, "--disable-automatic-resolution"])
            let library = "\(plugin)/.build/debug/libFavorites.so"
            let symbols = try await mustRun(
                "nm", ["--dynamic", "--defined-only", "--extern-only", "--format=just-symbols", library])
            #expect(symbols == "larder_plugin_entry_v1\n")
            try PluginFixture.keepsFavorites(library)
        }
    }

    @Test("G15: the guide's event loop keeps what is new, and an error is not absence")
    func loop() async throws {
        try await withTemporaryFolder { folder in
            let (library, id) = ("\(folder)/libheadlines.so", "org.example.headlines")
            try Files.write(try guide.block("swift", with: "struct Headlines"), to: "\(folder)/headlines.swift")
            try await CompiledPlugin.buildSwift("\(folder)/headlines.swift", module: "Headlines", to: library)
            let fixture = try PluginFixture(library: library)
            #expect(fixture.start(id) == LARDER_OK)
            func answer(_ target: String, _ status: UInt32, _ body: String) {
                larder_fake_answer(fixture.fake, "GET", "/apps/headlines/since/\(target)", status, body)
            }
            answer("0", 200, #"{"newest": "7", "items": [{"id": "a"}, {"id": "b"}]}"#)
            #expect(fixture.poll(id) == LARDER_OK && fixture.eventID(of: id) == "7")
            #expect(fixture.records(in: id).map(\.key) == ["a", "b"])
            answer("7", 200, #"{"newest": "8", "items": [{"id": "c"}]}"#)
            #expect(fixture.poll(id) == LARDER_OK && fixture.eventID(of: id) == "8")
            answer("8", 500, "")
            #expect(fixture.poll(id) == LARDER_IO && fixture.eventID(of: id) == "8")
            answer("8", 404, "")
            #expect(fixture.poll(id) == LARDER_UNSUPPORTED)
            #expect(fixture.records(in: id).map(\.key) == ["a", "b", "c"] && fixture.mistakes == [])
        }
    }

    @Test("G15: the guide's example in Swift is checked against the header and works")
    func swift() async throws {
        try await withTemporaryFolder { folder in
            try Files.write(try guide.block("swift", with: "struct Favorites"), to: "\(folder)/favorites.swift")
            try await CompiledPlugin.buildSwift(
                "\(folder)/favorites.swift", module: "Favorites", to: "\(folder)/libfavorites.so")
            try PluginFixture.keepsFavorites("\(folder)/libfavorites.so")
        }
    }

    @Test("G15: the guide's plugin with projects lowers its limit by a step, and takes back what a person undoes")
    func projects() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/libsmall.so"
            try Files.write(try guide.block("swift", with: "struct SmallFiles"), to: "\(folder)/small.swift")
            try await CompiledPlugin.buildSwift("\(folder)/small.swift", module: "SmallFiles", to: library)
            let fixture = try PluginFixture(library: library)
            #expect(fixture.start("org.example.small-files") == LARDER_OK)
            func limit() -> String? {
                #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
                return larder_fake_match_condition(fixture.fake).flatMap { text in
                    String(cString: text).split(separator: " < ").last.map(String.init)
                }
            }
            larder_fake_room(fixture.fake, 0, 0, 50, 100)
            #expect(limit() == "1000000" && larder_fake_project_count(fixture.fake) == 0)
            larder_fake_room(fixture.fake, 0, 0, 9, 100)
            _ = limit()
            larder_fake_room(fixture.fake, 0, 0, 50, 100)
            #expect(limit() == "500000" && larder_fake_project_count(fixture.fake) == 1)
            #expect(larder_fake_project_id(fixture.fake, 0).map { larder_fake_set_cursor(fixture.fake, $0, 0) } == 1)
            #expect(limit() == "1000000")
            #expect(fixture.mistakes == [])
        }
    }
}
