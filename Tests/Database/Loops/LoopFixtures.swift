import Model
import TestSupport

@testable import Database

extension Transaction {
    /// Commits a turn of the work calendar's loop.
    func turn(
        from: String?, to: String?, _ changes: [RecordChange] = [], values: [PluginValue] = []
    ) throws -> LoopTurnOutcome {
        try loops.commit(
            LoopTurnCommit(
                from: from.map(EventID.init),
                state: LoopState(
                    key: workLoop, plugin: calendarLoops, eventID: to.map(EventID.init),
                    lastPoll: Timestamp(seconds: 9),
                    lastResult: .ok), changes: changes, values: values,
                loopCollections: [workLoop.kind: .calendars]))
    }
}

extension Database {
    func text(of key: RecordKey, in collection: RecordCollection) throws -> String? {
        try readBlocking { try $0.records.record(key, in: collection)?.content }.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    func keys(in collection: RecordCollection, after: RecordKey? = nil) throws -> [String] {
        try readBlocking { (reads) throws in
            var keys: [String] = []
            try reads.records.each(in: collection, after: after, []) { record in
                keys.append(record.key.text)
                return true
            }
            return keys
        }
    }
}
