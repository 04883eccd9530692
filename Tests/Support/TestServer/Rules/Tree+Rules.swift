public import DemoServer

/// What the server notes of items. Nothing here changes an ETag.
extension Tree {
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

    private func edit(_ path: String, _ body: (inout Node) -> Void) -> Bool {
        let path = TreePath(path)
        guard exists(path.text) else { return false }
        change { $0.edit(path, body) }
        return true
    }
}
