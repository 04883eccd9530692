import Model
import TestSupport

/// A random sequence of commands, each of which can be carried out after those before it.
///
/// What the commands do is known beforehand, whatever they wait for: nothing moves between folders that are pinned and
/// others, and what is in a copied folder is named only when the account has come to rest.
struct Workload {
    /// A command of a person.
    enum Command: CustomStringConvertible {
        case makeFolder(String)
        /// `put`, of a file with this many bytes.
        case put(String, size: Int, replaces: Bool)
        case move(String, to: String)
        case copy(String, to: String)
        case remove(String)
        case favorite(String, Bool)
        /// `touch`, with this number of seconds since 2001-09-09T01:46:40Z.
        case touch(String, Int)
        case pin(String)
        case get(String)

        /// The command's arguments.
        /// - Parameters:
        ///   - file: the file that is uploaded.
        ///   - isQueued: whether the command does not wait for the server.
        func arguments(file: String, isQueued: Bool) -> [String] {
            let more = isQueued ? ["--queue"] : []
            return switch self {
            case .makeFolder(let path): ["mkdir", path] + more
            case .put(let path, _, let replaces): ["put", file, path] + (replaces ? ["--replace"] : []) + more
            case .move(let path, let target): ["mv", path, target] + more
            case .copy(let path, let target): ["cp", path, target] + more
            case .remove(let path): ["rm", path] + more
            case .favorite(let path, let isFavorite): ["favorite", path] + (isFavorite ? [] : ["--off"]) + more
            case .touch(let path, let seconds):
                ["touch", path, "--time", Timestamp(seconds: 1_000_000_000 + Int64(seconds)).description] + more
            case .pin(let path): ["pin", path]
            case .get(let path): ["get", path] + more
            }
        }

        /// The code with which the command ends if an earlier try was carried out; nil if that makes no difference.
        var codeWhenDone: Int32? {
            switch self {
            case .makeFolder, .put(_, _, false), .copy: 73
            case .move, .remove: 66
            case .pin: 65
            case .put, .favorite, .touch, .get: nil
            }
        }

        var description: String { arguments(file: "FILE", isQueued: false).joined(separator: " ") }
    }

    private struct Node {
        var isFolder: Bool
        /// Whether the item came with a copied folder and was not listed since.
        var isUnseen = false
        var isFavorite = false
        var isPinned = false
    }

    /// The paths in this order, so that a seed gives the same commands each time.
    private var nodes: [(path: String, node: Node)] = []
    private var random: SeededGenerator
    private let hasFavorites: Bool
    /// Whether folders are deleted. On a server that hides names from its listings, Larder asks first.
    private let deletesFolders: Bool
    private var count = 0

    /// The number of items from which on no more are made.
    private static let mostItems = 150

    /// The files that are on the server at the beginning.
    static let files = (0..<6).flatMap { folder in (0..<3).map { "d\(folder)/f\($0).txt" } }

    init(_ random: SeededGenerator, hasFavorites: Bool, deletesFolders: Bool) {
        (self.random, self.hasFavorites, self.deletesFolders) = (random, hasFavorites, deletesFolders)
        for folder in 0..<6 { nodes.append(("/d\(folder)", Node(isFolder: true))) }
        for file in Self.files { nodes.append(("/\(file)", Node(isFolder: false))) }
    }

    /// Notes that the account has come to rest: the next commands may name everything.
    mutating func rest() { for index in nodes.indices { nodes[index].node.isUnseen = false } }

