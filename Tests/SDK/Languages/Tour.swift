import TestSupport
import Testing

/// A host that prints each call, and what it prints of plugins that call every function of the interface once. The
/// plugins are the same in each language that has a binding of ours beside C and Swift.
struct Tour {
    private static let plugins = "\(Build.root)/Tests/Support/Plugins"
    private let host: String

    /// Builds the host.
    /// - Parameter checks: the flags of a sanitizer, which also checks the library.
    init(in folder: String, checks: [String] = []) async throws {
        host = "\(folder)/tour-host"
        try await mustRun(
            "gcc",
            [
                "-std=c99", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-I", HeaderTests.include,
                "\(Self.plugins)/tour-host.c", "-o", host, "-ldl",
            ] + checks)
    }

    /// Has the host make all of its calls into a library's plugins.
    /// - Parameter kind: `old` or `withheld`, as the host's source says.
    /// - Returns: what it printed.
    func calls(of library: String, as kind: String? = nil) async throws -> String {
        let result = try await run(host, [library] + (kind.map { [$0] } ?? []))
        #expect(result.exitCode == 0, "\(result.errors)")
        return result.output
    }

    /// What the host prints of the plugins in any language.
    static func expected() throws -> String { try Files.text("\(plugins)/tour.txt") }

    /// Compares what the host printed with what is expected, and shows the first line that differs.
    static func compare(_ printed: String, _ expected: String, _ what: String) {
        let (own, other) = (printed.split(separator: "\n"), expected.split(separator: "\n"))
        let pair = zip(own, other).first { $0 != $1 }
        let isSame = printed == expected
        #expect(isSame, "\(what): \(pair?.0 ?? "\(own.count) lines"), not \(pair?.1 ?? "\(other.count)")")
    }

    /// The names of all functions of the interface, such as `larder_kv.get`, as the headers declare them.
    static func functions() throws -> Set<String> {
        var found: Set<String> = ["larder_plugin_entry_v1"]
        for folder in ["\(HeaderTests.include)/larder", "\(HeaderTests.include)/larder/ext"] {
            for name in try Files.names(in: folder) where name.hasSuffix(".h") {
                var type = ""
                for line in try Files.text("\(folder)/\(name)").split(separator: "\n") {
                    if let declared = line.firstMatch(of: /^(?:typedef )?struct (\w+) {$/) { type = String(declared.1) }
                    guard let member = line.firstMatch(of: /^    [^*\/].*\(\*(?:LARDER_NONNULL )?(\w+)\)\(/) else {
                        continue
                    }
                    found.insert("\(type).\(member.1)")
                }
            }
        }
        return found
    }
}

/// Tests of the calls that all languages are compared with.
@Suite struct TourTests {
    @Test("The calls that the plugins of all languages make and get are every function that the headers declare")
    func complete() throws {
        let functions = try Tour.functions()
        #expect(functions.count == 83)
        let words = try Tour.expected().split { " :\n".contains($0) }.map(String.init)
        let called = Set(words.filter { $0.hasPrefix("larder_") && ($0.contains(".") || $0.contains("entry")) })
        #expect(functions.subtracting(called) == [])
        #expect(called.subtracting(functions) == [])
    }
}
