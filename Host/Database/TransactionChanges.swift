extension Transaction {
    /// What the transaction has noted so far, as its observer will get it; nil if nothing.
    public var changes: CommitSummary? { summary }
}
