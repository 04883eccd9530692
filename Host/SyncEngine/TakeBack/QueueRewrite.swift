import Model

/// The rewriting of the records behind one that is taken back, or that makes its item at another path than they expect.
///
/// A record's paths hold at its turn. So the value takes the later records in their order, and follows what is displaced:
/// what a record expects at one path, and is at another, or is not made at all. The rewriting needs no I/O.
struct QueueRewrite {
    /// A thing that is not where the records expect it.
    struct Displacement: Hashable, Sendable {
        /// The path at which the records expect it; nil when they expect it nowhere, since one of them has deleted it.
        var from: ItemPath?
        /// The path at which it is; nil if it is not made.
        var to: ItemPath?
        /// The item; nil if its row stays where it is.
        var item: LocalID?
        /// Whether the thing is still there, so that nothing else can come to its path.
        var isThere = true
        /// Whether this is the thing whose record is taken back.
        var isTakenBack = false
        /// Whether the thing is a file whose content is kept here.
        var isKept = false
    }

    /// What becomes of a record.
    enum Consequence: Hashable, Sendable {
        case stays
        /// The record goes on with other paths, or as the upload of a new file.
        case changes(SyncRecord)
        /// The record is taken back too.
        case goes
        /// The record is taken back, and the file that it was to upload is kept here.
        case keepsFile
    }

    /// The displaced things, in the order in which they were displaced.
    private(set) var displaced: [Displacement]
    /// The paths at which the records expect what was to be copied, and is not: it is nowhere else, and stays.
    private var onlyHere: [ItemPath]
    /// The items that a deletion goes on without.
    private(set) var spared: [(deletion: SyncRecordID, item: LocalID)] = []
    /// Returns a free path beside another.
    private let free: (ItemPath) throws -> ItemPath

    /// - Parameters:
    ///   - first: What is not where the records expect it; nil if all is there.
    ///   - source: What was to be copied, and may not be.
    ///   - free: A function that returns a free path beside another.
    init(_ first: Displacement?, sparing source: ItemPath? = nil, free: @escaping (ItemPath) throws -> ItemPath) {
        displaced = first.map { [$0] } ?? []
        onlyHere = source.map { [$0] } ?? []
        self.free = free
    }

    /// Takes the next record.
    /// - Throws: What the function that finds a free path throws.
    mutating func take(_ record: SyncRecord) throws -> Consequence {
        switch record.action {
        case .download, .removeLocalCopy, .purge: .stays
        case .createFolder: try make(record)
        case .copy(let source): try copy(record, from: source)
        case .upload(let upload): try self.upload(record, upload)
        case .move(let target): try move(record, to: target)
        case .delete: delete(record)
        case .setFavorite, .setModificationTime:
            place(of: record.path).path.map { changed(record, to: $0) } ?? .goes
        }
    }

    // MARK: What comes to a path

    private mutating func make(_ record: SyncRecord) throws -> Consequence {
        guard let path = try arrival(at: record.path) else { return loses(record) }
        displace(record.path, to: path, record.localID)
        return changed(record, to: path)
    }

    private mutating func copy(_ record: SyncRecord, from source: ItemPath) throws -> Consequence {
        guard let found = place(of: source).path else {
            onlyHere += displaced.filter { $0.to != nil }.compactMap(\.from).filter(source.isAncestor)
            return loses(record)
        }
        // The folder to which it is copied may be in it again.
        guard let path = try arrival(at: record.path), !found.isAncestor(of: path) else {
            onlyHere.append(source)
            return loses(record)
        }
        displace(record.path, to: path, record.localID)
        displaceParts(of: source, found, copiedTo: record.path, path)
        var record = record
        let isSame = source == found && record.path == path
        (record.action, record.path) = (.copy(from: found), path)
        return isSame ? .stays : .changes(record)
    }

    /// Notes what is not in a copy where the records expect it, since it is not so in what is copied.
    private mutating func displaceParts(
        of source: ItemPath, _ found: ItemPath, copiedTo target: ItemPath, _ path: ItemPath
    ) {
        for part in displaced {
            let from = part.from.flatMap { source.isAncestor(of: $0) ? $0.moved(from: source, to: target) : nil }
            let to = part.to.flatMap { found.isAncestor(of: $0) ? $0.moved(from: found, to: path) : nil }
            guard from != nil || to != nil else { continue }
            if from != nil, to == nil, part.to != nil, let expected = part.from { onlyHere.append(expected) }
            displaced.append(Displacement(from: from, to: to, isThere: part.isThere))
        }
    }

    private mutating func upload(_ record: SyncRecord, _ upload: Upload) throws -> Consequence {
        guard upload.isNew else { return try version(record, upload) }
        guard let path = try arrival(at: record.path) else {
            displaced.append(Displacement(from: record.path, item: record.localID, isKept: true))
            return .keepsFile
        }
        displace(record.path, to: path, record.localID)
        return changed(record, to: path)
    }

    /// Takes a record that uploads a new version of a file. Where the file is not made, the version becomes the file.
    private mutating func version(_ record: SyncRecord, _ upload: Upload) throws -> Consequence {
        guard !onlyHere.contains(where: { $0 == record.path || $0.isAncestor(of: record.path) }) else {
            return .keepsFile
        }
        let place = place(of: record.path)
        if let path = place.path { return changed(record, to: path) }
        guard let exact = place.exact, !displaced[exact].isKept else { return .keepsFile }
        displaced.remove(at: exact)
        guard let path = try arrival(at: record.path) else { return .keepsFile }
        var (record, upload) = (record, upload)
        (upload.isNew, upload.base, upload.followsNothing) = (true, nil, false)
        displace(record.path, to: path, record.localID)
        (record.action, record.path) = (.upload(upload), path)
        return .changes(record)
    }

