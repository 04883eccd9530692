public import Model

extension AccountHost {
    /// Begins to read a live query. The reader must be ended. It is told nothing before the account is at work, and its
    /// reading ends with the account.
    /// - Throws: `.vaultLocked` if the account has as many readers as it may have; `.failed` if the account ends.
    public func read(_ query: LiveQuery) throws(Failure) -> LiveQueryReader { try queries.add(query) }
}
