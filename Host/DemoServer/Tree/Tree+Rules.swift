/// What the server allows its user, and what it notes of items. Nothing here changes an ETag.
extension Tree {
    /// The number of bytes that the user's files may have together; nil for no limit. The functions of this class may
    /// go beyond it.
    public var quota: Int? {
        get { read(\.quota) }
        set { change { $0.quota = newValue } }
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

    /// Locks an item for another person.
    /// - Parameters:
    ///   - path: The item's path.
    ///   - owner: The person's name.
    ///   - isDeep: Whether everything below the item is locked too.
    ///   - seconds: The time until the lock ends.
    /// - Returns: The lock's token.
    @discardableResult public func lock(
        _ path: String, owner: String, isDeep: Bool = true, seconds: Int64 = 1_800
    ) -> String {
        let path = TreePath(path)
        let lock = Lock(
            token: Lock.newToken(), root: path, href: path.encoded, isDeep: isDeep, owner: XMLWriter.escaped(owner),
            ownerText: owner, lifetime: seconds, end: now + seconds)
        change { $0.locks.add(lock, now: now) }
        return lock.token
    }

    /// Removes a lock.
    /// - Returns: False if the item is not locked with the token.
    @discardableResult public func unlock(_ path: String, _ token: String) -> Bool {
        let now = now
        var isRemoved = false
        change { isRemoved = $0.locks.remove(token, at: TreePath(path), now: now) }
        return isRemoved
    }

    /// Tells whether an item is locked.
    public func isLocked(_ path: String) -> Bool {
        let now = now
        return read { !$0.locks.covering(TreePath(path), now: now).isEmpty }
    }

    private func edit(_ path: String, _ body: (inout Node) -> Void) -> Bool {
        let path = TreePath(path)
        guard exists(path.text) else { return false }
        change { $0.edit(path, body) }
        return true
    }
}
