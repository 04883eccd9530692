/// Plugins that tests compile as an outside author would: those in C against the headers alone.
public enum CompiledPlugin {
    /// Compiles `Tests/Support/Plugins/<source>.c` to a library.
    /// - Parameters:
    ///   - library: the path of the library.
    ///   - defines: macros that choose a variant, as `NAME` or `NAME=value`.
    ///   - linking: what the linker gets beside.
    ///   - headers: the folder of the headers; nil for those of this version.
    public static func build(
        _ source: String, to library: String, defines: [String] = [], linking: [String] = [], headers: String? = nil
    ) async throws {
        try await mustRun(
            "cc",
            [
                "-std=c99", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-pthread", "-shared", "-fPIC",
                "-I", headers ?? "\(Build.root)/SDK/C/include", "\(Build.root)/Tests/Support/Plugins/\(source).c",
                "-o", library,
            ] + defines.map { "-D\($0)" } + linking)
    }

    /// Writes the headers into a folder as they were in ABI 1.0.
    public static func writeFirstHeaders(into folder: String) throws {
        try writeHeaders(into: folder) { header, lines in
            if header == "base.h" {
                guard let minor = lines.firstIndex(where: { $0.hasPrefix("#define LARDER_ABI_MINOR ") }) else {
                    throw SetupError("no minor version")
                }
                lines[minor] = "#define LARDER_ABI_MINOR 0"
            }
            if header == "ext/actions.h" {
                // The functions that came later begin with a comment.
                guard let first = lines.firstIndex(where: { $0.contains("(*look)(") }),
                    let end = lines.firstIndex(where: { $0.hasPrefix("} larder_actions;") })
                else { throw SetupError("no actions") }
                lines.removeSubrange(first + 1..<end)
            }
        }
    }

    /// The structs that a host fills for a plugin or reads from a plugin.
    private static let structs = [
        "http_header", "http_request", "record", "dav_end", "dav_request", "dav_response", "discovery",
        "usage_figures", "policy", "policy_list", "project_ids", "project", "project_step", "project_new_step",
        "project_update", "project_usage", "query", "item",
    ]

    /// Writes the headers into a folder as a later version may have them: each of the structs has additional members at its end.
    public static func writeLaterHeaders(into folder: String) throws {
        var grown = 0
        try writeHeaders(into: folder) { _, lines in
            lines = lines.flatMap { line -> [Substring] in
                guard structs.contains(where: { line == "} larder_\($0);" }) else { return [line] }
                grown += 1
                return ["    uint64_t grown[3];", line]
            }
        }
        guard grown == structs.count else { throw SetupError("\(grown) of \(structs.count) structs have grown") }
    }

    /// Writes the headers into a folder as a closure changes their lines.
    private static func writeHeaders(
        into folder: String, _ change: (_ header: String, _ lines: inout [Substring]) throws -> Void
    ) throws {
        let include = "\(Build.root)/SDK/C/include/larder"
        try Files.makeFolder("\(folder)/larder")
        try Files.makeFolder("\(folder)/larder/ext")
        let headers = try Files.names(in: include) + Files.names(in: "\(include)/ext").map { "ext/\($0)" }
        for header in headers where header.hasSuffix(".h") && header != "layout.h" {
            var lines = try Files.text("\(include)/\(header)").split(separator: "\n", omittingEmptySubsequences: false)
            try change(header, &lines)
            try Files.write(lines.joined(separator: "\n"), to: "\(folder)/larder/\(header)")
        }
    }

    /// Compiles a plugin in Swift to a library, with the SDK as the package's build made it.
    /// - Parameters:
    ///   - source: the path of the plugin's only file.
    ///   - module: a module name that no other plugin in the process has.
    public static func buildSwift(_ source: String, module: String, to library: String) async throws {
        try await compileSwift([
            "-parse-as-library", "-emit-library", "-module-name", module, "-Xlinker",
            "--version-script=\(Build.root)/SDK/C/plugin.map", source, "-o", library,
        ])
    }

    /// Compiles the sources of another SDK for Swift.
    /// - Parameter folder: The folder of the sources, which then has `LarderSDK.swiftmodule` and `sdk.o` too.
    public static func buildSDK(in folder: String) async throws {
        let sources = try Files.filesBelow(folder).filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
        try await mustRun(
            "swiftc",
            [
                "-swift-version", "6", "-parse-as-library", "-wmo", "-enable-experimental-feature", "Lifetimes",
                "-module-name", "LarderSDK", "-emit-module-path", "\(folder)/LarderSDK.swiftmodule", "-c", "-o",
                "\(folder)/sdk.o", "-I", "\(Build.root)/SDK/C/include",
            ] + sources)
    }

    /// Compiles a plugin in Swift with another SDK.
    /// - Parameter sdk: The folder of ``buildSDK(in:)``.
    public static func buildSwift(
        _ source: String, module: String, to library: String, withSDK sdk: String
    ) async throws {
        try await mustRun(
            "swiftc",
            [
                "-swift-version", "6", "-parse-as-library", "-emit-library", "-module-name", module, "-Xlinker",
                "--version-script=\(Build.root)/SDK/C/plugin.map", "-I", sdk, "-I", "\(Build.root)/SDK/C/include",
                source, "\(sdk)/sdk.o", "-o", library,
            ])
    }

    /// Compiles a program in Swift that uses the SDK.
    /// - Parameter source: the path of the program's only file, `main.swift`.
    public static func buildSwiftProgram(_ source: String, to program: String) async throws {
        try await compileSwift([source, "-o", program])
    }

    /// Checks that sources in Swift that use the SDK compile.
    /// - Throws: an error if the compiler reports an error, or a warning about anything but an unused value.
    public static func checkSwift(_ sources: [String]) async throws {
        try await withTemporaryFolder { folder in
            let result = try await run(
                "swiftc",
                [
                    "-swift-version", "6", "-parse-as-library", "-wmo", "-module-name", "Checked", "-c", "-o",
                    "\(folder)/checked.o",
                ] + moduleFlags + sources)
            let warnings = result.errors.split(separator: "\n").filter {
                $0.hasPrefix("/") && $0.contains(" warning: ") && !$0.hasSuffix("[#no-usage]")
            }
            guard result.exitCode == 0, warnings.isEmpty else { throw SetupError("swiftc: \(result.errors)") }
        }
    }

    private static var moduleFlags: [String] {
        ["-I", "\(Build.root)/.build/debug/Modules", "-I", "\(Build.root)/SDK/C/include"]
    }

    private static func compileSwift(_ arguments: [String]) async throws {
        let build = "\(Build.root)/.build/debug"
        let sources = try Files.filesBelow("\(Build.root)/SDK/Swift").filter { $0.hasSuffix(".swift") }
        let objects = sources.map { "\(build)/LarderSDK.build/\($0.split(separator: "/").last ?? "").o" }
        try await mustRun(
            "swiftc",
            ["-swift-version", "6", "-warnings-as-errors"] + moduleFlags + arguments + objects)
    }
}
