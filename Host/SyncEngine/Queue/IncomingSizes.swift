public import Database
public import Model

/// The sizes of the files of downloads under way in `incoming/`, for a process that reads beside a host.
public struct IncomingSizes: Sendable {
    private var files: [SyncRecordID: [(name: String, size: Int64)]] = [:]

    /// Creates the sizes from a list of files.
    /// - Parameter files: The names in `incoming/`, with the number of bytes of each file.
    public init(_ files: [(name: String, size: Int64)]) {
        for file in files {
            guard let record = Job.record(ofIncoming: file.name) else { continue }
            self.files[record, default: []].append(file)
        }
    }

    /// Returns the part of a download's bytes that is here.
    /// - Returns: A number from 0 to 1. Nil if nothing of the wanted version is here, or its size is not known.
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
