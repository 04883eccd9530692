import CLarder
import Database
import Model
import PluginHost

/// A database cursor as a stream of items for a plugin.
final class CursorSource: ItemSource {
    private let cursor: ItemCursor
    private let fields: UInt64
    private let files: String
    private let coverage: AvailableOfflineCoverage?
    private let isWanted: ((Item) -> Bool)?
    private let claims: ClaimedItems?
    private let shares: SharesOfItems?
    /// A buffer for the local path of the current row, since no column holds the path.
    private var localPath: UnsafeMutableBufferPointer<UInt8>

    /// Creates a stream.
    /// - Parameters:
    ///   - cursor: The cursor. It reads all columns if `isWanted` is set.
    ///   - fields: The mask of the fields that the plugin reads.
    ///   - files: The folder of the local copies.
    ///   - coverage: The coverage by policies; nil if the mask does not include it.
    ///   - claims: The claims; nil if the mask does not include them.
    ///   - shares: The shares; nil if the mask does not include them or there are none.
    ///   - isWanted: Tells which of the cursor's items belong to the stream; nil selects all.
    init(
        _ cursor: ItemCursor, fields: UInt64, files: String, coverage: AvailableOfflineCoverage?, claims: ClaimedItems?,
        shares: SharesOfItems?, isWanted: ((Item) -> Bool)? = nil
    ) {
        self.isWanted = isWanted
        self.cursor = cursor
        self.fields = fields & knownItemFields
        self.files = files == "/" ? "" : files
        self.coverage = coverage
        self.claims = claims
        self.shares = shares
        let needsPath = fields & (1 << UInt64(LARDER_FIELD_LOCAL_PATH)) != 0
        localPath = .allocate(capacity: needsPath ? files.utf8.count + ItemPath.longestPath : 0)
    }

    deinit { localPath.deallocate() }

    func next(_ view: inout larder_item) throws(Failure) -> Bool {
        guard try advance() else { return false }
        if let shares, let path = cursor.text(.path) { try shares.find(path) }
        fill(&view, fields: fields, from: self)
        return true
    }

    /// Passes over the next items.
    func skip(_ count: Int) throws(Failure) {
        for _ in 0..<count { _ = try advance() }
    }

    private func advance() throws(Failure) -> Bool {
        repeat {
            guard try cursor.next() else { return false }
        } while !(isWanted?(cursor.item) ?? true)
        return true
    }

    var pathBytes: UnsafeBufferPointer<UInt8> { cursor.text(.path) ?? UnsafeBufferPointer(start: nil, count: 0) }

    /// Tells whether the current row is this item's.
    func isAt(_ localID: LocalID) -> Bool { cursor.text(.localID)?.elementsEqual(localID.text.utf8) ?? false }

    /// Returns the columns for a mask of fields, and the columns by which the host itself identifies an item.
    static func columns(for fields: UInt64) -> ItemColumns {
        if fields & (1 << UInt64(LARDER_FIELD_AVAILABLE_OFFLINE)) != 0 { return .all }
        var columns: ItemColumns = ItemColumns([.path, .localID])
        for (field, column) in Self.columns where fields & (1 << UInt64(field)) != 0 {
            columns.insert(ItemColumns(column))
        }
        if fields & (1 << UInt64(LARDER_FIELD_LOCAL_PATH)) != 0 { columns.insert(ItemColumns(.cloudStatus)) }
        return columns
    }

    /// Returns the column that holds a field; nil if the field has no column of its own.
    static func column(of field: Int32?) -> ItemColumn? { Self.columns.first { $0.field == field }?.column }

    private func readLocalPath() -> UnsafeBufferPointer<UInt8>? {
        guard cursor.integer(.cloudStatus) != 0, let path = cursor.text(.path) else { return nil }
        var end = localPath.startIndex
        // The root's own path is the folder itself.
        let tail = path.count == 1 ? path[..<0] : path[...]
        for bytes in [Array(files.utf8), Array(tail)] {
            guard end + bytes.count <= localPath.count else { return nil }
            end = localPath[end...].update(fromContentsOf: bytes)
        }
        return UnsafeBufferPointer(rebasing: localPath[..<end])
    }

    private func readClaims() -> Int64? { claims.map { Int64($0.kinds(of: cursor.text(.localID)).rawValue) } }

    private func readCoverage() -> Int64? { coverage.map { Int64($0.of(cursor.item).number) } }
}

