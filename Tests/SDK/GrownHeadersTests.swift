import TestSupport
import Testing

/// Tests of a plugin and a host that were built with headers of different versions.
@Suite struct GrownHeadersTests {
    /// The structs that a host fills for a plugin or reads from a plugin.
    static let structs = [
        "http_header", "http_request", "record", "dav_end", "dav_request", "dav_response", "discovery",
        "usage_figures", "policy", "policy_list", "project_ids", "project", "project_step", "project_new_step",
        "project_update", "project_usage", "query", "item",
    ]

    /// Writes headers as a later version may have them: each of the structs has additional members at its end.
    static func growHeaders(into folder: String) throws {
        let include = "\(Build.root)/SDK/C/include/larder"
        try Files.makeFolder("\(folder)/larder")
        try Files.makeFolder("\(folder)/larder/ext")
        var grown = 0
        let headers = try Files.names(in: include) + Files.names(in: "\(include)/ext").map { "ext/\($0)" }
        for header in headers where header.hasSuffix(".h") && header != "layout.h" {
            let lines = try Files.text("\(include)/\(header)").split(separator: "\n", omittingEmptySubsequences: false)
            let longer = lines.flatMap { line -> [Substring] in
                guard structs.contains(where: { line == "} larder_\($0);" }) else { return [line] }
                grown += 1
                return ["    uint64_t grown[3];", line]
            }
            try Files.write(longer.joined(separator: "\n"), to: "\(folder)/larder/\(header)")
        }
        guard grown == structs.count else { throw SetupError("\(grown) of \(structs.count) structs have grown") }
    }

    @Test(
        "G16, G12: a struct is filled as far as plugin and fake host both know it, also for a plugin with newer headers",
        arguments: [false, true])
    func filled(pluginIsNewer: Bool) async throws {
        try await withTemporaryFolder { folder in
            try Self.growHeaders(into: folder)
            let published = "\(Build.root)/SDK/C/include"
            let flags = ["-std=c11", "-Wall", "-D_POSIX_C_SOURCE=200809L", "-pthread", "-fsanitize=address,undefined"]
            let plugins = "\(Build.root)/Tests/Support/Plugins"
            try await mustRun(
                "gcc",
                flags + [
                    "-I", pluginIsNewer ? folder : published, "-c", "\(plugins)/sizes.c", "-o", "\(folder)/sizes.o",
                ])
            try await mustRun(
                "gcc",
                flags + [
                    "-I", published, "-I", "\(Build.root)/SDK/Testing/include", "\(plugins)/sizes-stage.c",
                    "\(folder)/sizes.o", "-o", "\(folder)/run",
                ] + (try FakeHostLibrary.flags()))
            let result = try await run("\(folder)/run", [])
            #expect(result.output == "checked 39, wrong:\n", "\(result.errors)")
            #expect(result.exitCode == 0)
        }
    }
}
