import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// Tests that build the code of the page about other languages by its own commands and run that code. They cover all of
/// its blocks.
@Suite struct LanguagePageTests {
    private let page: Guide

    init() throws { page = try Guide("plugin-languages") }

    @Test("The page about C++ and Rust has no block of code that no test runs")
    func all() {
        #expect(page.blocks("cpp").count == 2 && page.blocks("rust").count == 2 && page.blocks("toml").count == 1)
        #expect(page.commands(of: "c++").count == 1 && page.commands(of: "cargo").count == 1)
    }

    /// Builds the plugin of a block in C++ with the page's command.
    /// - Returns: the path of the library.
    private func buildCxx(with word: String, flags: String = "", in folder: String) async throws -> String {
        try Files.write(try page.block("cpp", with: word), to: "\(folder)/favorites.cpp")
        try await page.build(with: "c++", flags: flags, in: folder)
        return "\(folder)/libfavorites.so"
    }

    /// Builds the plugin of a block in Rust with the page's manifest and command.
    /// - Returns: the path of the library.
    private func buildRust(with word: String, in folder: String) async throws -> String {
        let crate = "\(folder)/favorites"
        try await mustRun("mkdir", ["-p", "\(crate)/src"])
        try await mustRun("ln", ["-s", Build.root, "\(folder)/larder"])
        try Files.write(try page.block("toml", with: "[package]"), to: "\(crate)/Cargo.toml")
        try Files.write(try page.block("rust", with: word), to: "\(crate)/src/lib.rs")
        let command = try #require(page.commands(of: "cargo").first).split(separator: " ").map(String.init)
        try await Cargo.run(command.dropFirst() + ["--manifest-path", "\(crate)/Cargo.toml"])
        return "\(crate)/target/release/libfavorites.so"
    }

    /// Checks that a library exports its entry and nothing else.
    private func exportsEntry(_ library: String) async throws {
        let symbols = try await mustRun(
            "nm", ["--dynamic", "--defined-only", "--extern-only", "--format=just-symbols", library])
        #expect(symbols == "larder_plugin_entry_v1\n")
    }

    @Test("The page's plugin in C++ is built with its command, exports its entry alone, and works")
    func cxx() async throws {
        try await withTemporaryFolder { folder in
            let library = try await buildCxx(with: "class favorites", in: folder)
            try await exportsEntry(library)
            try PluginFixture.keepsFavorites(library)
        }
    }

    @Test("The page's plugin in Rust is built with its command, exports its entry alone, and works")
    func rust() async throws {
        try await withTemporaryFolder { folder in
            let library = try await buildRust(with: "struct Favorites", in: folder)
            try await exportsEntry(library)
            try PluginFixture.keepsFavorites(library)
        }
    }

    @Test("The page's event loops keep what is new, and an error is not absence", arguments: ["C++", "Rust"])
    func loop(language: String) async throws {
        try await withTemporaryFolder { folder in
            let library =
                language == "Rust"
                ? try await buildRust(with: "struct Headlines", in: folder)
                : try await buildCxx(with: "class headlines", in: folder)
            let id = "org.example.headlines"
            let fixture = try PluginFixture(library: library)
            #expect(fixture.start(id) == LARDER_OK)
            func answer(_ target: String, _ status: UInt32, _ body: String) {
                larder_fake_answer(fixture.fake, "GET", "/apps/news/since/\(target)", status, body)
            }
            answer("0", 200, "7\na\nb\n")
            #expect(fixture.poll(id) == LARDER_OK && fixture.eventID(of: id) == "7")
            #expect(fixture.records(in: id).map(\.key) == ["a", "b"])
            answer("7", 200, "8\nc\n")
            #expect(fixture.poll(id) == LARDER_OK && fixture.eventID(of: id) == "8")
            answer("8", 500, "")
            #expect(fixture.poll(id) == LARDER_IO && fixture.eventID(of: id) == "8")
            #expect(fixture.failures == ["the feed answered 500"])
            answer("8", 404, "")
            #expect(fixture.poll(id) == LARDER_UNSUPPORTED)
            #expect(fixture.records(in: id).map(\.key) == ["a", "b", "c"] && fixture.mistakes == [])
        }
    }
}

extension PluginFixture {
    /// Checks that a library has the guide's plugin for favourites.
    static func keepsFavorites(_ library: String) throws {
        let fixture = try PluginFixture(library: library)
        #expect(fixture.start("org.example.favorites") == LARDER_OK)
        var (favorite, stale) = (Item.file("/a", etag: "5"), Item.file("/b", etag: "2", here: "user", copyEtag: "1"))
        favorite.isFavorite = true
        stale.isFavorite = true
        fixture.put(favorite, stale, .file("/c"))
        #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
        #expect(fixture.actions.map(\.path) == ["/a", "/b"] && fixture.actions.allSatisfy { $0.key == "" })
        #expect(fixture.mistakes == [])
        larder_fake_stop(fixture.fake)
        larder_fake_withhold(fixture.fake, LARDER_EXT_ACTIONS)
        #expect(fixture.start("org.example.favorites") == LARDER_UNSUPPORTED)
    }
}
