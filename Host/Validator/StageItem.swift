import CLarder
import Glibc

/// An item that a check puts on the stage.
struct StageItem {
    var localID: String
    var path: String
    var isFolder = false
    var size: Int64? = 0
    var etag = "1"
    var mimeType: String?
    var modified: Int64 = Stage.now - Stage.day
    var lastUsed: Int64?
    var cloudStatus: UInt32 = LARDER_CLOUD_STATUS_CLOUD_ONLY
    var downloadTrigger: String?
    var isRemoved = false
    var isFavorite = false
    var isNewerRemote = false
    var owner: String?
    var permissions: String?
    var shares: String?
    var claims: UInt32 = 0
    /// The only bits of `present`; nil for all that have a value.
    var onlyPresent: UInt64?

    var isHere: Bool {
        cloudStatus == LARDER_CLOUD_STATUS_LOCAL_COPY || cloudStatus == LARDER_CLOUD_STATUS_LOCALLY_MODIFIED
    }

    /// Calls a body with the item as the interface has it.
    func withView(_ body: (UnsafePointer<larder_item>) -> Void) {
        var view = larder_item()
        view.struct_size = UInt32(MemoryLayout<larder_item>.size)
        var texts: [UnsafeMutablePointer<CChar>] = []
        defer { for text in texts { free(text) } }
        func set(_ member: WritableKeyPath<larder_item, larder_str>, _ field: Int32, _ text: String?) {
            guard let text, mayHave(field) else { return }
            let bytes = Array(text.utf8)
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
            _ = bytes.withUnsafeBytes { memcpy(copy, $0.baseAddress ?? UnsafeRawPointer(copy), $0.count) }
            copy[bytes.count] = 0
            texts.append(copy)
            view[keyPath: member] = larder_str(ptr: copy, len: UInt64(bytes.count))
            view.present |= 1 << UInt64(field)
        }
        func set<Number: FixedWidthInteger>(
            _ member: WritableKeyPath<larder_item, Number>, _ field: Int32, _ number: Number?
        ) {
            guard let number, mayHave(field) else { return }
            view[keyPath: member] = number
            view.present |= 1 << UInt64(field)
        }
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let parent = path == "/" ? nil : slash == path.startIndex ? "/" : String(path[..<slash])
        set(\.path, LARDER_FIELD_PATH, path)
        set(\.name, LARDER_FIELD_NAME, path == "/" ? "" : String(path[slash...].dropFirst()))
        set(\.mime_type, LARDER_FIELD_MIME_TYPE, mimeType)
        set(\.etag, LARDER_FIELD_ETAG, etag)
        set(\.file_id, LARDER_FIELD_FILE_ID, "file-\(localID)")
        set(\.local_id, LARDER_FIELD_LOCAL_ID, localID)
        set(\.download_trigger, LARDER_FIELD_DOWNLOAD_TRIGGER, isHere ? downloadTrigger : nil)
        set(\.parent_path, LARDER_FIELD_PARENT_PATH, parent)
        set(\.owner, LARDER_FIELD_OWNER, owner)
        set(\.permissions, LARDER_FIELD_PERMISSIONS, permissions)
        set(\.local_path, LARDER_FIELD_LOCAL_PATH, isHere ? "/home/ada/Cloud\(path)" : nil)
        set(\.shares, LARDER_FIELD_SHARES, shares)
        set(\.size, LARDER_FIELD_SIZE, isFolder ? nil : size)
        set(\.last_modified, LARDER_FIELD_LAST_MODIFIED, modified)
        set(\.last_used, LARDER_FIELD_LAST_USED, lastUsed)
        set(\.type, LARDER_FIELD_TYPE, isFolder ? LARDER_TYPE_FOLDER : LARDER_TYPE_FILE)
        set(\.cloud_status, LARDER_FIELD_CLOUD_STATUS, cloudStatus)
        set(\.removed, LARDER_FIELD_REMOVED, isRemoved ? 1 : 0)
        set(\.favorite, LARDER_FIELD_FAVORITE, isFavorite ? 1 : 0)
        set(
            \.remote_version, LARDER_FIELD_REMOTE_VERSION,
            !isHere || isFolder ? nil : isNewerRemote ? LARDER_REMOTE_VERSION_NEWER : LARDER_REMOTE_VERSION_CURRENT)
        set(\.sync_activity, LARDER_FIELD_SYNC_ACTIVITY, 0)
        set(\.claims, LARDER_FIELD_CLAIMS, claims)
        body(&view)
    }

