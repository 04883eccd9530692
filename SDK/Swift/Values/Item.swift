/// A file or folder of the account, borrowed for the call. Only the fields that were asked for have values.
public struct Item: ~Escapable {
    private let item: UnsafePointer<larder_item>

    @_lifetime(borrow item)
    init(_ item: borrowing UnsafePointer<larder_item>) { self.item = copy item }

    /// Tells whether all of these fields were asked for and have a value.
    public func has(_ fields: ItemFields) -> Bool { fields.isSubset(of: ItemFields(rawValue: item.pointee.present)) }

    private func number<Number: BinaryInteger>(_ value: Number, _ field: ItemFields) -> Number? {
        has(field) ? value : nil
    }

    @_lifetime(copy self)
    private func text(_ value: larder_str, _ field: ItemFields) -> Text? {
        has(field) ? _overrideLifetime(Text(unsafe: value), copying: self) : nil
    }

    /// On the server, decoded, without a closing slash.
    public var path: Text? { @_lifetime(copy self) get { text(item.pointee.path, .path) } }
    public var name: Text? { @_lifetime(copy self) get { text(item.pointee.name, .name) } }
    public var mimeType: Text? { @_lifetime(copy self) get { text(item.pointee.mime_type, .mimeType) } }
    /// Of the newest version that is known.
    public var etag: Text? { @_lifetime(copy self) get { text(item.pointee.etag, .etag) } }
    /// The server's id.
    public var fileID: Text? { @_lifetime(copy self) get { text(item.pointee.file_id, .fileID) } }
    /// The host's id, the same through moves.
    public var localID: Text? { @_lifetime(copy self) get { text(item.pointee.local_id, .localID) } }
    /// What made the copy: `user`, `availableOffline`, or another plugin's id.
    public var downloadTrigger: Text? {
        @_lifetime(copy self) get { text(item.pointee.download_trigger, .downloadTrigger) }
    }
    public var parentPath: Text? { @_lifetime(copy self) get { text(item.pointee.parent_path, .parentPath) } }
    public var owner: Text? { @_lifetime(copy self) get { text(item.pointee.owner, .owner) } }
    public var permissions: Text? { @_lifetime(copy self) get { text(item.pointee.permissions, .permissions) } }
    /// Of the copy, absolute.
    public var localPath: Text? { @_lifetime(copy self) get { text(item.pointee.local_path, .localPath) } }
    /// A JSON list of share ids.
    public var shares: Text? { @_lifetime(copy self) get { text(item.pointee.shares, .shares) } }

    /// In bytes.
    public var size: Int64? { number(item.pointee.size, .size) }
    /// Nanoseconds since 1970 UTC.
    public var lastModified: Int64? { number(item.pointee.last_modified, .lastModified) }
    /// Nanoseconds since 1970 UTC.
    public var lastUsed: Int64? { number(item.pointee.last_used, .lastUsed) }

    public var type: ItemType? { number(item.pointee.type, .type).flatMap(ItemType.init) }
    public var cloudStatus: CloudStatus? { number(item.pointee.cloud_status, .cloudStatus).flatMap(CloudStatus.init) }
    /// No longer on the server.
    public var isRemoved: Bool? { number(item.pointee.removed, .removed).map { $0 != 0 } }
    public var isFavorite: Bool? { number(item.pointee.favorite, .favorite).map { $0 != 0 } }
    public var remoteVersion: RemoteVersion? {
        number(item.pointee.remote_version, .remoteVersion).flatMap(RemoteVersion.init)
    }
    public var availableOffline: Coverage? {
        number(item.pointee.available_offline, .availableOffline).flatMap(Coverage.init)
    }
    public var syncActivity: SyncActivity? {
        number(item.pointee.sync_activity, .syncActivity).map(SyncActivity.init)
    }
    /// Empty if nobody claims the copy.
    public var claims: Claims? { number(item.pointee.claims, .claims).map(Claims.init) }
}
