/// An example of code in a comment of a source file.
public struct CommentExample: Sendable {
    /// The path of the source file.
    public let file: String
    /// The number of the example's first line in the source file.
    public let line: Int
    /// The example's text, without the comment's own characters.
    public let code: String
    /// The first line of the declaration below the comment; empty in a C header.
    public let declaration: String

    /// Returns the examples of a Swift file: the blocks between "```swift" and "```" in its documentation comments.
    public static func swift(in file: String) throws -> [CommentExample] {
        var examples: [CommentExample] = []
        /// The examples whose declaration has not been read yet, and the example that is being read.
        var waiting: [(line: Int, code: String)] = []
        var open: (line: Int, code: String)?
        for (index, line) in try lines(of: file).enumerated() {
            let trimmed = line.drop { $0 == " " }
            guard trimmed.hasPrefix("///") else {
                examples += waiting.map {
                    CommentExample(file: file, line: $0.line, code: $0.code, declaration: String(trimmed))
                }
                waiting = []
                continue
            }
            let text = trimmed.dropFirst(trimmed.hasPrefix("/// ") ? 4 : 3)
            if text == "```swift" {
                open = (index + 2, "")
            } else if text == "```", let block = open {
                waiting.append(block)
                open = nil
            } else {
                open?.code += text + "\n"
            }
        }
        return examples
    }

    /// Returns the example of a C header: the indented lines between " * Example:" and the comment's end. Returns nil
    /// if the header has no example.
    public static func header(_ file: String) throws -> CommentExample? {
        let lines = try lines(of: file)
        guard let title = lines.firstIndex(of: " * Example:") else { return nil }
        let block = lines[(title + 1)...].prefix { $0 != " */" }
        let code = block.map { line in
            guard line.hasPrefix(" *     ") || line == " *" else { return "#error no line of an example: \(line)" }
            return String(line.dropFirst(7))
        }
        return CommentExample(
            file: file, line: title + 2, code: code.joined(separator: "\n") + "\n", declaration: "")
    }

    private static func lines(of file: String) throws -> [Substring] {
        try Files.text(file).split(separator: "\n", omittingEmptySubsequences: false)
    }
}
