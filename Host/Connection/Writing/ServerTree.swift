public import Model

/// What a server shows at a path and below it, or what is known to have been there. A value without I/O.
///
/// The paths of a source are those of the target, so that both can be compared.
public struct ServerTree: Hashable, Sendable {
    /// The item itself and all that is below it.
    public var entries: [ItemPath: ListedItem] = [:]
    /// Whether nothing is there that the listings do not show: no collection of another kind, no name that was refused
    /// or left out.
    public var isWhole = true
    /// What is named there and is no entry, such as a calendar.
    public var unlisted: [ItemPath] = []
    /// The path of the item itself.
    public var path: ItemPath

    /// Creates a tree without entries.
    public init(_ path: ItemPath) { self.path = path }

    /// The item itself.
    public var top: ListedItem? { entries[path] }

    /// The files, in the order of their paths.
    public var files: [ListedItem] {
        entries.values.filter { $0.kind == .file }.sorted { $0.path < $1.path }
    }

    /// Adds an entry.
    /// - Parameter place: Its path in the tree, where that is not the entry's own.
    public mutating func add(_ entry: ListedItem, at place: ItemPath? = nil) { entries[place ?? entry.path] = entry }

    /// The facts by which two answers about the same path are compared, as one text.
    public var summary: String {
        entries.sorted { $0.key < $1.key }.map { path, entry in
            "\(path.text)\0\(entry.kind.rawValue)\0\(entry.size ?? -1)\0\(entry.etag?.opaque ?? "")"
        }.joined(separator: "\n") + unlisted.sorted().map { "\n\($0.text)" }.joined() + (isWhole ? "" : "\n…")
    }
}
