public import Model

/// The result of a turn of an event loop. The result is committed as a whole or not at all.
public struct LoopTurnCommit: Hashable, Sendable {
    /// The event id with which the loop polled; nil if there was none and everything was fetched. The turn is out of
    /// date if another event id is stored by now.
    public var from: EventID?
    /// The loop's state after the turn, with its new event id. The stored value decides whether the loop is enabled.
    public var state: LoopState
    /// The changes of records, in the order in which the plugin requested them. Of two changes of one record, the later
    /// counts.
    public var changes: [RecordChange]
    /// The values that the plugin stores under keys of its own.
    public var values: [PluginValue]
    /// The collection whose records have loops of their own, for each kind of such loops. The loop of a removed record
    /// is removed too.
    public var loopCollections: [LoopKind: RecordCollection]

    /// Creates the result of a turn.
    public init(
        from: EventID?, state: LoopState, changes: [RecordChange] = [], values: [PluginValue] = [],
        loopCollections: [LoopKind: RecordCollection] = [:]
    ) {
        self.from = from
        self.state = state
        self.changes = changes
        self.values = values
        self.loopCollections = loopCollections
    }

    /// The size of the changes and values in bytes; at most ``RecordChange/largestTurn``.
    public var size: Int {
        changes.reduce(0) { $0 + $1.size } + values.reduce(0) { $0 + $1.key.count + ($1.value?.count ?? 0) }
    }
}

/// A value that a plugin stores under a key of its own.
public struct PluginValue: Hashable, Sendable {
    /// The key.
    public var key: [UInt8]
    /// The value; nil to remove the stored value.
    public var value: [UInt8]?

    /// Creates a value.
    public init(key: [UInt8], value: [UInt8]?) {
        self.key = key
        self.value = value
    }
}

/// The outcome of committing a turn.
public enum LoopTurnOutcome: Hashable, Sendable {
    /// The turn was written, with these changes.
    case committed(LoopTurnChanges)
    /// Nothing was written: the loop no longer exists or is disabled, belongs to another plugin, or has another event
    /// id by now.
    case superseded
}

/// The changes of a turn, in their order.
public struct LoopTurnChanges: Hashable, Sendable {
    /// The changed records. For a record that was removed together with its own collection, only the record itself is
    /// included.
    public var records: [Change] = []
    /// The loops that were removed together with their records.
    public var removedLoops: [LoopKey] = []

    /// The change of one record.
    public struct Change: Hashable, Sendable {
        /// The collection of the record.
        public var collection: RecordCollection
        /// The record's key.
        public var key: RecordKey
        /// The kind of change.
        public var event: RecordEvent

        /// Creates a change.
        public init(_ event: RecordEvent, _ key: RecordKey, in collection: RecordCollection) {
            self.event = event
            self.key = key
            self.collection = collection
        }
    }

    /// Creates an empty list of changes.
    public init() {}
}