/// The current row, from which a view is filled. It has no value of its own, which would retain the cursor for each item.
extension CursorSource: ItemRow {
    private static let columns: [(field: Int32, column: ItemColumn)] = [
        (LARDER_FIELD_PATH, .path), (LARDER_FIELD_NAME, .name), (LARDER_FIELD_TYPE, .type), (LARDER_FIELD_SIZE, .size),
        (LARDER_FIELD_MIME_TYPE, .mimeType), (LARDER_FIELD_ETAG, .etag), (LARDER_FIELD_FILE_ID, .fileID),
        (LARDER_FIELD_LOCAL_ID, .localID), (LARDER_FIELD_LAST_MODIFIED, .lastModified),
        (LARDER_FIELD_LAST_USED, .lastUsed), (LARDER_FIELD_CLOUD_STATUS, .cloudStatus),
        (LARDER_FIELD_DOWNLOAD_TRIGGER, .downloadTrigger), (LARDER_FIELD_REMOVED, .removed),
        (LARDER_FIELD_FAVORITE, .favorite), (LARDER_FIELD_REMOTE_VERSION, .remoteVersion),
        (LARDER_FIELD_PARENT_PATH, .parentPath), (LARDER_FIELD_OWNER, .owner), (LARDER_FIELD_PERMISSIONS, .permissions),
        (LARDER_FIELD_SYNC_ACTIVITY, .syncActivity),
    ]

    func text(_ field: Int32) -> UnsafeBufferPointer<UInt8>? {
        switch field {
        case LARDER_FIELD_PATH: cursor.text(.path)
        case LARDER_FIELD_NAME: cursor.text(.name)
        case LARDER_FIELD_MIME_TYPE: cursor.text(.mimeType)
        case LARDER_FIELD_ETAG: cursor.text(.etag)
        case LARDER_FIELD_FILE_ID: cursor.text(.fileID)
        case LARDER_FIELD_LOCAL_ID: cursor.text(.localID)
        case LARDER_FIELD_DOWNLOAD_TRIGGER: cursor.text(.downloadTrigger)
        case LARDER_FIELD_PARENT_PATH: cursor.text(.parentPath)
        case LARDER_FIELD_OWNER: cursor.text(.owner)
        case LARDER_FIELD_PERMISSIONS: cursor.text(.permissions)
        case LARDER_FIELD_LOCAL_PATH: readLocalPath()
        case LARDER_FIELD_SHARES: shares?.list
        default: nil
        }
    }

    func integer(_ field: Int32) -> Int64? {
        let column: ItemColumn
        switch field {
        case LARDER_FIELD_SIZE: column = .size
        case LARDER_FIELD_LAST_MODIFIED: column = .lastModified
        case LARDER_FIELD_LAST_USED: column = .lastUsed
        case LARDER_FIELD_TYPE: column = .type
        case LARDER_FIELD_CLOUD_STATUS: column = .cloudStatus
        case LARDER_FIELD_REMOVED: column = .removed
        case LARDER_FIELD_FAVORITE: column = .favorite
        case LARDER_FIELD_REMOTE_VERSION: column = .remoteVersion
        case LARDER_FIELD_SYNC_ACTIVITY: column = .syncActivity
        case LARDER_FIELD_CLAIMS: return readClaims()
        default: return readCoverage()
        }
        return cursor.isNull(column) ? nil : cursor.integer(column)
    }
}

extension AvailableOfflineCoverage {
    /// Reads the coverage; nil unless the mask includes it.
    init?(fields: UInt64, database: Database, now: Timestamp) throws(Failure) {
        guard fields & (1 << UInt64(LARDER_FIELD_AVAILABLE_OFFLINE)) != 0 else { return nil }
        do { self = try database.readBlocking { try Self($0, now: now) } } catch {
            throw error as? Failure ?? Failure(.internal, "\(error)")
        }
    }
}

extension AvailableOfflineLevel {
    /// The number of the level in the ABI.
    fileprivate var number: UInt32 {
        switch self {
        case .none: LARDER_AVAILABLE_OFFLINE_NONE
        case .direct: LARDER_AVAILABLE_OFFLINE_DIRECT
        case .indirect: LARDER_AVAILABLE_OFFLINE_INDIRECT
        }
    }
}

extension SharesOfItems {
    /// Reads the shares; nil unless the mask includes them and there are shares.
    convenience init?(fields: UInt64, _ session: ReadSession) throws(Failure) {
        guard fields & (1 << UInt64(LARDER_FIELD_SHARES)) != 0 else { return nil }
        try self.init(session)
    }
}

/// The items with valid claims. They are read only for processors that read the field.
struct ClaimedItems {
    private let kinds: [LocalID: ClaimKinds]

    /// Reads the claims; nil unless the mask includes them.
    init?(fields: UInt64, database: Database, world: @autoclosure () -> ClaimWorld) throws(Failure) {
        guard fields & (1 << UInt64(LARDER_FIELD_CLAIMS)) != 0 else { return nil }
        do {
            kinds = try database.readBlocking { try $0.claims.kinds(in: world()) }
        } catch {
            throw error as? Failure ?? Failure(.internal, "\(error)")
        }
    }

    func kinds(of item: UnsafeBufferPointer<UInt8>?) -> ClaimKinds {
        guard !kinds.isEmpty, let item else { return [] }
        return kinds[LocalID(String(decoding: item, as: UTF8.self))] ?? []
    }
}
