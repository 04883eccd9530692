import CLarder
import Glibc
import Model
import PluginHost

/// An item on the stage.
final class FakeItem {
    static let textFields: [(field: Int32, member: any WritableKeyPath<larder_item, larder_str> & Sendable)] = [
        (LARDER_FIELD_PATH, \.path), (LARDER_FIELD_NAME, \.name), (LARDER_FIELD_MIME_TYPE, \.mime_type),
        (LARDER_FIELD_ETAG, \.etag), (LARDER_FIELD_FILE_ID, \.file_id), (LARDER_FIELD_LOCAL_ID, \.local_id),
        (LARDER_FIELD_DOWNLOAD_TRIGGER, \.download_trigger), (LARDER_FIELD_PARENT_PATH, \.parent_path),
        (LARDER_FIELD_OWNER, \.owner), (LARDER_FIELD_PERMISSIONS, \.permissions),
        (LARDER_FIELD_LOCAL_PATH, \.local_path), (LARDER_FIELD_SHARES, \.shares),
    ]

    let localID: LocalID
    private let present: UInt64
    private let view: larder_item
    private let texts: [Int32: [UInt8]]
    /// The item as the host knows it, for conditions.
    private(set) lazy var item = makeItem()

    init(_ given: larder_item) {
        view = given
        present = given.present
        var texts: [Int32: [UInt8]] = [:]
        for (field, member) in Self.textFields where given.present >> UInt64(field) & 1 != 0 {
            let text = given[keyPath: member]
            texts[field] = Array(UnsafeRawBufferPointer(start: text.ptr, count: Int(text.len)))
        }
        self.texts = texts
        localID = LocalID(String(decoding: texts[LARDER_FIELD_LOCAL_ID] ?? [], as: UTF8.self))
    }

    /// The path; nil if the test gave none.
    var path: String? { string(LARDER_FIELD_PATH) }

    func text(_ field: Int32) -> [UInt8]? { texts[field] }

    func integer(_ field: Int32) -> Int64? {
        guard present >> UInt64(field) & 1 != 0 else { return nil }
        switch field {
        case LARDER_FIELD_SIZE: return view.size
        case LARDER_FIELD_LAST_MODIFIED: return view.last_modified
        case LARDER_FIELD_LAST_USED: return view.last_used
        case LARDER_FIELD_TYPE: return Int64(view.type)
        case LARDER_FIELD_CLOUD_STATUS: return Int64(view.cloud_status)
        case LARDER_FIELD_REMOVED: return Int64(view.removed)
        case LARDER_FIELD_FAVORITE: return Int64(view.favorite)
        case LARDER_FIELD_REMOTE_VERSION: return Int64(view.remote_version)
        case LARDER_FIELD_AVAILABLE_OFFLINE: return Int64(view.available_offline)
        case LARDER_FIELD_SYNC_ACTIVITY: return Int64(view.sync_activity)
        case LARDER_FIELD_CLAIMS: return Int64(view.claims)
        default: return nil
        }
    }

    /// Tells whether this item comes before another one by the field of a query. Items without a value come first.
    func precedes(_ other: FakeItem, by field: Int32) -> Bool? {
        if let (mine, theirs) = pair(text(field), other.text(field)) {
            return mine == theirs ? nil : mine.lexicographicallyPrecedes(theirs)
        }
        if let (mine, theirs) = pair(integer(field), other.integer(field)) {
            return mine == theirs ? nil : mine < theirs
        }
        let (has, hasOther) = (
            text(field) != nil || integer(field) != nil, other.text(field) != nil || other.integer(field) != nil
        )
        return has == hasOther ? nil : hasOther
    }

    private func pair<Value>(_ one: Value?, _ other: Value?) -> (Value, Value)? {
        if let one, let other { (one, other) } else { nil }
    }

    /// Fills a lent struct with all fields, for the test's own evaluation of conditions.
    func withWholeView<Result>(_ body: (UnsafePointer<larder_item>) -> Result) -> Result {
        let arena = Arena()
        return body(arena.copy(lent(fields: ~0, in: arena)))
    }

    /// Returns a view of the item with fields of a mask.
    func lent(fields: UInt64, in arena: Arena) -> larder_item {
        var lent = emptyItemView()
        fill(&lent, fields: fields, from: Row(item: self, arena: arena))
        return lent
    }

    private struct Row: ItemRow {
        let item: FakeItem
        let arena: Arena

