import Model

/// The records that a run of the engine works on and reports.
enum RecordSelection: Sendable {
    case all
    case these(Set<SyncRecordID>)
    /// The records that were added after this one.
    case after(SyncRecordID)

    init(_ records: Set<SyncRecordID>?) { self = records.map { .these($0) } ?? .all }

    func contains(_ id: SyncRecordID) -> Bool {
        switch self {
        case .all: true
        case .these(let records): records.contains(id)
        case .after(let last): id > last
        }
    }
}
