public import Database
public import Model

/// Carries out what processors ask for on items. Policies and values are written by the run itself.
public protocol IntentSink: Sendable {
    /// Takes an action into the journal, in the run's own transaction and in the order of the asking. What is already so, or
    /// under way with the same key, is left alone. What would lose data is refused: logged and left alone too.
    ///
    /// Called on a plugin's thread.
    /// - Parameter intent: an action on an item, with a key.
    /// - Returns: whether anything came of it: a record, or a change of the item.
    /// - Throws: Only what makes the whole transaction impossible, such as SQLite's error. What is refused is dropped.
    func perform(_ intent: Intent, in transaction: Transaction) throws -> Bool
}
