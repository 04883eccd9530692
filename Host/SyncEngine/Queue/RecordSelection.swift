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

extension DatabaseReads {
    /// Returns the changes of the server that must be made before any of these records, whoever requested them.
    func changes(before records: Set<SyncRecordID>) throws -> Set<SyncRecordID> {
        let queue = try queue(of: records)
        guard queue.contains(where: { !records.contains($0.id) }) else { return [] }
        var lanes = Lanes()
        for record in queue { lanes.add(record) }
        return lanes.allRecords(before: records).subtracting(records)
    }

    /// Returns the records that go on before a time. What is behind a record that does not go on does not go on either.
    func goingOn(_ records: Set<SyncRecordID>, before limit: Timestamp) throws -> [SyncRecord] {
        let queue = try queue(of: records)
        let hasChanges = queue.contains { $0.action.kind.changesServer }
        var lanes = Lanes()
        var held: Set<SyncRecordID> = []
        var going: [SyncRecord] = []
        for record in queue {
            // Without changes, records are about one item each.
            if hasChanges { lanes.add(record) }
            if !record.goesOn(before: limit) || !lanes.records(before: record.id).isDisjoint(with: held) {
                held.insert(record.id)
            } else if records.contains(record.id) {
                going.append(record)
            }
        }
        return going
    }

    /// Returns records and the changes of the server that were requested before the last of them, in their order.
    private func queue(of records: Set<SyncRecordID>) throws -> [SyncRecord] {
        guard let last = records.max() else { return [] }
        let others = try journal.changes(before: last).filter { !records.contains($0.id) }
        return try (others + journal.records(records)).sorted { $0.id < $1.id }
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

extension SyncRecord {
    /// Tells whether the engine goes on with the record before a time, as far as the record says.
    fileprivate func goesOn(before limit: Timestamp) -> Bool {
        guard state != .failed else { return false }
        return switch wait {
        case .place, .issue: false
        case .until(let time), .retry(let time, _): time <= limit
        case .newVersion, nil: true
        }
    }
}
