import Model

extension LoopState {
    /// The values that ``LoopTable/note(_:)`` writes, in its order.
    var reportValues: [SQLValue] {
        [
            lastPoll.map { .integer($0.nanoseconds) } ?? .null, lastResult.map { .text($0.rawValue) } ?? .null,
            lastError.map(SQLValue.text) ?? .null, nextPoll.map { .integer($0.nanoseconds) } ?? .null,
            .integer(Int64(failures)),
        ]
    }
}
