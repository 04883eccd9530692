import TestSupport
import Testing

/// Tests of the plugin that `larder/single.h` makes of an author's struct and functions.
@Suite struct SingleTests {
    private static let source = "\(Build.root)/Tests/Support/Plugins/single.c"
    static let c = ["-std=c99", "-x", "c"]
    static let cxx = ["-std=c++11", "-x", "c++"]

    private func flags(_ dialect: [String], checks: String) -> [String] {
        dialect + ["-Wall", "-Wextra", "-Wpedantic", "-Werror", checks, "-I", HeaderTests.include, Self.source]
    }

    @Test(
        "GL1: a plugin that the macro for one puts together keeps to the headers' rules, in C and C++, with gcc and clang",
        arguments: [("gcc", c), ("g++", cxx), ("clang", c), ("clang++", cxx)])
    func kept(compiler: String, dialect: [String]) async throws {
        try await withTemporaryFolder { folder in
            // Only gcc's sanitizers are used, so that the test needs no library of clang's.
            let checks = compiler.hasPrefix("g") ? "-fsanitize=address,undefined" : "-O2"
            try await mustRun(compiler, flags(dialect, checks: checks) + ["-o", "\(folder)/single"])
            let result = try await run("\(folder)/single")
            #expect(result.exitCode == 0, "\(result.output)\(result.errors)")
        }
    }

    @Test("GL1: the macro for one plugin refuses a struct that C++ has to construct", arguments: ["g++", "clang++"])
    func constructed(compiler: String) async throws {
        let result = try await run(compiler, flags(Self.cxx, checks: "-fsyntax-only") + ["-DCONSTRUCTED"])
        #expect(result.exitCode == 1 && result.errors.contains("neither constructor nor destructor"))
    }
}