    /// Returns the next command.
    mutating func next() -> Command {
        while true {
            let command: Command? =
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<3: makeFolder()
                case 3..<7: put()
                case 7..<9: replace()
                case 9..<13: move()
                case 13..<15: copy()
                case 15..<17: remove()
                case 17: Bool.random(using: &random) ? favorite() : touch()
                case 18: pin()
                default: get()
                }
            if let command {
                count += 1
                return command
            }
        }
    }

    // MARK: Commands

    private mutating func makeFolder() -> Command? {
        guard let path = newPath() else { return nil }
        nodes.append((path, Node(isFolder: true)))
        return .makeFolder(path)
    }

    private mutating func put() -> Command? {
        guard let path = newPath() else { return nil }
        nodes.append((path, Node(isFolder: false)))
        return .put(path, size: size(), replaces: false)
    }

    private mutating func replace() -> Command? {
        guard let file = choose(where: { !$0.isFolder && !$0.isUnseen }) else { return nil }
        return .put(nodes[file].path, size: size(), replaces: true)
    }

    private mutating func move() -> Command? {
        guard let from = choose(where: { !$0.isUnseen }), let target = newPath() else { return nil }
        let path = nodes[from].path
        guard !Self.isIn(target, path), pinned(above: path) == pinned(above: target) else { return nil }
        // A pin may not come below another.
        guard pinned(above: target) == nil || !below(path).contains(where: { nodes[$0].node.isPinned }) else {
            return nil
        }
        for index in below(path) { nodes[index].path = target + nodes[index].path.dropFirst(path.count) }
        return .move(path, to: target)
    }

    private mutating func copy() -> Command? {
        guard let from = choose(where: { !$0.isUnseen }), let target = newPath() else { return nil }
        let path = nodes[from].path
        let all = below(path)
        guard !Self.isIn(target, path), nodes.count + all.count < Self.mostItems, all.count < 12 else { return nil }
        for index in all {
            let copied = Node(isFolder: nodes[index].node.isFolder, isUnseen: nodes[index].path != path)
            nodes.append((target + nodes[index].path.dropFirst(path.count), copied))
        }
        return .copy(path, to: target)
    }

    private mutating func remove() -> Command? {
        guard let top = choose(where: { [deletesFolders] in deletesFolders || !$0.isFolder }) else { return nil }
        let path = nodes[top].path
        let all = below(path)
        guard all.count < 8, !all.contains(where: { nodes[$0].node.isUnseen }) else { return nil }
        nodes.removeAll { Self.isIn($0.path, path) }
        return .remove(path)
    }

    private mutating func favorite() -> Command? {
        guard hasFavorites, let item = choose(where: { !$0.isUnseen }) else { return nil }
        nodes[item].node.isFavorite.toggle()
        return .favorite(nodes[item].path, nodes[item].node.isFavorite)
    }

    private mutating func touch() -> Command? {
        guard hasFavorites, let file = choose(where: { !$0.isFolder && !$0.isUnseen }) else { return nil }
        return .touch(nodes[file].path, count)
    }

    private mutating func pin() -> Command? {
        guard let folder = choose(where: { $0.isFolder && !$0.isUnseen && !$0.isPinned }) else { return nil }
        let path = nodes[folder].path
        guard pinned(above: path) == nil, !below(path).contains(where: { nodes[$0].node.isPinned }),
            nodes.count(where: { $0.node.isPinned }) < 3
        else { return nil }
        nodes[folder].node.isPinned = true
        return .pin(path)
    }

    private mutating func get() -> Command? {
        guard let file = choose(where: { !$0.isFolder && !$0.isUnseen }) else { return nil }
        return .get(nodes[file].path)
    }

    // MARK: Paths

    private mutating func choose(where isWanted: (Node) -> Bool) -> Int? {
        nodes.indices.filter { isWanted(nodes[$0].node) }.randomElement(using: &random)
    }

    /// Returns a path in a folder at which there is nothing. Some names come again and again.
    private mutating func newPath() -> String? {
        guard nodes.count < Self.mostItems else { return nil }
        let folder = choose { $0.isFolder && !$0.isUnseen }.map { nodes[$0].path } ?? ""
        // The root is a folder too.
        let parent = Int.random(in: 0..<6, using: &random) == 0 ? "" : folder
        guard parent.split(separator: "/").count < 6 else { return nil }
        let names = ["again", "a b.txt", "100%", "caf\u{e9} #1", "new \(count)", "n\(count).txt"]
        let path = "\(parent)/\(names.randomElement(using: &random) ?? "n")"
        return nodes.contains { $0.path == path } ? nil : path
    }

    private mutating func size() -> Int {
        // No two sizes are equal: two contents of one size within a second have one version on some servers.
        Int.random(in: 0..<5, using: &random) == 0 ? 1_500_000 + count : 20 + count
    }

    private func below(_ path: String) -> [Int] { nodes.indices.filter { Self.isIn(nodes[$0].path, path) } }

    /// Returns the number of the pinned folder in which a path is; nil if it is in none. A folder is not in itself.
    private func pinned(above path: String) -> Int? {
        nodes.firstIndex { $0.node.isPinned && $0.path != path && Self.isIn(path, $0.path) }
    }

    private static func isIn(_ path: String, _ folder: String) -> Bool {
        path == folder || path.hasPrefix(folder + "/")
    }
}
