public import Model

/// The lanes that decide which records may run. Records about one item, or about a folder and something in the folder,
/// run in the order of the journal. All other records run at once. `/a` does not hold up `/ab`.
///
/// Lanes are a value without I/O. Adding or removing a record costs a dictionary access for each folder above the item,
/// however many records there are.
public struct Lanes: Sendable {
    private struct Entry: Sendable {
        var localID: LocalID
        /// The paths that the record is about: one, or two for a move or a copy.
        var paths: [ItemPath]
        /// The records, among those added before, that must be done first.
        var waitsFor: Set<SyncRecordID>
        /// The records that wait for this record.
        var followers: Set<SyncRecordID> = []
        /// The first record of the lane.
        var lane: SyncRecordID
    }

    private var entries: [SyncRecordID: Entry] = [:]
    private var byItem: [LocalID: Set<SyncRecordID>] = [:]
    private var byPath: [ItemPath: Set<SyncRecordID>] = [:]
    /// The records about something in a folder, at any depth, by the folder.
    private var below: [ItemPath: Set<SyncRecordID>] = [:]

    /// Creates lanes without records.
    public init() {}

    /// The number of records in lanes.
    public var count: Int { entries.count }

    /// Tells whether a record is in a lane.
    public func contains(_ record: SyncRecordID) -> Bool { entries[record] != nil }

    /// Tells whether a record about an item, at a path, would have to wait for a record that is in a lane.
    public func holdUp(_ item: LocalID, at path: ItemPath) -> Bool {
        if entries.isEmpty { return false }
        if byItem[item] != nil || byPath[path] != nil || below[path] != nil { return true }
        return path.ancestors.contains { byPath[$0] != nil }
    }

    /// Tells whether no record must be done before a record.
    public func isFree(_ record: SyncRecordID) -> Bool { entries[record]?.waitsFor.isEmpty ?? false }

    /// Returns the records that must be done just before a record.
    func records(before record: SyncRecordID) -> Set<SyncRecordID> { entries[record]?.waitsFor ?? [] }

    /// Returns the first record of a record's lane, which is the record itself if nothing comes before it. Returns nil
    /// if the record is in no lane.
    public func lane(of record: SyncRecordID) -> SyncRecordID? { entries[record]?.lane }

    /// Adds a record behind those that were added before.
    /// - Parameter otherPath: The second path of a record about two places.
    /// - Returns: Whether the record may run now.
    @discardableResult
    public mutating func add(
        _ record: SyncRecordID, localID: LocalID, path: ItemPath, otherPath: ItemPath? = nil
    ) -> Bool {
        guard entries[record] == nil else { return isFree(record) }
        let paths = [path] + (otherPath.map { [$0] } ?? [])
        var before = byItem[localID, default: []]
        for path in paths {
            before.formUnion(byPath[path, default: []])
            before.formUnion(below[path, default: []])
            for folder in path.ancestors { before.formUnion(byPath[folder, default: []]) }
        }

        var entry = Entry(localID: localID, paths: paths, waitsFor: before, lane: record)
        for other in before {
            entries[other]?.followers.insert(record)
            if let lane = entries[other]?.lane { entry.lane = min(entry.lane, lane) }
        }
        entries[record] = entry
        byItem[localID, default: []].insert(record)
        for path in paths {
            byPath[path, default: []].insert(record)
            for folder in path.ancestors { below[folder, default: []].insert(record) }
        }
        return before.isEmpty
    }

    /// Removes a record that is done or was dropped.
    /// - Returns: The records that may run now and could not before.
    public mutating func remove(_ record: SyncRecordID) -> [SyncRecordID] {
        guard let entry = entries.removeValue(forKey: record) else { return [] }
        byItem.remove(record, at: entry.localID)
        for path in entry.paths {
            byPath.remove(record, at: path)
            for folder in path.ancestors { below.remove(record, at: folder) }
        }
        for other in entry.waitsFor { entries[other]?.followers.remove(record) }
        for follower in entry.followers { entries[follower]?.waitsFor.remove(record) }
        return entry.followers.filter { isFree($0) }.sorted()
    }
}

extension Dictionary where Value == Set<SyncRecordID> {
    fileprivate mutating func remove(_ record: SyncRecordID, at key: Key) {
        guard let index = index(forKey: key) else { return }
        values[index].remove(record)
        if values[index].isEmpty { remove(at: index) }
    }
}

extension ItemPath {
    /// The folders above the path, the nearest first. Empty for the root.
    fileprivate var ancestors: [ItemPath] {
        var folders: [ItemPath] = []
        var path = self
        while !path.isRoot {
            path = path.parent
            folders.append(path)
        }
        return folders
    }
}
