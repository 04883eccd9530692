import CLarder
import Glibc
import Model

/// The texts for one call to the fake host. The copies live as long as this object.
private final class Texts {
    private var copies: [UnsafeMutablePointer<CChar>] = []

    func text(_ string: String?) -> larder_str {
        guard let string, let copy = strdup(string) else { return larder_str() }
        copies.append(copy)
        return larder_str(ptr: copy, len: UInt64(string.utf8.count))
    }

    deinit { for copy in copies { free(copy) } }
}

/// Gives `body` the item in the form that a plugin sees, with all its fields.
func withView(of item: Item, _ body: (UnsafePointer<larder_item>) -> Void) {
    let texts = Texts()
    var view = larder_item()
    view.struct_size = UInt32(MemoryLayout<larder_item>.size)
    func has(_ field: Int32) { view.present |= 1 << UInt64(field) }
    func text(_ field: Int32, _ value: String?, _ member: WritableKeyPath<larder_item, larder_str>) {
        guard let value else { return }
        has(field)
        view[keyPath: member] = texts.text(value)
    }
    text(LARDER_FIELD_PATH, item.path.text, \.path)
    text(LARDER_FIELD_NAME, item.path.name, \.name)
    text(LARDER_FIELD_PARENT_PATH, item.path.isRoot ? nil : item.path.parent.text, \.parent_path)
    text(LARDER_FIELD_LOCAL_ID, item.localID.text, \.local_id)
    text(LARDER_FIELD_ETAG, item.etag?.opaque, \.etag)
    text(LARDER_FIELD_DOWNLOAD_TRIGGER, item.downloadTrigger?.text, \.download_trigger)
    for field in [LARDER_FIELD_TYPE, LARDER_FIELD_CLOUD_STATUS, LARDER_FIELD_REMOVED, LARDER_FIELD_FAVORITE] {
        has(field)
    }
    view.type = UInt32(item.kind.rawValue)
    view.cloud_status = UInt32(item.cloudStatus.rawValue)
    view.removed = item.isRemoved ? 1 : 0
    view.favorite = item.isFavorite ? 1 : 0
    if let size = item.size {
        has(LARDER_FIELD_SIZE)
        view.size = size
    }
    if let time = item.lastModified {
        has(LARDER_FIELD_LAST_MODIFIED)
        view.last_modified = time.nanoseconds
    }
    if let time = item.lastUsed {
        has(LARDER_FIELD_LAST_USED)
        view.last_used = time.nanoseconds
    }
    if let version = item.remoteVersion {
        has(LARDER_FIELD_REMOTE_VERSION)
        view.remote_version = UInt32(version.rawValue)
    }
    withExtendedLifetime(texts) { body(&view) }
}

func withView(of policy: ItemPolicy, _ body: (UnsafePointer<larder_policy>) -> Void) {
    let texts = Texts()
    var view = larder_policy()
    view.struct_size = UInt32(MemoryLayout<larder_policy>.size)
    view.revision = policy.revision
    view.id = texts.text(policy.id.text)
    view.kind = texts.text(policy.kind.text)
    view.identifier = texts.text(policy.identifier)
    view.description = texts.text(policy.description)
    view.condition = texts.text(policy.condition)
    view.path = texts.text(policy.path?.text)
    view.local_id = texts.text(policy.localID?.text)
    view.remove_when_none = texts.text(policy.removeWhenNone)
    withExtendedLifetime(texts) { body(&view) }
}

extension ItemPolicy {
    init(_ view: larder_policy) {
        func text(_ text: larder_str) -> String? { text.ptr == nil ? nil : String(text) }
        self.init(
            id: PolicyID(String(view.id)), kind: PolicyKind(String(view.kind)), identifier: text(view.identifier),
            description: text(view.description), condition: String(view.condition),
            path: text(view.path).map { ItemPath(unchecked: $0) }, localID: text(view.local_id).map { LocalID($0) },
            removeWhenNone: text(view.remove_when_none), data: nil, revision: view.revision)
    }
}
