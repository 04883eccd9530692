import CLarder
import TestSupport
import Testing

/// Tests of `larder.hpp`, the interface for C++.
@Suite struct CxxTests {
    private static let header = "\(Build.root)/SDK/Cpp/larder.hpp"
    private static let plugins = "\(Build.root)/Tests/Support/Plugins"
    private static let warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
    private static let include = ["-I", HeaderTests.include, "-I", "\(Build.root)/SDK/Cpp"]
    private static let checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover"]
    private static let bare = ["-fno-exceptions", "-fno-rtti"]

    private func build(_ source: String, to output: String, _ flags: [String]) async throws {
        try await mustRun(
            "g++", Self.warnings + Self.include + flags + ["-g", "\(Self.plugins)/\(source)", "-o", output])
    }

    @Test(
        "larder.hpp, its example and plugins that use all of it compile with gcc and clang, with and without exceptions",
        arguments: ["g++", "clang++"], ["c++11", "c++17", "c++20"])
    func compiled(compiler: String, standard: String) async throws {
        try await withTemporaryFolder { folder in
            let example = try #require(try CommentExample.header(Self.header))
            try Files.write("#line \(example.line) \"\(Self.header)\"\n\(example.code)", to: "\(folder)/example.cpp")
            try Files.write("#include <larder.hpp>\n#include <larder.hpp>\n", to: "\(folder)/alone.cpp")
            for flags in [[], Self.bare] {
                try await mustRun(
                    compiler,
                    Self.warnings + Self.include + flags + [
                        "-std=\(standard)", "-fsyntax-only", "\(folder)/example.cpp", "\(folder)/alone.cpp",
                        "\(Self.plugins)/tour.cpp", "\(Self.plugins)/texts.cpp",
                    ])
            }
        }
    }

    @Test("Texts, lists and results in C++ are what they say, and no exception leaves a call", arguments: [[], bare])
    func texts(flags: [String]) async throws {
        try await withTemporaryFolder { folder in
            for standard in ["c++11", "c++20"] {
                try await build("texts.cpp", to: "\(folder)/texts", ["-std=\(standard)"] + Self.checks + flags)
                let result = try await run("\(folder)/texts")
                #expect(result.exitCode == 0, "\(standard): \(result.output)\(result.errors)")
            }
        }
    }

    @Test(
        "A plugin in C++ calls and is called by every function of the headers, also in an old host and without services",
        arguments: [[], bare])
    func tour(flags: [String]) async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/tour.so"
            try await build("tour.cpp", to: library, ["-std=c++11", "-shared", "-fPIC"] + Self.checks + flags)
            let tour = try await Tour(in: folder, checks: Self.checks)
            try Tour.compare(await tour.calls(of: library), Tour.expected(), "C++")
            let old = try await tour.calls(of: library, as: "old")
            #expect(old.contains("\"upload -7\"") && !old.contains("larder_actions.upload"))
            #expect(try await tour.calls(of: library, as: "withheld").contains("it is not offered"))
        }
    }

    @Test(
        "Two libraries in C++ whose classes have the same name do not meet in one process, however they are built",
        arguments: ["g++", "clang++"])
    func apart(compiler: String) async throws {
        try await withTemporaryFolder { folder in
            let source = """
                #include <larder.hpp>
                class same : public larder::processor {
                public:
                    static larder::description description() { return larder::description(ID, "Same", "1.0.0"); }
                    static const char *kind() { return "same"; }
                    static uint64_t fields() { return 0; }
                    explicit same(larder::host &) {}
                };
                LARDER_PLUGINS(same)
                """
            try Files.write(source, to: "\(folder)/same.cpp")
            var fixtures: [PluginFixture] = []
            for id in ["org.example.one", "org.example.two"] {
                let library = "\(folder)/\(id).so"
                try await mustRun(
                    compiler,
                    Self.warnings + Self.include + [
                        "-shared", "-fPIC", "-DID=\"\(id)\"", "\(folder)/same.cpp", "-o", library,
                    ])
                fixtures.append(try PluginFixture(library: library))
                #expect(fixtures.last?.start(id) == LARDER_OK)
            }
        }
    }
}
