/// Cargo, which builds plugins in Rust. It gets no crate from a network.
public enum Cargo {
    /// Runs a command of cargo's. A warning is an error.
    /// - Throws: `SetupError` if there is no cargo, or if the command fails.
    public static func run(_ arguments: [String]) async throws {
        guard try await TestSupport.run("sh", ["-c", "command -v cargo && command -v rustc"]).exitCode == 0 else {
            throw SetupError("there is no Rust in PATH: install the packages rustc and cargo")
        }
        let result = try await TestSupport.run("env", ["RUSTFLAGS=-D warnings", "cargo"] + arguments)
        // The crate's own tests write to standard output.
        guard result.exitCode == 0 else {
            throw SetupError("cargo \(arguments.joined(separator: " ")): \(result.output)\(result.errors)")
        }
    }

    /// Builds a plugin as its author does, as a crate of its own outside of this package.
    /// - Parameters:
    ///   - source: the path of the plugin's only file.
    ///   - name: the name of the crate.
    ///   - folder: the folder for the crate's folder.
    /// - Returns: the path of the library.
    public static func plugin(_ source: String, named name: String, in folder: String) async throws -> String {
        let crate = "\(folder)/\(name)-crate"
        let manifest = """
            [package]
            name = "\(name)"
            version = "1.0.0"
            edition = "2021"

            [lib]
            path = "\(source)"
            crate-type = ["cdylib"]

            [dependencies]
            larder = { path = "\(Build.root)/SDK/Rust" }

            """
        try Files.makeFolder(crate)
        try Files.write(manifest, to: "\(crate)/Cargo.toml")
        try await run(["build", "--offline", "--manifest-path", "\(crate)/Cargo.toml"])
        return "\(crate)/target/debug/lib\(name).so"
    }
}
