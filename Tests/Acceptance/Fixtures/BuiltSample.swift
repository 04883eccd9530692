import TestSupport
import Testing

/// A sample of the SDK that was copied from an installation, and built and tested there by its own scripts.
struct BuiltSample {
    let name: String
    let installed: Installation
    /// The folder of the copy.
    let folder: String
    var library: String { "\(folder)/out/\(name).so" }

    /// Installs Larder into a folder, copies a sample, and builds and tests it.
    init(_ name: String, in folder: String) async throws {
        self.name = name
        installed = try await Installation(in: "\(folder)/a prefix")
        self.folder = "\(folder)/\(name)"
        try await mustRun("cp", ["-R", "\(installed.prefix)/share/larder/examples/\(name)", self.folder])
        let tested = try await installed.run(
            "./test", in: self.folder, environment: ["LARDER_SDK": installed.prefix])
        #expect(tested.exitCode == 0 && tested.output.contains("passed"), "\(name): \(tested.summary)")
    }

    /// Expects that all checks of the validator pass, warnings too.
    func expectAllChecksPass() async throws {
        let checked = try await installed.run(
            installed.larder, ["plugin", "validate", "--strict", library], in: folder)
        // The lines of those that pass say nothing.
        let found = checked.lines.filter { !$0.hasPrefix("  passed") && !$0.hasPrefix("  skipped") }
        #expect(checked.exitCode == 0 && checked.errors.isEmpty, "\(name): \(found) \(checked.errors)")
    }

    /// The lines of a config that enable the sample.
    func config(_ settings: String, grants: String? = nil) -> [String] {
        [
            "plugins:", "  org.example.\(name):", "    library: \"\(library)\"", "    isolation: in-process",
            "    settings: { \(settings) }",
        ] + (grants.map { ["    grant: [\($0)]"] } ?? [])
    }
}
