public import DemoServer

extension Tree {
    /// Gives a file or folder a new ETag; its content stays the same.
    /// - Returns: False if nothing is at the path.
    @discardableResult public func touch(_ path: String) -> Bool {
        do { try with { (state) throws(Refusal) in try state.touch(TreePath(path)) } } catch { return false }
        return true
    }

    /// Tells whether something is at a path.
    public func exists(_ path: String) -> Bool { node(at: TreePath(path)) != nil }

    /// Returns the server's id of an item, as in `oc:id`; nil if nothing is at the path.
    public func id(of path: String) -> String? { node(at: TreePath(path)).map(Properties.id) }

    /// Returns the bytes of a file; nil if the path is not a file's, or the file is not kept in memory.
    public func bytes(of path: String) -> [UInt8]? {
        guard let node = node(at: TreePath(path)), !node.isFolder else { return nil }
        return node.content.memory
    }

    /// Returns the SHA-1 of a file in hexadecimal; nil if the path is not a file's.
    public func sha1(of path: String) -> String? {
        guard let node = node(at: TreePath(path)), !node.isFolder else { return nil }
        return node.content.sha1
    }

    /// Sets what the user may do with one item, in the letters of `oc:permissions`.
    /// - Parameters:
    ///   - path: The item's path. What is below it keeps its own permissions.
    ///   - letters: The letters, such as `SR`; nil for those of an item of the user's own.
    /// - Returns: False if nothing is at the path.
    @discardableResult public func permit(_ path: String, _ letters: String?) -> Bool {
        edit(path) { $0.letters = letters }
    }

    /// Makes an item a favorite, or not.
    /// - Returns: False if nothing is at the path.
    @discardableResult public func setFavorite(_ path: String, _ isFavorite: Bool = true) -> Bool {
        edit(path) { $0.isFavorite = isFavorite }
    }

    /// Tells whether an item is a favorite.
    public func isFavorite(_ path: String) -> Bool { node(at: TreePath(path))?.isFavorite ?? false }

    /// Changes what is noted of an item, which keeps its ETag.
    private func edit(_ path: String, _ body: (inout Node) -> Void) -> Bool {
        let path = TreePath(path)
        guard exists(path.text) else { return false }
        change { $0.edit(path, body) }
        return true
    }
}
