/// The authors' guide: the code and the commands that its readers copy.
public struct Guide {
    private let text: String

    /// Reads a page of the package under test.
    public init(_ page: String = "plugin-abi") throws { text = try Files.text("\(Build.root)/Host/Docs/\(page).md") }

    /// Returns the blocks of code in a language, in order.
    public func blocks(_ language: String) -> [String] {
        text.split(separator: "\n```\(language)\n").dropFirst().map { block in
            String(block.prefix(upTo: block.firstRange(of: "```")?.lowerBound ?? block.endIndex))
        }
    }

    /// Returns the first block of code in a language that contains a word.
    public func block(_ language: String, with word: String) throws -> String {
        guard let block = blocks(language).first(where: { $0.contains(word) }) else {
            throw SetupError("the guide has no block in \(language) with \(word)")
        }
        return block
    }

    /// Returns the command lines that call a program.
    public func commands(of program: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("    \(program) ") }.map { String($0.dropFirst(4)) }
    }

    /// Runs the guide's command for a compiler, in a folder with the SDK beside the source to compile.
    /// - Parameter which: a word that only this command contains.
    public func build(
        with compiler: String, which word: String = "", flags: String = "", in folder: String
    ) async throws {
        guard let command = commands(of: compiler).first(where: { $0.contains(word) }) else {
            throw SetupError("the guide has no command with \(compiler) and \(word)")
        }
        for name in ["SDK", ".build"] where !Files.exists("\(folder)/\(name)") {
            try await mustRun("ln", ["-s", "\(Build.root)/\(name)", "\(folder)/\(name)"])
        }
        try await mustRun("sh", ["-c", "cd '\(folder)' && \(command) -Wall -Wextra -Wpedantic -Werror \(flags)"])
    }
}
