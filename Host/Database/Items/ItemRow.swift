import Model

/// The conversion between an item and its row.
extension Item {
    /// Creates the item from a row that was selected with all columns.
    init(_ row: RawStatement) {
        let text = { (column: ItemColumn) in row.text(column.rawValue) }
        let integer = { (column: ItemColumn) in row.integer(column.rawValue) }
        let time = { (column: ItemColumn) in row.integer(column.rawValue).map(Timestamp.init(nanoseconds:)) }
        self.init(
            databaseID: row.id(ItemColumn.databaseID.rawValue),
            localID: LocalID(text(.localID) ?? ""),
            fileID: text(.fileID).map(FileID.init),
            path: ItemPath(unchecked: text(.path) ?? ""),
            kind: row.kind(ItemColumn.type.rawValue),
            size: integer(.size),
            mimeType: text(.mimeType),
            etag: ETag(text(.etag), strength: integer(.etagStrength)),
            lastModified: time(.lastModified),
            isFavorite: integer(.favorite) == 1,
            owner: text(.owner),
            permissions: text(.permissions),
            removedAt: time(.removedAt),
            cloudStatus: row.status(ItemColumn.cloudStatus.rawValue),
            copy: LocalCopy(row, from: ItemColumn.copyETag.rawValue),
            downloadTrigger: text(.downloadTrigger).map(DownloadTrigger.init),
            formerTrigger: text(.formerTrigger).map(DownloadTrigger.init),
            lastUsed: time(.lastUsed),
            syncActivity: SyncActivity(rawValue: integer(.syncActivity) ?? 0),
            anchor: integer(.anchor) ?? 0)
    }

    /// The columns of an item's identity and server properties, in the order of ``bindIdentity(to:)``. The scan owns
    /// `listedETag` and `racy`.
    static let identityColumns: [ItemColumn] = [
        .localID, .fileID, .path, .parentPath, .name, .type, .size, .mimeType, .etag, .etagStrength, .lastModified,
        .favorite, .owner, .permissions, .removedAt,
    ]

    /// The columns of an item's local state, in the order of ``bindLocal(to:after:anchor:)``.
    static let localColumns: [ItemColumn] = [
        .cloudStatus, .copyETag, .copyETagStrength, .copyDigest, .copyInode, .copySize, .copyModified, .copyChanged,
        .copyRecorded, .downloadTrigger, .formerTrigger, .lastUsed, .syncActivity, .anchor,
    ]

    func bindIdentity(to statement: RawStatement) {
        statement.bind(1, localID.text)
        statement.bind(2, fileID?.text)
        statement.bind(3, path.text)
        statement.bind(4, path.parent.text)
        statement.bind(5, path.name)
        statement.bind(6, Int64(kind.rawValue))
        statement.bind(7, size)
        statement.bind(8, mimeType)
        statement.bind(9, etag?.opaque)
        statement.bind(10, etag.map { Int64($0.strength.rawValue) })
        statement.bind(11, lastModified?.nanoseconds)
        statement.bind(12, isFavorite ? 1 : 0)
        statement.bind(13, owner)
        statement.bind(14, permissions)
        statement.bind(15, removedAt?.nanoseconds)
    }

    /// Binds the values of ``localColumns``.
    /// - Parameter count: The number of arguments that come before.
    func bindLocal(to statement: RawStatement, after count: Int, anchor: Int64) {
        let before = Int32(count)
        statement.bind(before + 1, Int64(cloudStatus.rawValue))
        statement.bind(before + 2, copy?.etag.opaque)
        statement.bind(before + 3, copy.map { Int64($0.etag.strength.rawValue) })
        statement.bind(before + 4, copy?.digest)
        statement.bind(before + 5, copy.map { Int64(bitPattern: $0.mark.inode) })
        statement.bind(before + 6, copy?.mark.size)
        statement.bind(before + 7, copy?.mark.modified.nanoseconds)
        statement.bind(before + 8, copy?.mark.changed.nanoseconds)
        statement.bind(before + 9, copy?.mark.recorded.nanoseconds)
        statement.bind(before + 10, downloadTrigger?.text)
        statement.bind(before + 11, formerTrigger?.text)
        statement.bind(before + 12, lastUsed?.nanoseconds)
        statement.bind(before + 13, syncActivity.rawValue)
        statement.bind(before + 14, anchor)
    }
}

extension RawStatement {
    func kind(_ column: Int32) -> Item.Kind { integer(column) == Int64(Item.Kind.folder.rawValue) ? .folder : .file }

    func status(_ column: Int32) -> CloudStatus {
        integer(column).flatMap { CloudStatus(rawValue: Int(clamping: $0)) } ?? .cloudOnly
    }
}

extension ETag {
    /// Creates an ETag, or nil without an opaque part.
    init?(_ opaque: String?, strength: Int64?) {
        guard let opaque else { return nil }
        self.init(opaque: opaque, strength: strength.flatMap { Strength(rawValue: Int($0)) } ?? .strong)
    }
}

extension LocalCopy {
    /// Creates a copy from eight columns from `first` on, in the order of the table's columns.
    ///
    /// The result is nil if the row has no copy, or an incomplete one, so that no incomplete copy counts as known.
    init?(_ row: RawStatement, from first: Int32) {
        guard let etag = ETag(row.text(first), strength: row.integer(first + 1)), let digest = row.blob(first + 2),
            let inode = row.integer(first + 3), let size = row.integer(first + 4),
            let modified = row.integer(first + 5),
            let changed = row.integer(first + 6), let recorded = row.integer(first + 7)
        else { return nil }
        self.init(
            etag: etag, digest: digest,
            mark: FileMark(
                inode: UInt64(bitPattern: inode), size: size, modified: Timestamp(nanoseconds: modified),
                changed: Timestamp(nanoseconds: changed), recorded: Timestamp(nanoseconds: recorded)))
    }
}
