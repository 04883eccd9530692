public import CLarder

/// A row from which an item's view is filled, one value at a time and without a copy.
public protocol ItemRow {
    /// Returns the text of a field, borrowed until the row is freed; nil if the field has none.
    func text(_ field: Int32) -> UnsafeBufferPointer<UInt8>?
    /// Returns the number of a field; nil if the field has none.
    func integer(_ field: Int32) -> Int64?
}

/// Returns a view without any field.
public func emptyItemView() -> larder_item {
    var view = larder_item()
    view.struct_size = UInt32(MemoryLayout<larder_item>.size)
    return view
}

/// The fields that this host fills, as bits of a mask.
public let knownItemFields: UInt64 = (1 << (UInt64(LARDER_FIELD_CLAIMS) + 1)) - 1

/// Fills a plugin's view of an item from a row, with the fields of the mask and no others.
///
/// The function is generic and inlined so that a row's columns are read without a call in between, because a pass over
/// many items spends its time here. A view that is filled again must be filled with the same mask.
@inlinable
public func fill(_ view: inout larder_item, fields: UInt64, from row: some ItemRow) {
    var present: UInt64 = 0
    // The loop goes bit by bit, so that a field that is not in the mask costs nothing.
    var left = fields & knownItemFields
    while left != 0 {
        let field = Int32(truncatingIfNeeded: left.trailingZeroBitCount)
        left &= left - 1
        switch field {
        case LARDER_FIELD_PATH: set(&view.path, field, row, &present)
        case LARDER_FIELD_NAME: set(&view.name, field, row, &present)
        case LARDER_FIELD_MIME_TYPE: set(&view.mime_type, field, row, &present)
        case LARDER_FIELD_ETAG: set(&view.etag, field, row, &present)
        case LARDER_FIELD_FILE_ID: set(&view.file_id, field, row, &present)
        case LARDER_FIELD_LOCAL_ID: set(&view.local_id, field, row, &present)
        case LARDER_FIELD_DOWNLOAD_TRIGGER: set(&view.download_trigger, field, row, &present)
        case LARDER_FIELD_PARENT_PATH: set(&view.parent_path, field, row, &present)
        case LARDER_FIELD_OWNER: set(&view.owner, field, row, &present)
        case LARDER_FIELD_PERMISSIONS: set(&view.permissions, field, row, &present)
        case LARDER_FIELD_LOCAL_PATH: set(&view.local_path, field, row, &present)
        case LARDER_FIELD_SHARES: set(&view.shares, field, row, &present)
        case LARDER_FIELD_SIZE: set(&view.size, field, row, &present)
        case LARDER_FIELD_LAST_MODIFIED: set(&view.last_modified, field, row, &present)
        case LARDER_FIELD_LAST_USED: set(&view.last_used, field, row, &present)
        case LARDER_FIELD_TYPE: set(&view.type, field, row, &present)
        case LARDER_FIELD_CLOUD_STATUS: set(&view.cloud_status, field, row, &present)
        case LARDER_FIELD_REMOVED: set(&view.removed, field, row, &present)
        case LARDER_FIELD_FAVORITE: set(&view.favorite, field, row, &present)
        case LARDER_FIELD_REMOTE_VERSION: set(&view.remote_version, field, row, &present)
        case LARDER_FIELD_AVAILABLE_OFFLINE: set(&view.available_offline, field, row, &present)
        case LARDER_FIELD_CLAIMS: set(&view.claims, field, row, &present)
        default: set(&view.sync_activity, field, row, &present)
        }
    }
    view.present = present
}

/// Sets a member of a view. Without a value the member is zero and its bit is not set.
@inlinable @inline(__always)
func set(_ member: inout larder_str, _ field: Int32, _ row: some ItemRow, _ present: inout UInt64) {
    if let bytes = row.text(field) {
        member = larder_str(borrowing: bytes)
        present |= 1 << UInt64(field)
    } else {
        member = larder_str(ptr: nil, len: 0)
    }
}

@inlinable @inline(__always)
func set(_ member: inout some FixedWidthInteger, _ field: Int32, _ row: some ItemRow, _ present: inout UInt64) {
    let number = row.integer(field)
    member = .init(truncatingIfNeeded: number ?? 0)
    if number != nil { present |= 1 << UInt64(field) }
}
