import Core
import Model

// The objects that programs read: names and meaning of their members are a contract.

extension JSON {
    /// - Parameters:
    ///   - availableOffline: `none`, `direct` or `indirect`.
    ///   - localPath: where the copy is; nil without one.
    ///   - shares: ids.
    init(_ item: Item, availableOffline: String, localPath: String?, shares: [RecordKey] = []) {
        self = .object([
            "path": .text(item.path.text),
            "name": .text(item.path.name),
            "type": .text(item.kind == .file ? "file" : "folder"),
            "size": .int(item.size),
            "mimeType": .text(item.mimeType),
            "etag": .text(item.etag?.description),
            "fileID": .text(item.fileID?.text),
            "localID": .text(item.localID.text),
            "lastModified": .time(item.lastModified),
            "lastUsed": .time(item.lastUsed),
            "cloudStatus": .text(item.cloudStatus.name),
            "downloadTrigger": .text(item.downloadTrigger?.text),
            "removed": .bool(item.isRemoved),
            "favorite": .bool(item.isFavorite),
            "remoteVersion": .text(item.remoteVersion?.name),
            "parentPath": .text(item.path.isRoot ? nil : item.path.parent.text),
            "owner": .text(item.owner),
            "permissions": .text(item.permissions),
            "availableOffline": .text(availableOffline),
            "syncActivity": .texts(item.syncActivity.names),
            "localPath": .text(localPath),
            "shares": .texts(shares.map(\.text)),
        ])
    }

    init(_ report: ItemReport) {
        self.init(
            report.item, availableOffline: report.availableOffline.rawValue, localPath: report.localPath,
            shares: report.shares)
    }

    init(_ policy: ItemPolicy, items: Int64?, bytes: Int64?) {
        self = .object([
            "id": .text(policy.id.text),
            "kind": .text(policy.kind.text),
            "where": .text(policy.condition),
            "identifier": .text(policy.identifier),
            "description": .text(policy.description),
            "path": .text(policy.path?.text),
            "localID": .text(policy.localID?.text),
            "removeWhenNone": .text(policy.removeWhenNone),
            "items": .int(items),
            "bytes": .int(bytes),
        ])
    }

    init(_ report: SyncRecordReport) {
        let record = report.record
        self = .object([
            "id": .id(record.id),
            "action": .text(record.action.kind.rawValue),
            "path": .text(record.path.text),
            "state": .text(record.state.name),
            "lane": .id(report.lane),
            "since": .time(record.since),
            "reason": .text(record.reason.text),
            "waitsFor": .text(record.wait.map(Text.waiting)),
            "progress": report.progress.map { .double($0) } ?? .null,
        ])
    }

    init(_ issue: Issue) {
        self = .object([
            "id": .id(issue.id),
            "record": .id(issue.record),
            "code": .text(issue.code),
            "message": .text(issue.message),
            "choices": .list(
                issue.choices.map {
                    .object(["id": .text($0.id), "label": .text($0.label), "impact": .text($0.impact.rawValue)])
                }),
        ])
    }

    init(_ plugin: PluginReport) {
        self = .object([
            "id": .text(plugin.id.text),
            "name": .text(plugin.name),
            "version": .text(plugin.version.isEmpty ? nil : plugin.version),
            "library": .text(plugin.library.isEmpty ? nil : plugin.library),
            "state": .text(plugin.state.rawValue),
            "isolation": .text(plugin.isolation.rawValue),
            "reason": .text(plugin.reason),
            "kinds": .texts(plugin.kinds),
            "abi": .text(plugin.abi),
        ])
    }

    init(_ setting: ConfigDecoding.Setting) {
        self = .object([
            "key": .text(setting.key), "value": setting.value, "source": .text(setting.source.description),
        ])
    }

    init(error failure: Failure) {
        self = .object([
            "error": .object([
                "code": .text(failure.kind.code), "message": .text(failure.message), "hint": .text(failure.hint),
            ])
        ])
    }
}

extension Text {
    static func waiting(_ wait: WaitCondition) -> String {
        switch wait {
        case .until(let time): "until \(Text.time(time))"
        case .newVersion(_, let until): "a new version, until \(Text.time(until))"
        case .place: "what lies in its place to go, as it does in vacuum's time"
        case .issue(let id): "issue \(id)"
        }
    }
}
