import GRDBSQLite
import Synchronization

/// A stack of byte strings in a file of its own, for example of states that are too many for memory. The lowest blob
/// has index 0.
///
/// Each push and pop is durable when it returns. All functions block. They may be called from any thread, and several
/// processes may share a file.
public final class BlobStack: Sendable {
    /// The path of the SQLite database.
    public let path: String

    private let database: Mutex<BlobDatabase?>

    /// Opens a stack. Creates the file if it is missing; its folder must exist.
    /// - Parameter path: The path of the SQLite database.
    /// - Throws: `writeFailed`.
    public init(path: String) throws(ProjectError) {
        self.path = path
        do throws(BlobStackError) {
            let database = try BlobDatabase(path: path)
            try database.run("CREATE TABLE IF NOT EXISTS blobs (position INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
            self.database = Mutex(database)
        } catch {
            throw ProjectError(.writeFailed, "cannot open the blob stack \(path)", underlying: error)
        }
    }

    /// Whether the stack has not been closed yet.
    public var isOpen: Bool { database.withLock { $0 != nil } }

    /// Closes the stack. Every later call fails, except that closing again does nothing.
    public func close() { database.withLock { $0 = nil } }

    /// The number of blobs in the stack.
    /// - Throws: `fetchFailed`.
    public var count: Int {
        get throws(ProjectError) {
            try use(.fetchFailed, "cannot count the blobs") { database throws(BlobStackError) in
                try database.count()
            }
        }
    }

    /// Pushes a blob onto the top of the stack.
    /// - Throws: `writeFailed`.
    public func push(_ bytes: [UInt8]) throws(ProjectError) {
        try use(.writeFailed, "cannot push a blob") { database throws(BlobStackError) in
            try database.run(
                "INSERT INTO blobs VALUES ((SELECT coalesce(max(position) + 1, 0) FROM blobs), ?)", bytes: bytes)
        }
    }

    /// Returns the blob at an index.
    /// - Throws: `fetchFailed`, also if the stack has no blob at the index.
    public func blob(at index: Int) throws(ProjectError) -> [UInt8] {
        guard index < .max, let blob = try blobs(in: index..<index + 1).first else {
            throw ProjectError(.fetchFailed, "there is no blob \(index) in \(path)")
        }
        return blob
    }

    /// Returns the blobs in a range of indices.
    /// - Parameter range: The indices, from the lowest up, without the upper bound.
    /// - Returns: The blobs, the lowest first.
    /// - Throws: `fetchFailed`, also if the stack does not have all of the blobs.
    public func blobs(in range: Range<Int>) throws(ProjectError) -> [[UInt8]] {
        let blobs = try use(.fetchFailed, "cannot fetch blobs") { database throws(BlobStackError) in
            try database.blobs(in: range)
        }
        guard blobs.count == range.count else {
            throw ProjectError(
                .fetchFailed, "not all of the blobs \(range.lowerBound) to \(range.upperBound - 1) are in \(path)"
            )
        }
        return blobs
    }

    /// Removes the blob at an index and all blobs above it. Does nothing if the index lies above the top.
    /// - Throws: `deleteFailed`, also if the index is negative.
    public func pop(from index: Int) throws(ProjectError) {
        guard index >= 0 else { throw ProjectError(.deleteFailed, "there is no blob \(index) in \(path)") }
        try use(.deleteFailed, "cannot remove blobs") { database throws(BlobStackError) in
            try database.run("DELETE FROM blobs WHERE position >= ?", Int64(index))
        }
    }

    private func use<Result: Sendable>(
        _ code: ProjectError.Code, _ what: String,
        _ body: (borrowing BlobDatabase) throws(BlobStackError) -> Result
    ) throws(ProjectError) -> Result {
        try database.withLock { database throws(ProjectError) in
            do throws(BlobStackError) {
                guard let database else {
                    throw BlobStackError(code: SQLITE_MISUSE, message: "the stack was closed")
                }
                return try body(database)
            } catch {
                throw ProjectError(code, "\(what) of \(path)", underlying: error)
            }
        }
    }
}
