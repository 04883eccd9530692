import CLoop
import Database
import Model

/// A vault's database with a given number of items, in folders of 100 files.
struct DatabaseFixture {
    let path: String
    let database: Database

    /// Which items have local copies.
    enum State {
        /// No item.
        case cloudOnly
        /// A hundred files, all used long ago.
        case hundredCopies
        /// Every file, for available-offline.
        case allPinned
    }

    private static let day: Int64 = 86_400_000_000_000

    /// Makes the database.
    /// - Parameters:
    ///   - folder: the folder in which the database is made.
    ///   - name: the beginning of the database's name; its size is appended.
    init(in folder: String, _ name: String, items: Int, _ state: State) throws {
        path = "\(folder)/\(name)-\(items).db"
        try Database.open(path: path).close()
        let isHere =
            switch state {
            case .cloudOnly: "0"
            case .hundredCopies: "n % \(items / 100) = 0"
            case .allPinned: "1"
            }
        let trigger = state == .allPinned ? "availableOffline" : "user"
        let now = Timestamp.now().nanoseconds
        try check(
            loop_run(
                path,
                """
                PRAGMA synchronous = OFF;
                WITH RECURSIVE
                  number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < \(items)),
                  row(n, folder, name, here) AS (
                    SELECT n, printf('/folder-%05d', n / 100), printf('file-%07d.bin', n), \(isHere) FROM number)
                INSERT INTO items (
                  localID, fileID, path, parentPath, name, type, size, mimeType, etag, etagStrength, lastModified,
                  permissions, cloudStatus, copyETag, copyETagStrength, copyDigest, copyInode, copySize, copyModified,
                  copyChanged, copyRecorded, downloadTrigger, lastUsed, anchor)
                SELECT printf('%08x-0000-4000-8000-000000000000', n), printf('%08d', n), folder || '/' || name, folder,
                  name, 0, n % 10000, 'application/octet-stream', printf('%016x', n), 0, \(now - 90 * Self.day),
                  'RDNVW',
                  here, iif(here, printf('%016x', n), NULL), iif(here, 0, NULL),
                  iif(here, x'0102030405060708010203040506070801020304050607080102030405060708', NULL),
                  iif(here, n, NULL),
                  iif(here, n % 10000, NULL), iif(here, \(now), NULL), iif(here, \(now), NULL), iif(here, \(now), NULL),
                  iif(here, '\(trigger)', NULL), iif(here, \(now - 30 * Self.day) + n, NULL), 1
                FROM row;
                INSERT INTO meta VALUES ('anchor', 1);
                """))
        database = try Database.open(path: path)
    }

    /// Reads with SQLite alone what the host reads for a plugin that reads the path, size and last use of these items.
    func loop(over condition: String) throws -> loop_sum {
        let (sql, arguments) = ConditionSQL.compile(try Condition(parsing: condition), now: .now())
        guard arguments.isEmpty else { throw BenchmarkError("the condition has texts") }
        let columns: [ItemColumn] = [.path, .size, .lastUsed]
        // The host also reads an item's id.
        let selection = ItemColumns([.localID] + columns).selection
        var sum = loop_sum()
        try check(
            loop_read(
                path, "SELECT \(selection) FROM items WHERE \(sql) ORDER BY items.path", columns.map(\.rawValue), &sum))
        return sum
    }
}

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

private func check(_ problem: UnsafePointer<CChar>?) throws {
    if let problem { throw BenchmarkError("SQLite: \(String(cString: problem))") }
}
