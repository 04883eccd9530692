import TestSupport

/// The built library of the fake host, for tests that are programs of their own.
enum FakeHostLibrary {
    /// Returns the linker's flags.
    static func flags() throws -> [String] {
        let library = try PluginFixture.library(ofPlugin: "LarderFakeHost")
        let folder = String(library[..<(library.lastIndex(of: "/") ?? library.startIndex)])
        return ["-L", folder, "-lLarderFakeHost", "-Wl,-rpath,\(folder)"]
    }
}