    private mutating func loses(_ record: SyncRecord) -> Consequence {
        displaced.append(Displacement(from: record.path, item: record.localID))
        return .goes
    }

    // MARK: What leaves a path

    private mutating func move(_ record: SyncRecord, to target: ItemPath) throws -> Consequence {
        let isPart = onlyHere.contains { $0.isAncestor(of: record.path) }
        onlyHere = onlyHere.map { Self.moved($0, from: record.path, to: target) } + (isPart ? [target] : [])
        let subject = place(of: record.path)
        var wanted = subject.path == nil ? nil : try arrival(at: target, besides: subject.exact)
        // The folder to which it moves may be in it again.
        if let source = subject.path, wanted.map(source.isAncestor) ?? false { wanted = nil }
        let path = wanted ?? subject.path
        for index in displaced.indices {
            displaced[index].from = displaced[index].from.map { Self.moved($0, from: record.path, to: target) }
            if let source = subject.path, let wanted {
                displaced[index].to = displaced[index].to.map { Self.moved($0, from: source, to: wanted) }
            }
        }
        if subject.exact == nil, path != target {
            displaced.append(Displacement(from: target, to: path, item: record.localID))
        }
        displaced.removeAll { $0.from != nil && $0.from == $0.to }
        guard let source = subject.path, let wanted, source != wanted else { return .goes }
        var record = record
        let isSame = record.path == source && record.action == .move(to: wanted)
        (record.path, record.action) = (source, .move(to: wanted))
        return isSame ? .stays : .changes(record)
    }

    private mutating func delete(_ record: SyncRecord) -> Consequence {
        let place = place(of: record.path)
        guard let path = place.path, place.exact.map({ !displaced[$0].isTakenBack }) ?? true else {
            leave(record.path)
            return .goes
        }
        // What is there again would go with its folder, and what was not copied is nowhere else.
        let isOnlyHere = onlyHere.contains {
            $0 == record.path || $0.isAncestor(of: record.path) || record.path.isAncestor(of: $0)
        }
        onlyHere.removeAll { $0 == record.path || record.path.isAncestor(of: $0) }
        let staysForOthers =
            isOnlyHere
            || displaced.contains { other in
                guard let to = other.to, other.isThere, path.isAncestor(of: to) else { return false }
                return other.from.map { !record.path.isAncestor(of: $0) } ?? true
            }
        for index in displaced.indices where displaced[index].isExpected(atOrBelow: record.path) && !staysForOthers {
            guard let to = displaced[index].to else { continue }
            if to == path || path.isAncestor(of: to) {
                displaced[index].isThere = false
            } else if let item = displaced[index].item {
                spared.append((record.id, item))
            }
        }
        leave(record.path)
        guard !staysForOthers else {
            displaced.append(Displacement(to: path))
            return .goes
        }
        return changed(record, to: path)
    }

    /// Notes that the records have deleted what they expected at a path.
    private mutating func leave(_ path: ItemPath) {
        for index in displaced.indices where displaced[index].isExpected(atOrBelow: path) {
            displaced[index].from = nil
        }
    }

    // MARK: Places

    /// Returns the path at which the thing is that the records expect at a path; nil if it is not made.
    /// - Returns: `exact` is the displacement of this very thing, if it is displaced by itself.
    private func place(of path: ItemPath) -> (path: ItemPath?, exact: Int?) {
        var nearest: (index: Int, from: ItemPath)?
        for (index, other) in displaced.enumerated() {
            guard let from = other.from, from == path || from.isAncestor(of: path) else { continue }
            if nearest.map({ $0.from.text.utf8.count < from.text.utf8.count }) ?? true { nearest = (index, from) }
        }
        guard let nearest else { return (path, nil) }
        let to = displaced[nearest.index].to.map { path.moved(from: nearest.from, to: $0) }
        return (to, nearest.from == path ? nearest.index : nil)
    }

    /// Returns the path to which something comes that was to come to a path; nil if the folder there is not made.
    /// - Parameter subject: The displacement of what comes.
    private func arrival(at path: ItemPath, besides subject: Int? = nil) throws -> ItemPath? {
        guard let folder = place(of: path.parent).path else { return nil }
        let wanted = path.parent == folder ? path : path.moved(from: path.parent, to: folder)
        let isTaken = displaced.indices.contains { index in
            index != subject && displaced[index].isThere && displaced[index].to == wanted
        }
        return isTaken ? try free(wanted) : wanted
    }

    private mutating func displace(_ path: ItemPath, to other: ItemPath, _ item: LocalID) {
        // What only lies in a displaced folder goes with the folder.
        guard place(of: path).path != other else { return }
        displaced.append(Displacement(from: path, to: other, item: item))
    }

    private func changed(_ record: SyncRecord, to path: ItemPath) -> Consequence {
        guard path != record.path else { return .stays }
        var record = record
        record.path = path
        return .changes(record)
    }

    private static func moved(_ path: ItemPath, from old: ItemPath, to new: ItemPath) -> ItemPath {
        path == old || old.isAncestor(of: path) ? path.moved(from: old, to: new) : path
    }
}

extension QueueRewrite.Displacement {
    fileprivate func isExpected(atOrBelow path: ItemPath) -> Bool {
        from.map { $0 == path || path.isAncestor(of: $0) } ?? false
    }
}
