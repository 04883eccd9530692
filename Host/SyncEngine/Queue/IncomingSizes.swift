public import Database
public import Model

/// How much of the downloads under way lies in `incoming/`, for who reads beside a host.
public struct IncomingSizes: Sendable {
    private var files: [SyncRecordID: [(name: String, size: Int64)]] = [:]

    /// - Parameter files: the names in `incoming/`, with how many bytes each has.
    public init(_ files: [(name: String, size: Int64)]) {
        for file in files {
            guard let record = Job.record(ofIncoming: file.name) else { continue }
            self.files[record, default: []].append(file)
        }
    }

    /// Which part of a download's bytes is here.
    /// - Returns: 0 to 1; nil if nothing of the version that is wanted is here, or its size is not known.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func progress(of journal: SyncRecord, in reads: some DatabaseReads) throws -> Double? {
        guard journal.action == .download, let own = files[journal.id],
            let item = try reads.items.item(localID: journal.localID), let size = item.size, size > 0
        else { return nil }
        let names = Job(journal, item: item).incomingNames
        return own.filter { names.contains($0.name) }.max { $0.size < $1.size }.map {
            min(1, Double($0.size) / Double(size))
        }
    }
}
