/// Plugins in C, built against the headers alone as a stranger would.
public enum CompiledPlugin {
    /// Compiles `Tests/Support/Plugins/<source>.c` to a library.
    /// - Parameters:
    ///   - library: the library's path.
    ///   - defines: macros that choose a variant: `NAME` or `NAME=value`.
    public static func build(_ source: String, to library: String, defines: [String] = []) async throws {
        try await mustRun(
            "cc",
            [
                "-std=c99", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-pthread", "-shared", "-fPIC",
                "-I", "\(Build.root)/SDK/C/include", "\(Build.root)/Tests/Support/Plugins/\(source).c", "-o", library,
            ] + defines.map { "-D\($0)" })
    }
}
