/// A command of a person that changes a tree.
public enum TreeCommand: Equatable, Sendable, CustomStringConvertible {
    case makeFolder(String)
    /// The upload of a file with this text, which with `replaces` may become a new version.
    case put(String, String, replaces: Bool)
    case move(String, to: String)
    case copy(String, to: String)
    case remove(String)

    public var description: String {
        switch self {
        case .makeFolder(let path): "mkdir \(path)"
        case .put(let text, let path, let replaces): "put \(replaces ? "--replace " : "")\(text) \(path)"
        case .move(let path, let target): "mv \(path) \(target)"
        case .copy(let path, let target): "cp \(path) \(target)"
        case .remove(let path): "rm \(path)"
        }
    }
}

/// A random script of commands, which use a few names again and again.
public struct CommandScript {
    private static let names = ["a", "b", "c", "d", "e"]
    /// The number of entries from which on most commands remove something.
    private static let most = 40

    private var generator: SeededGenerator
    private var files = 0
    /// The tree after the commands so far.
    public private(set) var tree: TreeModel

    /// Begins a script.
    /// - Parameter tree: The tree before the first command.
    public init(seed: UInt64, on tree: TreeModel) {
        (generator, self.tree) = (SeededGenerator(seed: seed), tree)
    }

    /// Returns the next command. Most are accepted.
    public mutating func next() -> TreeCommand {
        let command = random()
        _ = tree.carryOut(command)
        return command
    }

    /// Returns the number of commands that are given together.
    public mutating func batch() -> Int { Bool.random(using: &generator) ? 1 : .random(in: 2...40, using: &generator) }

    private mutating func random() -> TreeCommand {
        if tree.entries.count > Self.most, Int.random(in: 0..<3, using: &generator) > 0 { return .remove(known()) }
        switch Int.random(in: 0..<12, using: &generator) {
        case 0, 1: return .makeFolder(new())
        case 2, 3: return .put(text(), new(), replaces: Bool.random(using: &generator))
        case 4: return .put(text(), known(), replaces: true)
        case 5, 6, 7: return .move(known(), to: new())
        case 8, 9: return .copy(known(), to: new())
        default: return .remove(known())
        }
    }

    private mutating func text() -> String {
        files += 1
        // Different texts may have one length.
        return "\(files)" + String(repeating: "-", count: .random(in: 0..<3, using: &generator))
    }

    /// Returns the path of something in the tree, or rarely of nothing.
    private mutating func known() -> String {
        guard Int.random(in: 0..<20, using: &generator) > 0 else { return new() }
        return tree.entries.keys.sorted().randomElement(using: &generator) ?? "/a"
    }

    /// Returns a path in one of the folders, which may be taken, or rarely in what is no folder.
    private mutating func new() -> String {
        var folder = ""
        if Int.random(in: 0..<4, using: &generator) > 0 {
            let isAny = Int.random(in: 0..<20, using: &generator) == 0
            let folders = tree.entries.filter { isAny || $0.value == .folder }.keys.sorted()
            folder = folders.randomElement(using: &generator) ?? ""
        }
        return folder + "/" + (Self.names.randomElement(using: &generator) ?? "a")
    }
}

/// Returns the shortest script that can be made of a script by leaving out commands so that it still shows a mistake.
public func shortest(
    _ script: [TreeCommand], showing isWrong: ([TreeCommand]) async throws -> Bool
) async rethrows -> [TreeCommand] {
    var script = script
    var length = script.count / 2
    while length > 0 {
        var start = 0
        while start < script.count {
            var less = script
            less.removeSubrange(start..<min(start + length, script.count))
            if try await isWrong(less) { script = less } else { start += length }
        }
        length /= 2
    }
    return script
}
