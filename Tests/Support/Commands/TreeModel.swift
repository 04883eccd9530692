/// The simplest model of a tree of files and folders, and of what a person's commands make of it.
public struct TreeModel: Equatable, Sendable {
    /// What is at a path.
    public enum Entry: Equatable, Sendable {
        case folder
        /// A file with this text.
        case file(String)
    }

    /// The entries by their paths, without the root.
    public private(set) var entries: [String: Entry]

    /// Creates the model of a tree.
    /// - Parameter entries: The entries by their paths. Each entry's folder is among them.
    public init(_ entries: [String: Entry] = [:]) { self.entries = entries }

    /// Makes of the tree what a command makes of it.
    /// - Returns: Whether the command is accepted. One that is refused changes nothing.
    public mutating func carryOut(_ command: TreeCommand) -> Bool {
        switch command {
        case .makeFolder(let path):
            guard isFree(path) else { return false }
            entries[path] = .folder
        case .put(let text, let path, let replaces):
            let isNewVersion = if replaces, case .file = entries[path] { true } else { false }
            guard isNewVersion || isFree(path) else { return false }
            entries[path] = .file(text)
        case .move(let path, let target):
            guard mayGo(path, to: target) else { return false }
            for (moved, entry) in below(path) {
                entries[moved] = nil
                entries[target + moved.dropFirst(path.count)] = entry
            }
        case .copy(let path, let target):
            guard mayGo(path, to: target) else { return false }
            for (copied, entry) in below(path) { entries[target + copied.dropFirst(path.count)] = entry }
        case .remove(let path):
            guard entries[path] != nil else { return false }
            for removed in below(path).keys { entries[removed] = nil }
        }
        return true
    }

    /// The tree as a list of paths, folders with a slash at the end, files with their sizes.
    public var listing: [String] {
        entries.map { path, entry in
            switch entry {
            case .folder: "\(path)/"
            case .file(let text): "\(path) \(text.utf8.count)"
            }
        }.sorted()
    }

    private func below(_ path: String) -> [String: Entry] {
        entries.filter { $0.key == path || $0.key.hasPrefix(path + "/") }
    }

    private func mayGo(_ path: String, to target: String) -> Bool {
        entries[path] != nil && !target.hasPrefix(path + "/") && isFree(target)
    }

    /// Tells whether something new may be put at a path.
    private func isFree(_ path: String) -> Bool {
        guard entries[path] == nil, let slash = path.lastIndex(of: "/") else { return false }
        return slash == path.startIndex || entries[String(path[..<slash])] == .folder
    }
}
