import Model
import TestSupport
import Testing

/// Tests of `larder/helper.h`, what many plugins in C need.
@Suite struct HelperTests {
    private static let source = "\(Build.root)/Tests/Support/Plugins/helper.c"

    private func build(_ compiler: String, _ flags: [String], to program: String) async throws {
        try await mustRun(
            compiler,
            flags + [
                "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", HeaderTests.include, Self.source, "-o", program,
            ])
    }

    @Test(
        "The helper for C reads settings by their names, and nothing outside of their text, in C and C++",
        arguments: [
            ("gcc", SingleTests.c), ("g++", SingleTests.cxx), ("clang", SingleTests.c), ("clang++", SingleTests.cxx),
        ]
    )
    func settings(compiler: String, dialect: [String]) async throws {
        try await withTemporaryFolder { folder in
            // Only gcc's sanitizers are used, so that the test needs no library of clang's.
            let checks =
                compiler.hasPrefix("g") ? ["-fsanitize=address,undefined", "-fno-sanitize-recover"] : ["-O2"]
            try await build(compiler, dialect + checks, to: "\(folder)/helper")
            let result = try await run("\(folder)/helper")
            #expect(result.exitCode == 0, "\(result.output)\(result.errors)")
        }
    }

    @Test("A text that the helper for C has quoted means itself in a condition, whatever is in it")
    func quotes() async throws {
        try await withTemporaryFolder { folder in
            try await build("gcc", ["-std=c99"], to: "\(folder)/helper")
            let all = (1...0x7f).map { String(UnicodeScalar(UInt8($0))) }
            let texts =
                all + [all.joined(), "é€😀", "a\" || true || \"", "\\", "'", "\\u0041", "\u{202e}\u{9b}", "n\\", "{}"]
            let result = try await run("\(folder)/helper", texts)
            #expect(result.lines.count == texts.count)
            for (text, quoted) in zip(texts, result.lines) {
                var item = Item.file("/a")
                item.owner = text
                #expect(try Condition(parsing: "owner == \(quoted)").matches(item, now: .now()), "\(quoted)")
                item.owner = text + " "
                #expect(try !Condition(parsing: "owner == \(quoted)").matches(item, now: .now()), "\(quoted)")
            }
        }
    }
}
