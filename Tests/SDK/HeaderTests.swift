import TestSupport
import Testing

/// Tests that each header compiles alone, in every dialect that an author may use.
@Suite struct HeaderTests {
    struct Dialect: CustomTestStringConvertible {
        var compilers: [String]
        var language: String
        var standard: String
        var testDescription: String { standard }
    }

    static let dialects =
        ["c99", "c11", "c17"].map { Dialect(compilers: ["gcc", "clang"], language: "c", standard: $0) }
        + ["c++11", "c++17", "c++20"].map { Dialect(compilers: ["g++", "clang++"], language: "cpp", standard: $0) }

    static let include = "\(Build.root)/SDK/C/include"

    /// Returns the headers' paths below `larder/`.
    private static func headers() throws -> [String] {
        try Files.names(in: "\(include)/larder").filter { $0.hasSuffix(".h") }
            + Files.names(in: "\(include)/larder/ext").map { "ext/\($0)" }
    }

    @Test(
        "GL2: each header compiles by itself with gcc and clang, without a warning or hidden padding",
        arguments: dialects)
    func alone(_ dialect: Dialect) async throws {
        try await withTemporaryFolder { folder in
            let headers = try Self.headers()
            #expect(headers.count == 28)
            var sources: [String] = []
            for (number, header) in headers.enumerated() {
                let source = "\(folder)/\(number).\(dialect.language)"
                // Each header is included twice, which also tests its include guard.
                try Files.write("#include <larder/\(header)>\n#include <larder/\(header)>\n", to: source)
                sources.append(source)
            }
            for compiler in dialect.compilers {
                let result = try await run(
                    compiler,
                    [
                        "-std=\(dialect.standard)", "-Wall", "-Wextra", "-Wpedantic", "-Wpadded", "-Werror",
                        "-fsyntax-only",
                        "-I", Self.include,
                    ] + sources)
                #expect(result.exitCode == 0, "\(compiler): \(result.errors)")
            }
        }
    }

    @Test("G25: the one header is what the script makes of all others, and of nothing else")
    func made() async throws {
        let one = try await mustRun("sh", ["\(Build.root)/SDK/C/all-in-one"])
        #expect(try await mustRun("bash", ["\(Build.root)/SDK/C/all-in-one"]) == one)
        #expect(!one.contains("#include \""))
        for header in try Self.headers() {
            let text = try Files.text("\(Self.include)/larder/\(header)")
            let guardName = try #require(text.firstMatch(of: /#ifndef (LARDER_\w+)\n/)).1
            #expect(one.split(separator: "#ifndef \(guardName)\n").count == 2, "\(header)")
            for line in text.split(separator: "\n") where !line.hasPrefix("#include \"") {
                #expect(one.contains(line), "\(header): \(line)")
            }
        }
    }

    @Test(
        "G25: the one header compiles as the others do, before and after them, and gives everything their layout",
        arguments: dialects)
    func one(_ dialect: Dialect) async throws {
        try await withTemporaryFolder { folder in
            let one = try await mustRun("sh", ["\(Build.root)/SDK/C/all-in-one"])
            try Files.write(one, to: "\(folder)/larder-all.h")
            var sources: [String] = []
            for (number, includes) in [["-all"], ["-all", "/larder"], ["/larder", "-all", "/layout"]].enumerated() {
                let source = "\(folder)/\(number).\(dialect.language)"
                try Files.write(includes.map { "#include <larder\($0).h>\n" }.joined(), to: source)
                sources.append(source)
            }
            for compiler in dialect.compilers {
                let result = try await run(
                    compiler,
                    [
                        "-std=\(dialect.standard)", "-Wall", "-Wextra", "-Wpedantic", "-Wpadded", "-Werror",
                        "-fsyntax-only", "-I", folder, "-I", Self.include,
                    ] + sources)
                #expect(result.exitCode == 0, "\(compiler): \(result.errors)")
            }
        }
    }

    @Test("GL2: each header's example compiles with gcc and clang, in C and C++", arguments: dialects)
    func examples(_ dialect: Dialect) async throws {
        try await withTemporaryFolder { folder in
            // These headers declare no functions that an author calls.
            let without = ["larder.h", "layout.h", "base.h"]
            let headers =
                try Self.headers().filter { !without.contains($0) }.map { "\(Self.include)/larder/\($0)" }
                + ["\(Build.root)/SDK/Testing/include/LarderFakeHost.h"]
            var sources: [String] = []
            for header in headers {
                let example = try #require(try CommentExample.header(header), "\(header)")
                let source = "\(folder)/\(sources.count).\(dialect.language)"
                let includes = [
                    "larder/larder.h", "larder/single.h", "larder/helper.h", "LarderFakeHost.h", "assert.h", "stdio.h",
                    "stdlib.h",
                    "string.h",
                ]
                let head = includes.map { "#include <\($0)>\n" }.joined()
                try Files.write("\(head)#line \(example.line) \"\(header)\"\n\(example.code)", to: source)
                sources.append(source)
            }
            #expect(sources.count == 26)
            for compiler in dialect.compilers {
                let result = try await run(
                    compiler,
                    [
                        "-std=\(dialect.standard)", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-function",
                        "-Wno-unused-const-variable", "-Wno-unused-variable", "-fsyntax-only", "-I", Self.include, "-I",
                        "\(Build.root)/SDK/Testing/include",
                    ] + sources)
                #expect(result.exitCode == 0, "\(compiler): \(result.errors)")
            }
        }
    }

    @Test("GL2: every card of a function ends with a thread tag and the minor version that brought it")
    func cards() throws {
        let folders = ["\(Self.include)/larder", "\(Self.include)/larder/ext"]
        var functions = 0
        for folder in folders {
            for name in try Files.names(in: folder) where name.hasSuffix(".h") {
                let lines = try Files.text("\(folder)/\(name)").split(separator: "\n", omittingEmptySubsequences: false)
                for (number, line) in lines.enumerated() {
                    let isMember = line.hasPrefix("    ") && line.contains(" (*") && line.contains(")(")
                    guard isMember || line.hasPrefix("LARDER_EXPORT larder_status") else { continue }
                    functions += 1
                    let tags = ["[control]", "[processor]", "[loop]", "[processor] [loop]", "[any]"]
                    let tag = lines[number - 1].trimmed
                    #expect(
                        tags.contains { text in ["1.0", "1.1", "1.3"].contains { tag == "* \(text) since \($0) */" } },
                        "\(name): \(line)")
                }
            }
        }
        #expect(functions == 83)
    }
}

extension Substring {
    fileprivate var trimmed: Substring { drop { $0 == " " } }
}
