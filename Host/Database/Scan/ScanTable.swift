import GRDB
public import Model

/// A folder that a scan has still to list.
public struct ScanJob: Hashable, Sendable {
    public var path: ItemPath
    /// Whether everything below is listed, whatever the ETags say.
    public var isWhole: Bool

    public init(path: ItemPath, isWhole: Bool) {
        self.path = path
        self.isWhole = isWhole
    }
}

extension DatabaseReads {
    public func scanJobs() throws -> [ScanJob] {
        try Row.fetchAll(db.cachedStatement(sql: "SELECT path, whole FROM scanJobs ORDER BY path"))
            .map { ScanJob(path: ItemPath(unchecked: $0[0]), isWhole: $0[1]) }
    }
}

extension Transaction {
    public func addScanJob(_ job: ScanJob) throws {
        try db.cachedStatement(
            sql:
                "INSERT INTO scanJobs (path, whole) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET whole = max(whole, excluded.whole)"
        ).execute(arguments: [job.path.text, job.isWhole])
    }

    public func removeScanJob(_ path: ItemPath) throws {
        try db.cachedStatement(sql: "DELETE FROM scanJobs WHERE path = ?").execute(arguments: [path.text])
    }
}
