// The properties of items, once as sides of a comparison and once as the begin of a condition, such as
// `.path.startsWith("/Photos/")`: what is written with a leading dot is looked for in the type that is expected.

extension Operand where Value == String {
    public static var path: Self { Self(property: "path") }
    public static var name: Self { Self(property: "name") }
    public static var mimeType: Self { Self(property: "mimeType") }
    public static var etag: Self { Self(property: "etag") }
    public static var fileID: Self { Self(property: "fileID") }
    public static var localID: Self { Self(property: "localID") }
    public static var downloadTrigger: Self { Self(property: "downloadTrigger") }
}

extension Operand where Value == Int64 {
    /// In bytes.
    public static var size: Self { Self(property: "size") }
}

extension Operand where Value == Moment {
    public static var lastModified: Self { Self(property: "lastModified") }
    public static var lastUsed: Self { Self(property: "lastUsed") }
    /// Since when an item is known to be no longer on the server.
    public static var removedAt: Self { Self(property: "removedAt") }
}

extension Operand where Value == ItemType {
    public static var type: Self { Self(property: "type") }
}

extension Operand where Value == CloudStatus {
    public static var cloudStatus: Self { Self(property: "cloudStatus") }
}

extension Operand where Value == RemoteVersion {
    public static var remoteVersion: Self { Self(property: "remoteVersion") }
}

extension Operand where Value == Bool {
    public static var removed: Self { Self(property: "removed") }
    public static var favorite: Self { Self(property: "favorite") }
}

extension Condition {
    public static var path: Operand<String> { .path }
    public static var name: Operand<String> { .name }
    public static var mimeType: Operand<String> { .mimeType }
    public static var etag: Operand<String> { .etag }
    public static var fileID: Operand<String> { .fileID }
    public static var localID: Operand<String> { .localID }
    public static var downloadTrigger: Operand<String> { .downloadTrigger }
    /// In bytes.
    public static var size: Operand<Int64> { .size }
    public static var lastModified: Operand<Moment> { .lastModified }
    public static var lastUsed: Operand<Moment> { .lastUsed }
    /// Since when an item is known to be no longer on the server.
    public static var removedAt: Operand<Moment> { .removedAt }
    public static var type: Operand<ItemType> { .type }
    public static var cloudStatus: Operand<CloudStatus> { .cloudStatus }
    public static var remoteVersion: Operand<RemoteVersion> { .remoteVersion }
    /// No longer on the server.
    public static var removed: Condition { Condition("removed", .unary) }
    /// Marked as such on the server.
    public static var favorite: Condition { Condition("favorite", .unary) }
}