        func text(_ field: Int32) -> UnsafeBufferPointer<UInt8>? {
            item.text(field).map { UnsafeBufferPointer(start: arena.bytes($0), count: $0.count) }
        }
        func integer(_ field: Int32) -> Int64? { item.integer(field) }
    }

    private func string(_ field: Int32) -> String? { texts[field].map { String(decoding: $0, as: UTF8.self) } }

    private func makeItem() -> Item {
        let status = integer(LARDER_FIELD_CLOUD_STATUS).flatMap { CloudStatus(rawValue: Int($0)) } ?? .cloudOnly
        let isHere = status == .localCopy || status == .locallyModified
        let isNewer = integer(LARDER_FIELD_REMOTE_VERSION) == Int64(LARDER_REMOTE_VERSION_NEWER)
        let time = { (field: Int32) in self.integer(field).map { Timestamp(nanoseconds: $0) } }
        let none = ETag(opaque: "", strength: .strong)
        // A copy is current if its ETag is the item's. Where the test gives none, a current copy and its item share one.
        let given = string(LARDER_FIELD_ETAG).map { ETag(opaque: $0, strength: .strong) }
        let etag = given ?? (isHere && !isNewer ? none : nil)
        let mark = FileMark(
            inode: 0, size: view.size, modified: Timestamp(nanoseconds: 0), changed: Timestamp(nanoseconds: 0),
            recorded: Timestamp(nanoseconds: 0))
        return Item(
            localID: localID, fileID: string(LARDER_FIELD_FILE_ID).map { FileID($0) },
            path: ItemPath(unchecked: path ?? "/"),
            kind: integer(LARDER_FIELD_TYPE) == Int64(LARDER_TYPE_FOLDER) ? .folder : .file,
            size: integer(LARDER_FIELD_SIZE), mimeType: string(LARDER_FIELD_MIME_TYPE), etag: etag,
            lastModified: time(LARDER_FIELD_LAST_MODIFIED), isFavorite: integer(LARDER_FIELD_FAVORITE) == 1,
            owner: string(LARDER_FIELD_OWNER), permissions: string(LARDER_FIELD_PERMISSIONS),
            removedAt: integer(LARDER_FIELD_REMOVED) == 1 ? Timestamp(nanoseconds: 0) : nil, cloudStatus: status,
            copy: isHere ? LocalCopy(etag: isNewer ? none : etag ?? none, digest: [], mark: mark) : nil,
            downloadTrigger: string(LARDER_FIELD_DOWNLOAD_TRIGGER).map { DownloadTrigger($0) },
            lastUsed: time(LARDER_FIELD_LAST_USED),
            syncActivity: SyncActivity(rawValue: integer(LARDER_FIELD_SYNC_ACTIVITY) ?? 0))
    }
}

/// A stream of items. The memory of an item is freed when the next one comes.
final class FakeItemSource: ItemSource {
    private let items: [FakeItem]
    private let fields: UInt64
    private let lending: Lending
    private let lent: Arena
    private let name = Arena()
    private var index = 0
    private(set) var pathBytes = UnsafeBufferPointer<UInt8>(start: nil, count: 0)

    init(_ items: [FakeItem], fields: UInt64, _ lending: Lending = []) {
        (self.items, self.fields, self.lending) = (items, fields, lending)
        lent = Arena(lending)
    }

    func next(_ view: inout larder_item) throws(Failure) -> Bool {
        guard let next = take() else { return false }
        view = next
        return true
    }

    /// Returns the next item in memory that is lent as the host lends it; nil past the last one.
    func next() -> UnsafePointer<larder_item>? {
        guard var view = take() else { return nil }
        let size = MemoryLayout<larder_item>.size
        // A later version's struct has members behind those that are known.
        let whole = lending.contains(.larger) ? 2 * size : size
        view.struct_size = UInt32(whole)
        let place = lent.block(whole)
        memset(place, 0xA5, whole)
        let item = place.bindMemory(to: larder_item.self, capacity: 1)
        item.initialize(to: view)
        lent.seal()
        return UnsafePointer(item)
    }

    private func take() -> larder_item? {
        lent.free()
        name.free()
        guard index < items.count else { return nil }
        let item = items[index]
        index += 1
        var view = item.lent(fields: fields, in: lent)
        if lending.contains(.trapped) { view.trap(outside: fields) }
        lent.seal()
        let path = item.text(LARDER_FIELD_PATH) ?? []
        pathBytes = UnsafeBufferPointer(start: name.bytes(path), count: path.count)
        return view
    }
}
