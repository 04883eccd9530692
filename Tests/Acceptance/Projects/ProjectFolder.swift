import TestSupport

/// A base folder with projects, and the command that a person types. There is no config, because the commands need
/// none.
struct ProjectFolder {
    let folder: String
    let larder: LarderCommand

    var base: String { "\(folder)/projects" }

    init(in folder: String) {
        self.folder = folder
        larder = LarderCommand(config: "\(folder)/no config", home: folder)
    }

    /// Runs `larder project … --base BASE`.
    func callAsFunction(_ words: String...) async throws -> ProcessResult {
        try await larder.run(["project"] + words + ["--base", base])
    }

    /// Runs `larder project … --base BASE` and returns its output.
    /// - Throws: `SetupError` for any exit code but 0.
    func must(_ words: String...) async throws -> String {
        let result = try await larder.run(["project"] + words + ["--base", base])
        guard result.exitCode == 0 else { throw SetupError("project \(words): \(result.status) \(result.errors)") }
        return String(result.output.dropLast())
    }

    func project(_ id: String) async throws -> ProjectObject {
        try ProjectObject(line: await must("show", id, "--user-data", "--json"))
    }
}
