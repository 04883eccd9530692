public import Model

/// What a turn of an event loop came to: everything in it is committed together, or nothing of it.
public struct LoopTurnCommit: Hashable, Sendable {
    /// The event id that was polled; nil: everything was fetched because there was none. If another one is stored by now, the turn
    /// is out of date.
    public var from: EventID?
    /// The loop as it is after the turn, with its new event id. Whether it is enabled stays as it is stored.
    public var state: LoopState
    /// In the order in which they were asked for: of two about the same record the later counts.
    public var changes: [RecordChange]
    /// What the plugin stores of its own.
    public var values: [PluginValue]
    /// Which kinds of loops are there for the records of which collection: a record's loop goes with it.
    public var loopCollections: [LoopKind: RecordCollection]

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

    /// What the turn asks for takes, in bytes; at most ``RecordChange/largestTurn``.
    public var size: Int {
        changes.reduce(0) { $0 + $1.size } + values.reduce(0) { $0 + $1.key.count + ($1.value?.count ?? 0) }
    }
}

/// A value that a plugin stores under a key of its own.
public struct PluginValue: Hashable, Sendable {
    public var key: [UInt8]
    /// Nil takes it away.
    public var value: [UInt8]?

    public init(key: [UInt8], value: [UInt8]?) {
        self.key = key
        self.value = value
    }
}

/// What became of a turn's commit.
public enum LoopTurnOutcome: Hashable, Sendable {
    case committed(LoopTurnChanges)
    /// Nothing was written: the loop is gone or switched off, belongs to another plugin, or has another event id by now.
    case superseded
}

/// What a turn changed, in the order of the changes.
public struct LoopTurnChanges: Hashable, Sendable {
    /// Of collections that went with their record, that record alone is named.
    public var records: [Change] = []
    /// Loops that went with their records.
    public var removedLoops: [LoopKey] = []

    /// What became of a record.
    public struct Change: Hashable, Sendable {
        public var collection: RecordCollection
        public var key: RecordKey
        public var event: RecordEvent

        public init(_ event: RecordEvent, _ key: RecordKey, in collection: RecordCollection) {
            self.event = event
            self.key = key
            self.collection = collection
        }
    }

    public init() {}
}
