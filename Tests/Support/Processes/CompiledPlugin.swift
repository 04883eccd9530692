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

    /// Compiles a plugin in Swift to a library, with the SDK as it was built.
    /// - Parameters:
    ///   - source: the path of its one file.
    ///   - module: a name that no other plugin in the process has.
    public static func buildSwift(_ source: String, module: String, to library: String) async throws {
        try await compileSwift([
            "-parse-as-library", "-emit-library", "-module-name", module, "-Xlinker",
            "--version-script=\(Build.root)/SDK/C/plugin.map", source, "-o", library,
        ])
    }

    /// Compiles a program in Swift that uses the SDK.
    /// - Parameter source: the path of its one file, `main.swift`.
    public static func buildSwiftProgram(_ source: String, to program: String) async throws {
        try await compileSwift([source, "-o", program])
    }

    private static func compileSwift(_ arguments: [String]) async throws {
        let build = "\(Build.root)/.build/debug"
        let sources = try Files.filesBelow("\(Build.root)/SDK/Swift").filter { $0.hasSuffix(".swift") }
        let objects = sources.map { "\(build)/LarderSDK.build/\($0.split(separator: "/").last ?? "").o" }
        try await mustRun(
            "swiftc",
            [
                "-swift-version", "6", "-warnings-as-errors", "-I", "\(build)/Modules", "-I",
                "\(Build.root)/SDK/C/include",
            ] + arguments + objects)
    }
}
