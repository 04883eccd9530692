public import Database
public import Model

/// A sink that carries out the actions on items that processors request. The run itself writes policies and values.
public protocol IntentSink: Sendable {
    /// Takes an action into the journal, in the run's own transaction and in the order of the requests. An action whose
    /// effect is already there, or that is in progress with the same key, is left alone. An action that would lose data
    /// is refused: it is logged and left alone too.
    ///
    /// Called on a plugin's thread.
    /// - Parameters:
    ///   - intent: An action, with a key.
    ///   - issue: The issue that a deletion on the server waits for; nil if it waits for nobody.
    ///   - transaction: The run's transaction.
    /// - Returns: What became of the action.
    /// - Throws: Only errors that make the whole transaction impossible, such as SQLite's error. A refused action is
    ///   dropped.
    func perform(_ intent: Intent, heldBy issue: IssueID?, in transaction: Transaction) throws -> IntentOutcome

    /// Takes downloads into the journal that need no second thought: those of files of which nothing is here and nothing
    /// else is wanted. It leaves the others to ``perform(_:heldBy:in:)``.
    ///
    /// Called on a plugin's thread.
    /// - Parameters:
    ///   - items: The items, each once.
    ///   - whileCovered: As in ``Intent/Change/download(_:whileCovered:)``.
    ///   - plugin: The plugin that requests them, without a key.
    ///   - transaction: The run's transaction.
    /// - Returns: The items whose downloads are in the journal now.
    /// - Throws: As ``perform(_:heldBy:in:)``.
    func download(
        _ items: [LocalID], whileCovered: Bool, for plugin: PluginID, in transaction: Transaction
    ) throws -> Set<LocalID>

    /// Decides whether the deletions on the server that a run requests wait for a person. Called once for a run, before
    /// the first of them is performed.
    ///
    /// Called on a plugin's thread.
    /// - Returns: The issue that they wait for, which the run files in each of its transactions; nil if they wait for
    ///   nobody.
    /// - Throws: As ``perform(_:heldBy:in:)``.
    func hold(_ deletions: [LocalID], of plugin: PluginID, in transaction: Transaction) throws -> Issue?

    /// Counts the deletions on the server that a transaction of a run recorded. Called on a plugin's thread at the end of
    /// each transaction of a run that requests deletions.
    /// - Parameters:
    ///   - record: The last record of the journal when the transaction began.
    ///   - plugin: The plugin.
    ///   - issue: The issue that the deletions wait for.
    ///   - transaction: The run's transaction.
    /// - Throws: As ``perform(_:heldBy:in:)``.
    func countDeletions(
        after record: SyncRecordID, of plugin: PluginID, heldBy issue: IssueID?, in transaction: Transaction) throws
}

/// What became of a requested action.
public enum IntentOutcome: Hashable, Sendable {
    /// The action had an effect: a record, or a change of the item.
    case effective
    /// Nothing had to be done, or the action was left alone.
    case idle
    /// A change of the server that is impossible, with the reason as a part of a sentence. Nothing was changed.
    case refused(String)
}
