import Database
import Model

/// The records that a run of the engine works on and reports.
enum RecordSelection: Sendable {
    case all
    /// Certain records, and the changes of the server that must be made before them. Only the former are reported.
    case these(Set<SyncRecordID>, behind: Set<SyncRecordID> = [])
    /// The records that were added after this one.
    case after(SyncRecordID)

    /// Tells whether the run works on a record.
    func contains(_ id: SyncRecordID) -> Bool {
        if case .these(_, let behind) = self, behind.contains(id) { return true }
        return reports(id)
    }

    /// Tells whether the run reports a record.
    func reports(_ id: SyncRecordID) -> Bool {
        switch self {
        case .all: true
        case .these(let records, _): records.contains(id)
        case .after(let last): id > last
        }
    }
}

extension SyncEngine {
    /// Returns the changes of the server that must be made before any of these records, whoever requested them.
    func changes(before records: Set<SyncRecordID>) async throws -> Set<SyncRecordID> {
        try await database.read { [self] reads in
            let queue = try queue(of: records, in: reads)
            guard queue.contains(where: { !records.contains($0.id) }) else { return [] }
            var lanes = Lanes()
            for record in queue { lanes.add(record) }
            return lanes.allRecords(before: records).subtracting(records)
        }
    }

    /// Returns records and the changes of the server that were requested before the last of them, in their order.
    func queue(of records: Set<SyncRecordID>, in reads: some DatabaseReads) throws -> [SyncRecord] {
        guard let last = records.max() else { return [] }
        let others = try reads.journal.changes(before: last).filter { !records.contains($0.id) }
        return try (others + reads.journal.records(records)).sorted { $0.id < $1.id }
    }
}

extension Lanes {
    /// Adds a record, if it holds up others.
    mutating func add(_ record: SyncRecord) {
        guard record.holdsLane else { return }
        add(record.id, localID: record.localID, path: record.path, otherPath: record.action.otherPath)
    }

    /// Returns the records that must be done before any of these records, at any distance.
    func allRecords(before records: Set<SyncRecordID>) -> Set<SyncRecordID> {
        var before: Set<SyncRecordID> = []
        var open = Array(records)
        while let record = open.popLast() {
            for other in self.records(before: record) where before.insert(other).inserted { open.append(other) }
        }
        return before
    }
}
