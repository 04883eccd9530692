import ArgumentParser
import Core
import Model

struct Remove: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Delete a file, or a folder and everything below it, on the server.",
        discussion: """
            Only what is known is deleted: what is new or has changed on the server since, and what no listing shows, \
            becomes an issue. Files that were changed here, or exist only here, stay here. The copies go after the \
            server's answer. `larder free` removes copies and leaves the server alone.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let done = try await isReceivedShare(path) ? "you left the share; its owner keeps it" : "deleted"
        return try await make(.delete(path), showing: path, done, options, global, console)
    }

    /// Tells whether somebody else shares the item itself, and not a folder above it, so that its removal ends only this
    /// account's part in it.
    private func isReceivedShare(_ path: ItemPath) async throws(Failure) -> Bool {
        if path.isRoot { return false }
        return try await global.withReader { reader throws(Failure) in
            let permissions = try await reader.lastItem(at: path)?.item.permissions
            let above = try await reader.lastItem(at: path.parent)?.item.permissions
            return permissions?.contains("S") == true && above?.contains("S") != true
        } ?? false
    }
}
