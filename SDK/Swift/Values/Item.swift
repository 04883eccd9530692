/// A file or folder of the account, borrowed for the call. A property is nil if the plugin did not ask for the field or
/// the item has no value for it.
///
/// ```swift
/// if item.type == .file, let size = item.size, size > 1_000_000 {
///     host.log?.debug("\(item.path?.copied() ?? "") has \(size) bytes")
/// }
/// ```
public struct Item: ~Escapable {
    private let item: UnsafePointer<larder_item>

    @_lifetime(borrow item)
    init(_ item: borrowing UnsafePointer<larder_item>) { self.item = copy item }

    /// Tells whether the plugin asked for all of these fields and the item has values for them.
    public func has(_ fields: ItemFields) -> Bool { fields.isSubset(of: ItemFields(rawValue: item.pointee.present)) }

    private func number<Number: BinaryInteger>(_ value: Number, _ field: ItemFields) -> Number? {
        has(field) ? value : nil
    }

    @_lifetime(copy self)
    private func text(_ value: larder_str, _ field: ItemFields) -> Text? {
        has(field) ? _overrideLifetime(Text(unsafe: value), copying: self) : nil
    }

    /// The path on the server, decoded, without a closing slash: `/Photos/Ada.jpg`. The root is `/`.
    public var path: Text? { @_lifetime(copy self) get { text(item.pointee.path, .path) } }
    /// The last part of the path: `Ada.jpg`.
    public var name: Text? { @_lifetime(copy self) get { text(item.pointee.name, .name) } }
    /// The MIME type: `image/jpeg`.
    public var mimeType: Text? { @_lifetime(copy self) get { text(item.pointee.mime_type, .mimeType) } }
    /// The ETag of the newest known version, without quotes and `W/`.
    public var etag: Text? { @_lifetime(copy self) get { text(item.pointee.etag, .etag) } }
    /// The server's id of the item.
    public var fileID: Text? { @_lifetime(copy self) get { text(item.pointee.file_id, .fileID) } }
    /// The host's id of the item, which survives moves. Actions take it.
    public var localID: Text? { @_lifetime(copy self) get { text(item.pointee.local_id, .localID) } }
    /// The cause of the copy: `user`, `availableOffline`, or another plugin's id.
    public var downloadTrigger: Text? {
        @_lifetime(copy self) get { text(item.pointee.download_trigger, .downloadTrigger) }
    }
    /// The path of the folder that the item is in: `/Photos`.
    public var parentPath: Text? { @_lifetime(copy self) get { text(item.pointee.parent_path, .parentPath) } }
    /// The owner's name on the server.
    public var owner: Text? { @_lifetime(copy self) get { text(item.pointee.owner, .owner) } }
    /// The permissions as the server's letters: `RDNVW`.
    public var permissions: Text? { @_lifetime(copy self) get { text(item.pointee.permissions, .permissions) } }
    /// The absolute path of the copy.
    public var localPath: Text? { @_lifetime(copy self) get { text(item.pointee.local_path, .localPath) } }
    /// A JSON list of share ids. Nil as long as no loop polls shares.
    public var shares: Text? { @_lifetime(copy self) get { text(item.pointee.shares, .shares) } }

    /// The size in bytes.
    public var size: Int64? { number(item.pointee.size, .size) }
    /// The time of the last change, in nanoseconds since 1970 UTC.
    public var lastModified: Int64? { number(item.pointee.last_modified, .lastModified) }
    /// The time of the last use of the copy, in nanoseconds since 1970 UTC.
    public var lastUsed: Int64? { number(item.pointee.last_used, .lastUsed) }

    /// Whether the item is a file or a folder.
    public var type: ItemType? { number(item.pointee.type, .type).flatMap(ItemType.init) }
    /// The place of the item's content.
    public var cloudStatus: CloudStatus? { number(item.pointee.cloud_status, .cloudStatus).flatMap(CloudStatus.init) }
    /// Whether the item is no longer on the server.
    public var isRemoved: Bool? { number(item.pointee.removed, .removed).map { $0 != 0 } }
    /// Whether the item is marked as a favorite on the server.
    public var isFavorite: Bool? { number(item.pointee.favorite, .favorite).map { $0 != 0 } }
    /// Whether the server has a newer version than the copy. Nil without a copy.
    public var remoteVersion: RemoteVersion? {
        number(item.pointee.remote_version, .remoteVersion).flatMap(RemoteVersion.init)
    }
    /// Whether policies keep the item here.
    public var availableOffline: Coverage? {
        number(item.pointee.available_offline, .availableOffline).flatMap(Coverage.init)
    }
    /// The operations that are in progress on the item.
    public var syncActivity: SyncActivity? {
        number(item.pointee.sync_activity, .syncActivity).map(SyncActivity.init)
    }
    /// The claims on the copy. Empty if nobody claims it.
    public var claims: Claims? { number(item.pointee.claims, .claims).map(Claims.init) }
}
