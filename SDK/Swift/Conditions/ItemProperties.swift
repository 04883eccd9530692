// The properties of items, once as operands of a comparison, and once as the start of a condition such as
// `.path.startsWith("/Photos/")`: the compiler looks a name with a leading dot up in the expected type.

extension Operand where Value == String {
    /// The path on the server, decoded, without a closing slash.
    public static var path: Self { Self(property: "path") }
    /// The last part of the path.
    public static var name: Self { Self(property: "name") }
    /// The MIME type: `image/jpeg`.
    public static var mimeType: Self { Self(property: "mimeType") }
    /// The ETag of the newest known version.
    public static var etag: Self { Self(property: "etag") }
    /// The server's id of the item.
    public static var fileID: Self { Self(property: "fileID") }
    /// The host's id of the item.
    public static var localID: Self { Self(property: "localID") }
    /// The cause of the copy: `user`, `availableOffline`, or another plugin's id.
    public static var downloadTrigger: Self { Self(property: "downloadTrigger") }
    /// The path of the folder that contains the item; nil for the root.
    public static var parentPath: Self { Self(property: "parentPath") }
    /// The owner, as the server tells it.
    public static var owner: Self { Self(property: "owner") }
}

extension Operand where Value == Coverage {
    /// Whether policies keep the item here. Not in the condition of a policy.
    public static var availableOffline: Self { Self(property: "availableOffline") }
}

extension Operand where Value == Int64 {
    /// The size in bytes.
    public static var size: Self { Self(property: "size") }
}

extension Operand where Value == Moment {
    /// The time of the last change.
    public static var lastModified: Self { Self(property: "lastModified") }
    /// The time of the last use of the copy.
    public static var lastUsed: Self { Self(property: "lastUsed") }
    /// The time since which the item is known to be no longer on the server.
    public static var removedAt: Self { Self(property: "removedAt") }
}

extension Operand where Value == ItemType {
    /// Whether the item is a file or a folder.
    public static var type: Self { Self(property: "type") }
}

extension Operand where Value == CloudStatus {
    /// The place of the item's content.
    public static var cloudStatus: Self { Self(property: "cloudStatus") }
}

extension Operand where Value == RemoteVersion {
    /// Whether the server has a newer version than the copy.
    public static var remoteVersion: Self { Self(property: "remoteVersion") }
}

extension Operand where Value == Bool {
    /// Whether the item is no longer on the server.
    public static var removed: Self { Self(property: "removed") }
    /// Whether the item is marked as a favorite on the server.
    public static var favorite: Self { Self(property: "favorite") }
    /// Whether a valid claim is on the item. Not in the condition of a policy.
    public static var claimed: Self { Self(property: "claimed") }
}

extension Condition {
    /// The path on the server, decoded, without a closing slash.
    public static var path: Operand<String> { .path }
    /// The last part of the path.
    public static var name: Operand<String> { .name }
    /// The MIME type: `image/jpeg`.
    public static var mimeType: Operand<String> { .mimeType }
    /// The ETag of the newest known version.
    public static var etag: Operand<String> { .etag }
    /// The server's id of the item.
    public static var fileID: Operand<String> { .fileID }
    /// The host's id of the item.
    public static var localID: Operand<String> { .localID }
    /// The cause of the copy: `user`, `availableOffline`, or another plugin's id.
    public static var downloadTrigger: Operand<String> { .downloadTrigger }
    /// The path of the folder that contains the item; nil for the root.
    public static var parentPath: Operand<String> { .parentPath }
    /// The owner, as the server tells it.
    public static var owner: Operand<String> { .owner }
    /// Whether policies keep the item here. Not in the condition of a policy.
    public static var availableOffline: Operand<Coverage> { .availableOffline }
    /// The size in bytes.
    public static var size: Operand<Int64> { .size }
    /// The time of the last change.
    public static var lastModified: Operand<Moment> { .lastModified }
    /// The time of the last use of the copy.
    public static var lastUsed: Operand<Moment> { .lastUsed }
    /// The time since which the item is known to be no longer on the server.
    public static var removedAt: Operand<Moment> { .removedAt }
    /// Whether the item is a file or a folder.
    public static var type: Operand<ItemType> { .type }
    /// The place of the item's content.
    public static var cloudStatus: Operand<CloudStatus> { .cloudStatus }
    /// Whether the server has a newer version than the copy.
    public static var remoteVersion: Operand<RemoteVersion> { .remoteVersion }
    /// The condition that an item is no longer on the server.
    public static var removed: Condition { Condition("removed", .unary) }
    /// The condition that an item is marked as a favorite on the server.
    public static var favorite: Condition { Condition("favorite", .unary) }
    /// The condition that a valid claim is on the item. Not in the condition of a policy.
    public static var claimed: Condition { Condition("claimed", .unary) }

    /// Returns the condition that all of these operations are in progress on the item. Without operations, every item
    /// meets it.
    public static func isInProgress(_ activity: SyncActivity) -> Condition {
        let names: [(SyncActivity, String)] = [
            (.downloading, "downloading"), (.uploading, "uploading"), (.deleting, "deleting"), (.moving, "moving"),
            (.copying, "copying"), (.creating, "creating"), (.updating, "updating"),
        ]
        return all(
            of: names.filter { activity.contains($0.0) }.map {
                Condition("\($0.1.literal) in syncActivity", .relation)
            })
    }
}
