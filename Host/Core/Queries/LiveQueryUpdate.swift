public import Model

/// How far the list of a live query is to be believed.
public enum LiveQueryState: String, Codable, Sendable {
    /// The list is what the database knows; the server was not asked yet, or cannot be reached.
    case contentsFromCache
    /// Nothing was ever listed, and the server was not asked yet, or cannot be reached.
    case waitingForServer
    /// The list is what the server had at the last poll, and what changed here since.
    case idle
    /// The folder or item is not there. The query goes on if it comes.
    case targetRemoved
}

/// What a reader of a live query is told: how the list that it has becomes a later one.
///
/// The removed and the moved items are taken out, by their positions in the old list, the last one first. Then the
/// inserted and the moved ones are put in, by their positions in the new list, the first one first.
public struct LiveQueryUpdate: Sendable {
    /// An item with its position.
    public struct Entry: Sendable {
        /// The item as it is now.
        public var report: ItemReport
        /// The position: of a removed item in the old list, else in the new one.
        public var position: Int
        /// The position in the old list of an item that is in both.
        public var oldPosition: Int?
    }

    /// The position up to which the list has all changes.
    public var position: ChangePosition
    /// Whether the reader's list is empty before, since what it missed was too much or is not known any more.
    public var isAnew = false
    /// The items that come into the list.
    public var inserted: [Entry] = []
    /// The items that stay where they are in the order, and changed.
    public var updated: [Entry] = []
    /// The items that leave the list.
    public var removed: [Entry] = []
    /// The items that have another place in the order. They may have changed too.
    public var moved: [Entry] = []
    /// How far the list is to be believed.
    public var state: LiveQueryState
    /// What other readers share who are told the same; nil if nobody does.
    public var shared: SharedUpdate?
}
