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
    ///   - intent: An action on an item, with a key.
    ///   - transaction: The run's transaction.
    /// - Returns: Whether the action had an effect: a record, or a change of the item.
    /// - Throws: Only errors that make the whole transaction impossible, such as SQLite's error. A refused action is
    ///   dropped.
    func perform(_ intent: Intent, in transaction: Transaction) throws -> Bool
}
