import TestSupport
import Testing

/// Tests of a plugin and a host that were built with headers of different versions.
@Suite struct GrownHeadersTests {
    @Test(
        "G16, G12: a struct is filled as far as plugin and fake host both know it, also for a plugin with newer headers",
        arguments: [false, true])
    func filled(pluginIsNewer: Bool) async throws {
        try await withTemporaryFolder { folder in
            try CompiledPlugin.writeLaterHeaders(into: folder)
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
