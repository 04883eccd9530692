import CLarder
import LarderFakeHost
import Model
import PluginHost

/// The record of what happened.
struct Journal {
    /// An entry. The comment of its kind in the header says which members are set.
    struct Entry {
        var name: String
        var number: UInt32 = 0
        var status: larder_status = LARDER_OK
        var path: String?
        var id: String?
        var text: String?
        var policy: ItemPolicy?
        var target: String?
    }

    private var entries: [UInt32: [Entry]] = [:]

    /// The kinds of the entries about requests, which are dropped if the requests are.
    private static let requests = [
        LARDER_FAKE_ACTION, LARDER_FAKE_POLICY, LARDER_FAKE_VALUE, LARDER_FAKE_RECORD,
    ]

    mutating func add(_ kind: UInt32, _ entry: Entry) { entries[kind, default: []].append(entry) }

    mutating func mistake(_ name: String, _ status: larder_status, text: String? = nil) {
        add(LARDER_FAKE_MISTAKE, Entry(name: name, status: status, text: text))
    }

    func count(_ kind: UInt32) -> Int { entries[kind]?.count ?? 0 }

    subscript(kind: UInt32, index: Int) -> Entry? {
        guard let all = entries[kind], all.indices.contains(index) else { return nil }
        return all[index]
    }

    mutating func forget() { entries.removeAll() }

    /// The numbers of the entries about requests, by their kinds.
    var mark: [UInt32: Int] { Dictionary(uniqueKeysWithValues: Self.requests.map { ($0, count($0)) }) }

    /// Drops the entries about requests that came after a mark.
    mutating func dropRequests(after mark: [UInt32: Int]) {
        for (kind, count) in mark { entries[kind]?.removeSubrange(count...) }
    }
}

extension Journal {
    /// Adds the requests of a processor's call that succeeded.
    /// - Parameters:
    ///   - path: Returns the path of an item.
    ///   - upload: Returns the project and the file of an upload's snapshot.
    mutating func add(
        _ intents: [Intent], path: (LocalID) -> String?, upload: (HeldSnapshot) -> (project: String, file: String)?
    ) {
        for intent in intents {
            switch intent.change {
            case .putValue(let key, let value): add(value: value, for: key)
            case .deleteValue(let key): add(value: nil, for: key)
            case .addPolicy(let policy, let runs): add("add", policy, runs, id: "")
            case .updatePolicy(let policy, let runs): add("update", policy, runs, id: policy.id.text)
            case .removePolicy(let id, let runs):
                let policy = ItemPolicy(id: id, kind: PolicyKind(""), condition: "")
                add("remove", policy, runs, id: id.text)
            case .download, .update, .removeLocalCopy, .purge, .server:
                var entry = Entry(name: "", id: intent.change.item?.text ?? "", text: intent.key)
                entry.path = intent.change.item.flatMap(path)
                (entry.name, entry.number) = Self.action(intent.change)
                if case .server(let change) = intent.change {
                    entry.target = change.target?.text
                    if change.item == nil { entry.id = nil }
                    if case .upload(let held?, _, _) = change, let upload = upload(held) {
                        (entry.id, entry.path) = (upload.project, upload.file)
                    }
                }
                add(LARDER_FAKE_ACTION, entry)
            }
        }
    }

    /// Adds the requests of a loop's call that succeeded.
    mutating func add(_ asked: [LoopAsk]) {
        for ask in asked {
            switch ask {
            case .record(.put(let record, let collection)):
                add(
                    LARDER_FAKE_RECORD,
                    Entry(name: "put", path: collection.text, id: record.key.text, text: record.value))
            case .record(.remove(let key, let collection)):
                add(LARDER_FAKE_RECORD, Entry(name: "remove", path: collection.text, id: key.text))
            case .value(let key, let value): add(value: value, for: key)
            case .requestListing(let path): add(LARDER_FAKE_ACTION, Entry(name: "look", path: path.text))
            }
        }
    }

    private mutating func add(value: [UInt8]?, for key: [UInt8]) {
        add(
            LARDER_FAKE_VALUE,
            Entry(
                name: value == nil ? "remove" : "put", id: String(decoding: key, as: UTF8.self),
                text: value.map { String(decoding: $0, as: UTF8.self) }))
    }

    private mutating func add(_ name: String, _ policy: ItemPolicy, _ runsTrigger: Bool, id: String) {
        add(
            LARDER_FAKE_POLICY,
            Entry(name: name, number: runsTrigger ? 0 : LARDER_POLICY_QUIET, id: id, policy: policy))
    }

    /// Returns an action's name and its flags, or what its number is.
    private static func action(_ change: Intent.Change) -> (String, UInt32) {
        switch change {
        case .download(_, let whileCovered): ("download", whileCovered ? LARDER_DOWNLOAD_WHILE_COVERED : 0)
        case .update: ("download", LARDER_DOWNLOAD_AS_UPDATE)
        case .removeLocalCopy(_, let restores, let unusedSince):
            (
                "remove_local_copy",
                (restores ? LARDER_REMOVE_RESTORE_FORMER : 0) | (unusedSince == nil ? 0 : LARDER_REMOVE_IF_UNUSED)
            )
        case .purge: ("purge", 0)
        case .server(.createFolder): ("create_folder", 0)
        case .server(.move): ("move", 0)
        case .server(.copy): ("copy", 0)
        case .server(.delete): ("remove_from_server", 0)
        case .server(.setFavorite(_, let isFavorite)): ("set_favorite", isFavorite ? 1 : 0)
        case .server(.upload(_, _, let replaces)): ("upload", replaces ? LARDER_UPLOAD_REPLACE : 0)
        case .addPolicy, .updatePolicy, .removePolicy, .putValue, .deleteValue: ("", 0)
        }
    }
}