    private func mayHave(_ field: Int32) -> Bool { onlyPresent.map { $0 >> UInt64(field) & 1 != 0 } ?? true }

    /// The trigger of a copy that the plugin under check brought. The stage knows its name.
    static let ownTrigger = "\u{0}own"

    /// Returns a file in one of the states that the interface knows.
    static func file(_ random: inout RandomNumbers) -> StageItem {
        let count = Int.random(in: 7...60, using: &random)
        return some(count, &random)[count - 1]
    }

    /// Returns the items of an account: folders, and files in every state that the interface knows.
    /// - Parameters:
    ///   - count: The number of items.
    ///   - random: The source of what differs between them.
    static func some(_ count: Int, _ random: inout RandomNumbers) -> [StageItem] {
        let folders = ["/Photos", "/Documents", "/Documents/old", "/Music", "/Archive", "/Podcasts"]
        let names = [
            "a.txt", "b.jpg", "c d.pdf", "100%.mp3", "é.txt", "e\u{301}.txt", "\"q\".md", "~$lock.docx", ".hidden",
        ]
        let kinds = ["text/plain", "image/jpeg", "application/pdf", "audio/mpeg", nil]
        let sizes: [Int64?] = [0, 1, 999, 4_096, 1_000_000, 5_000_000_000, nil]
        let statuses = [
            LARDER_CLOUD_STATUS_CLOUD_ONLY, LARDER_CLOUD_STATUS_LOCAL_COPY, LARDER_CLOUD_STATUS_LOCALLY_MODIFIED,
            LARDER_CLOUD_STATUS_LOCAL_ONLY,
        ]
        var items: [StageItem] = []
        items.reserveCapacity(count)
        for number in 0..<count {
            if number < folders.count {
                items.append(StageItem(localID: "id-\(number)", path: folders[number], isFolder: true))
                continue
            }
            let folder = folders[Int(random.next() % UInt64(folders.count))]
            let name = names[Int(random.next() % UInt64(names.count))]
            let bits = random.next()
            var item = StageItem(localID: "id-\(number)", path: "\(folder)/\(number) \(name)")
            item.size = sizes[Int(bits % 7)]
            item.mimeType = kinds[Int(bits >> 8 % 5)]
            item.etag = "etag-\(bits >> 16 & 0xff)"
            item.modified = Stage.now - Int64(bits >> 24 & 0x3ff) * Stage.day
            item.lastUsed = bits >> 40 & 3 == 0 ? nil : Stage.now - Int64(bits >> 34 & 0x3f) * Stage.day
            // Each of these goes with each of the others among a few items, so that few conditions are met by none.
            let kind = number - folders.count
            item.isFavorite = kind % 2 == 0
            item.cloudStatus = statuses[kind / 2 % 4]
            item.downloadTrigger = ["user", ownTrigger, "availableOffline", "org.example.other", nil][kind / 8 % 5]
            // What was changed here is kept when the server loses it, as an item that is here only.
            let isChanged = [LARDER_CLOUD_STATUS_LOCALLY_MODIFIED, LARDER_CLOUD_STATUS_LOCAL_ONLY].contains(
                item.cloudStatus)
            item.isRemoved = bits >> 50 & 7 == 0 && !isChanged
            item.isNewerRemote = bits >> 54 & 3 == 0
            item.owner = bits >> 56 & 1 == 0 ? "ada" : nil
            item.permissions = bits >> 57 & 1 == 0 ? "RDNVW" : nil
            item.claims = bits >> 58 & 15 == 0 ? UInt32(LARDER_CLAIM_READ) : 0
            items.append(item)
        }
        return items
    }
}
