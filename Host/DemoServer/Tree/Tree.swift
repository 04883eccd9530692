import Glibc
import Synchronization

/// The files and folders that a demo server serves. Paths have the form `/folder/file`.
///
/// Changes made here look like changes by another person: no request is logged, and ETags report them.
public final class Tree: Sendable {
    /// A clock that tells the time in seconds since 1970 UTC.
    public typealias Clock = @Sendable () -> Int64

    private let state: Mutex<TreeState>
    private let clock: Clock

    init(clock: @escaping Clock) {
        self.clock = clock
        state = Mutex(TreeState(now: clock()))
    }

    /// Writes a file, and creates the folders above it.
    /// - Parameters:
    ///   - path: The file's path.
    ///   - bytes: The file's content.
    ///   - modified: The modification time in seconds since 1970; nil for now.
    public func put(_ path: String, _ bytes: some Collection<UInt8>, modified: Int64? = nil) {
        put(path, Content(bytes), modified: modified)
    }

    /// Writes a file with a text, and creates the folders above it.
    /// - Parameters:
    ///   - path: The file's path.
    ///   - text: The file's content.
    ///   - modified: The modification time in seconds since 1970; nil for now.
    public func put(_ path: String, _ text: String, modified: Int64? = nil) {
        put(path, text.utf8, modified: modified)
    }

    /// Creates a folder and those above it. An existing folder stays as it is.
    public func makeFolder(_ path: String) {
        state.withLock { $0.makeFolders(TreePath(path), modified: now) }
    }

    /// Removes a file, or a folder with everything in it.
    /// - Returns: False if nothing was at the path.
    @discardableResult public func remove(_ path: String) -> Bool { succeeds { try $0.remove(TreePath(path)) } }

    /// Moves a file or folder. Anything at the new path is replaced.
    /// - Returns: False if there is nothing to move, or no folder to move it into.
    @discardableResult public func move(_ from: String, to: String) -> Bool {
        succeeds { state in
            let (from, to) = (TreePath(from), TreePath(to))
            guard state.node(at: from) != nil, !from.contains(to) else { throw Refusal.notFound }
            if state.node(at: to) != nil { try state.remove(to) }
            try state.move(from, to: to)
        }
    }

    /// All paths, in the order of their bytes. Folders have a closing slash.
    public var paths: [String] {
        state.withLock { state in
            var found: [String] = []
            func walk(_ node: Node, _ path: String) {
                for child in state.children(of: node) {
                    let below = path + String(decoding: child.name, as: UTF8.self)
                    found.append(child.isFolder ? below + "/" : below)
                    walk(child, below + "/")
                }
            }
            if let root = state.nodes[TreeState.rootID] { walk(root, "/") }
            return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    package func node(at path: TreePath) -> Node? { state.withLock { $0.node(at: path) } }

    /// Runs a body that reads or changes the tree, without other changes in between.
    package func with<Result: Sendable>(
        _ body: (inout TreeState) throws(Refusal) -> Result
    ) throws(Refusal) -> Result {
        try state.withLock { (state) throws(Refusal) in try body(&state) }
    }

    package func change(_ body: (inout TreeState) -> Void) { state.withLock { body(&$0) } }

    package func read<Result: Sendable>(_ body: (TreeState) -> Result) -> Result { state.withLock { body($0) } }

    /// The time in seconds since 1970 UTC.
    package var now: Int64 { clock() }

    /// The system's clock.
    package static let systemClock: Clock = { Int64(time(nil)) }

    private func put(_ path: String, _ content: Content, modified: Int64?) {
        let (path, now) = (TreePath(path), now)
        _ = succeeds { state in
            state.makeFolders(TreePath(names: path.names.dropLast()), modified: now)
            _ = try state.put(content, at: path, modified: modified ?? now)
        }
    }

    private func succeeds(_ change: (inout TreeState) throws -> Void) -> Bool {
        state.withLock { state in
            do { try change(&state) } catch { return false }
            return true
        }
    }
}

extension TreeState {
    /// Creates a folder and those above it, where nothing exists yet.
    mutating func makeFolders(_ path: TreePath, modified: Int64) {
        for depth in 0...path.names.count {
            let part = TreePath(names: Array(path.names.prefix(depth)))
            if node(at: part) == nil { try? makeFolder(at: part, modified: modified) }
        }
    }
}
