import Core
import Model

extension GlobalOptions {
    /// Returns the item path that a person typed, in the spelling in which the item is listed.
    ///
    /// Some servers store names decomposed (Unicode's normalization form D), and people type them composed. Both are the
    /// same name, unless both are listed.
    /// - Throws: `badData` if the text cannot be an item's path.
    func itemPath(_ text: String) async throws(Failure) -> ItemPath {
        let path = try CLIArgument.path(text)
        guard path.text.utf8.contains(where: { $0 >= 0x80 }) else { return path }
        // A config or database that cannot be read is reported by the command itself.
        let known = try? await withReader { reader throws(Failure) in try await reader.spelling(of: path) }
        return known ?? path
    }
}
