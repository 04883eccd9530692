public import Database
import Logging
public import Model

/// The guard against plugins that delete too much on the server.
///
/// The deletions that a plugin requested in the last 24 hours count together, except those that a person approved. So a
/// plugin that is called for a few items at a time is held as one that is called for all of them, and after a rejection
/// the plugin deletes nothing for a day without being asked about.
public struct PluginDeletions: EnginePart {
    let context: ActionContext

    /// Decides whether deletions that a plugin requests together wait for a person.
    /// - Parameters:
    ///   - items: The items that are to be deleted, with everything below.
    ///   - plugin: The plugin, as the reason of its records.
    ///   - tx: The transaction that records the deletions, or the first of them.
    /// - Returns: The issue that the deletions are to wait for, which is not filed yet; nil if they wait for nobody.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func holdIfTooMany(
        _ items: [LocalID], by plugin: DownloadTrigger, in tx: Transaction
    ) throws -> Issue? {
        let now = clock.now()
        let paths = try tops(of: items, in: tx)
        let count = try paths.reduce(0) { try $0 + tx.items.countOnServer(atOrBelow: $1) }
        guard count > 0 else { return nil }
        let earlier = DeletionMemory(try tx.meta.text(.pluginDeletions), at: now).count(of: plugin)
        let gone = try tx.scan.removalMemory(at: now)
        // What is to go already is no longer in the list.
        let known = try max(gone.known, tx.items.knownCount() + tx.items.hiddenCount(after: .none, for: plugin))
        guard let removalGuard = context.removalGuard, removalGuard.holds(count.adding(earlier), ofKnown: known) else {
            return nil
        }
        let names = paths.prefix(3).map(\.text).joined(separator: ", ") + (paths.count > 3 ? ", …" : "")
        let before = earlier > 0 ? ", after \(earlier) in the last 24 hours" : ""
        let code = IssueCode.pluginDeletions
        return Issue(
            code: code.rawValue, subject: plugin.text,
            message:
                "The plugin \(PluginID(of: plugin).shortName) wants to delete \(count) of \(known) items on the server\(before): \(names). "
                + "Nothing of this is deleted before you decide",
            choices: code.choices, created: now)
    }

    /// Returns the paths of the items that are on the server, without those that are below another one of them.
    private func tops(of items: [LocalID], in tx: Transaction) throws -> [ItemPath] {
        var paths: [ItemPath] = []
        for id in items {
            if let item = try tx.items.item(localID: id), !item.isRemoved { paths.append(item.path) }
        }
        let all = Set(paths)
        var taken: Set<ItemPath> = []
        return paths.filter { path in
            guard taken.insert(path).inserted else { return false }
            var folder = path
            while !folder.isRoot {
                folder = folder.parent
                if all.contains(folder) { return false }
            }
            return true
        }
    }

    /// Counts the items of a plugin's deletions that were recorded after a record, and removes the issue that they wait
    /// for if none was recorded.
    /// - Throws: As ``SyncEngine/enqueue(_:in:)``.
    public func countDeletions(
        after record: SyncRecordID, by plugin: DownloadTrigger, heldBy issue: IssueID?, in tx: Transaction
    ) throws {
        let count = try tx.items.hiddenCount(after: record, for: plugin)
        if count > 0 {
            var memory = DeletionMemory(try tx.meta.text(.pluginDeletions), at: clock.now())
            memory.note(count, of: plugin, at: clock.now())
            try tx.meta.set(.pluginDeletions, memory.text)
        }
        if let issue { try context.records.endEmptyHold(issue, in: tx) }
    }

    /// Answers an issue about a plugin's deletions: carries them out, or takes them back.
    func answer(_ issue: Issue, isApproved: Bool, in tx: Transaction) throws {
        try tx.issues.remove(id: issue.id)
        guard isApproved else {
            for record in try tx.journal.waiting(forIssue: issue.id).reversed() {
                try context.records.deschedule(record, in: tx)
            }
            logger.notice("The deletions of \(issue.subject) were rejected, and are dropped")
            return
        }
        try tx.journal.endWaits(forIssue: issue.id)
        var memory = DeletionMemory(try tx.meta.text(.pluginDeletions), at: clock.now())
        memory.forget(DownloadTrigger(issue.subject))
        try tx.meta.set(.pluginDeletions, memory.text)
    }
}

/// The numbers of items whose deletion plugins requested in the last 24 hours.
struct DeletionMemory: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var plugin: DownloadTrigger
        var minute: Int64
        var count: Int
    }

    private var entries: [Entry]

    private static let minutesOfDay: Int64 = 24 * 60

    /// Reads a memory, without what is more than 24 hours old. What another version of Larder wrote is forgotten.
    init(_ text: String?, at time: Timestamp) {
        let json: JSONValue
        do throws(JSONValue.ParsingError) { json = try JSONValue(parsing: text ?? "[]") } catch { json = .null }
        let minute = time.seconds / 60
        // A later time was written when the clock showed another one.
        let recent = (minute - Self.minutesOfDay + 1)...(minute + Self.minutesOfDay)
        guard case .array(let members) = json else {
            entries = []
            return
        }
        entries = members.compactMap { member in
            guard case .string(let plugin) = member["plugin"], case .integer(let minute) = member["minute"],
                case .integer(let count) = member["count"], recent.contains(minute)
            else { return nil }
            return Entry(plugin: DownloadTrigger(plugin), minute: minute, count: max(0, Int(clamping: count)))
        }
    }

    var text: String {
        JSONValue.array(
            entries.map { entry in
                .object([
                    .init(name: "plugin", value: .string(entry.plugin.text)),
                    .init(name: "minute", value: .integer(entry.minute)),
                    .init(name: "count", value: .integer(Int64(entry.count))),
                ])
            }
        ).text
    }

    func count(of plugin: DownloadTrigger) -> Int {
        entries.reduce(0) { $1.plugin == plugin ? $0.adding($1.count) : $0 }
    }

    mutating func note(_ count: Int, of plugin: DownloadTrigger, at time: Timestamp) {
        let minute = time.seconds / 60
        if let index = entries.firstIndex(where: { $0.plugin == plugin && $0.minute == minute }) {
            entries[index].count = entries[index].count.adding(count)
        } else {
            entries.append(Entry(plugin: plugin, minute: minute, count: count))
        }
    }

    mutating func forget(_ plugin: DownloadTrigger) { entries.removeAll { $0.plugin == plugin } }
}

extension MetaKey {
    /// The numbers of items whose deletion plugins requested.
    fileprivate static let pluginDeletions = MetaKey("pluginDeletions")
}
