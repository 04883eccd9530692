import Core
import Model

// The values of JSON output. An absent value is null, unless its member is left out.

extension JSONValue {
    static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    /// Encodes a report about an account, after the account's name.
    init(_ report: some Encodable, of account: String) {
        guard case .object(let members) = JSONValue(report) else {
            self = .null
            return
        }
        self = .object([Member(name: "account", value: .string(account))] + members)
    }

    static func string(_ text: String?) -> JSONValue { text.map { JSONValue.string($0) } ?? .null }
    static func integer(_ number: Int64?) -> JSONValue { number.map { JSONValue.integer($0) } ?? .null }
    static func integer(_ number: Int) -> JSONValue { .integer(Int64(number)) }
    static func id(_ id: (some RowID)?) -> JSONValue { id.map { .integer($0.number) } ?? .null }
    static func time(_ time: Timestamp?) -> JSONValue { .string(time?.description) }
    static func strings(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map { JSONValue.string($0) }) }
}

// The JSON objects that other programs read. The names and meanings of their members are a contract.

extension JSONValue {
    /// Makes an item's JSON.
    /// - Parameters:
    ///   - availableOffline: one of `none`, `direct` and `indirect`.
    ///   - isClaimed: whether a valid claim is on the item.
    ///   - localPath: the path of the local copy; nil if there is none.
    ///   - shares: the ids of the item's shares.
    init(
        _ item: Item, availableOffline: String, isClaimed: Bool = false, localPath: String?, shares: [RecordKey] = []
    ) {
        self = .object([
            "path": .string(item.path.text),
            "name": .string(item.path.name),
            "type": .string(item.kind == .file ? "file" : "folder"),
            "size": .integer(item.size),
            "mimeType": .string(item.mimeType),
            "etag": .string(item.etag?.description),
            "fileID": .string(item.fileID?.text),
            "localID": .string(item.localID.text),
            "lastModified": .time(item.lastModified),
            "lastUsed": .time(item.lastUsed),
            "cloudStatus": .string(item.cloudStatus.name),
            "downloadTrigger": .string(item.downloadTrigger?.text),
            "removed": .bool(item.isRemoved),
            "favorite": .bool(item.isFavorite),
            "remoteVersion": .string(item.remoteVersion?.name),
            "parentPath": .string(item.path.isRoot ? nil : item.path.parent.text),
            "owner": .string(item.owner),
            "permissions": .string(item.permissions),
            "availableOffline": .string(availableOffline),
            "syncActivity": .strings(item.syncActivity.names),
            "claimed": .bool(isClaimed),
            "localPath": .string(localPath),
            "shares": .strings(shares.map(\.text)),
        ])
    }

    init(_ report: ItemReport) {
        self.init(
            report.item, availableOffline: report.availableOffline.rawValue, isClaimed: report.isClaimed,
            localPath: report.localPath, shares: report.shares)
    }

    init(_ report: SyncRecordReport) {
        let record = report.record
        self = .object([
            "id": .id(record.id),
            "action": .string(record.action.kind.rawValue),
            "path": .string(record.path.text),
            "state": .string(record.toldState.name),
            "lane": .id(report.lane),
            "since": .time(record.since),
            "reason": .string(record.reason.text),
            "waitsFor": .string(
                record.evidence.isCancelled == true ? "being cancelled" : record.wait.map(Text.waiting)),
            "progress": report.progress.map { .number($0) } ?? .null,
        ])
    }

    init(_ plugin: PluginReport) {
        self = .object([
            "id": .string(plugin.id.text),
            "name": .string(plugin.name),
            "version": .string(plugin.version.isEmpty ? nil : plugin.version),
            "library": .string(plugin.library.isEmpty ? nil : plugin.library),
            "state": .string(plugin.state.rawValue),
            "isolation": .string(plugin.isolation.rawValue),
            "reason": .string(plugin.reason),
            "kinds": .strings(plugin.kinds),
            "abi": .string(plugin.abi),
            "grants": .strings(plugin.grants.map(\.rawValue)),
            "onDisk": .string(plugin.onDisk.rawValue),
        ])
    }

    init(_ setting: ConfigDecoding.Setting) {
        self = .object([
            "key": .string(setting.key), "value": setting.value, "source": .string(setting.source.description),
        ])
    }

    init(error failure: Failure) {
        self = .object([
            "error": .object([
                "code": .string(failure.kind.code), "message": .string(failure.message),
                "hint": .string(failure.advice),
            ])
        ])
    }
}

extension Text {
    static func waiting(_ wait: WaitCondition) -> String {
        switch wait {
        case .until(let time): "until \(Text.time(time))"
        case .newVersion(_, let until): "a new version, until \(Text.time(until))"
        case .place: "the old copy in its place to be removed by vacuum"
        case .issue(let id): "issue \(id)"
        case .retry(let time, let id): "until \(Text.time(time)) (issue \(id))"
        }
    }
}
