public import Database
public import LocalTree
public import Model

/// Compares the rows with the tree and writes into the rows what is different: what was removed, changed or made by hand.
///
/// The tree itself is never changed. Files are known again by inode, size and times; only those whose marks differ are
/// read. A file that was moved by hand counts as removed where it was and as new where it is. It blocks.
public struct Reconciler: Sendable {
    let database: Database
    let tree: Tree
    /// Whether a copy that was read counts as used then.
    let countsAccessTimes: Bool
    /// What is taken for the time: no access is later, though the file system says so. Nil: the system's clock is believed.
    let believed: Timestamp?

    public init(database: Database, tree: Tree, countsAccessTimes: Bool = true, believed: Timestamp? = nil) {
        self.database = database
        self.tree = tree
        self.countsAccessTimes = countsAccessTimes
        self.believed = believed
    }

    /// Changes that one transaction writes at most.
    static let batch = 1000

    /// Compares what is at a path and below.
    ///
    /// At a start it is called for the root, when interrupted moves were carried out. Beside a working sync engine it may be
    /// called at any time: what the engine is putting in place is passed over, and a row or file that changes meanwhile too.
    /// - Parameter scope: The root for everything.
    /// - Returns: what was different, and was written; nil, without having looked, while moves of the tree are to be carried
    ///   out.
    /// - Throws: As the one for several paths.
    public func run(at scope: ItemPath = .root) throws -> [TreeFinding]? { try run(at: [scope])?.findings }

    /// The same for several paths, none of them below another, in one go.
    /// - Throws: The database's `Failure`, as ``Database/writeBlocking(_:)``; what was written before stays. What
    ///   cannot be read in the tree is told by the result.
    public func run(at scopes: [ItemPath]) throws -> Reconciliation? {
        var changes: [TreeChange] = []
        var result = Reconciliation()
        let isThere = try database.readBlocking { reads in
            guard try reads.moves.isEmpty else { return false }
            let landing = try reads.journal.landingItems()
            for scope in scopes {
                try compareRows(at: scope, reads, landing, &changes, &result)
                try findNew(at: scope, reads, landing, &changes, &result)
            }
            return true
        }
        guard isThere else { return nil }
        var rest = changes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.batch)
            rest = rest.dropFirst(part.count)
            let written = try database.writeBlocking { tx in try part.map { ($0.path, try tx.write($0, tree)) } }
            for (path, outcome) in written {
                switch outcome {
                case .written(let finding): if let finding { result.findings.append(finding) }
                case .outdated: result.unstable.append(path)
                }
            }
        }
        return result
    }

    /// From the rows to the tree.
    private func compareRows(
        at scope: ItemPath, _ reads: ReadTransaction, _ landing: Set<LocalID>, _ changes: inout [TreeChange],
        _ result: inout Reconciliation
    ) throws {
        let parents = ParentFolders(tree: tree)
        defer { result.unreadable.merge(parents.unreadable) { first, _ in first } }
        try reads.items.eachRecordedEntry(at: scope) { row in
            guard !landing.contains(row.localID) else { return result.unstable.append(row.path) }
            let (found, accessed) = parents.inspect(row.path)
            if row.kind == .folder, found == .link { parents.note(row.path, "a symbolic link lies there") }
            if countsAccessTimes, let used = accessed.map({ min($0, believed ?? $0) }), row.wasUsed(at: used) {
                changes.append(.used(row, used))
            }
            switch TreeDifference.compare(row, with: found, proof: tree.proof) {
            case .unchanged: break
            case .freed: changes.append(.freed(row))
            case .gone: changes.append(.gone(row))
            case .rewritten(let mark): changes.append(.rewritten(row, mark))
            case .modified:
                if case .file(let mark) = found { changes.append(.modified(row, mark)) }
            case .unsure(let digest):
                switch tree.read(row.path, comparingWith: digest) {
                case .same(let mark): changes.append(.renewed(row, mark))
                case .different(let mark):
                    if row.status != .locallyModified { changes.append(.modified(row, mark)) }
                case .unstable: result.unstable.append(row.path)
                }
            }
        }
    }

    /// From the tree to the rows.
    private func findNew(
        at scope: ItemPath, _ reads: ReadTransaction, _ landing: Set<LocalID>, _ changes: inout [TreeChange],
        _ result: inout Reconciliation
    ) throws {
        var folders: [ItemPath] = []
        if scope.isRoot {
            folders = [.root]
        } else {
            guard try !reads.items.isInObstructedFolder(scope) else { return }
            let kind: Item.Kind?
            switch tree.entry(at: scope) {
            case .file: kind = .file
            case .folder: kind = .folder
            default: kind = nil
            }
            let name = try reads.items.recordedEntry(at: scope).map {
                RecordedName(kind: $0.kind, isHere: $0.status != .cloudOnly)
            }
            try consider(scope, kind, name, reads, landing, &folders, &changes, &result)
        }
        while let folder = folders.popLast() {
            let names = try reads.items.recordedNames(in: folder)
            _ = try tree.eachEntry(of: folder) { name, kind, _ in
                guard let path = try? folder.appending(name) else { return }
                try consider(path, kind, names[FileName(text: name)], reads, landing, &folders, &changes, &result)
            }
        }
    }

    private func consider(
        _ path: ItemPath, _ kind: Item.Kind?, _ recorded: RecordedName?, _ reads: ReadTransaction,
        _ landing: Set<LocalID>, _ folders: inout [ItemPath], _ changes: inout [TreeChange], _ result: inout Reconciliation
    ) throws {
        guard let kind else { return }
        if let recorded {
            guard recorded.kind == kind else {
                result.findings.append(TreeFinding(path: path, kind: .obstructed))
                return
            }
            if kind == .file, !recorded.isHere, let mark = tree.mark(at: path),
                let row = try reads.items.recordedEntry(at: path)
            {
                if landing.contains(row.localID) {
                    result.unstable.append(path)
                } else {
                    changes.append(.modified(row, mark))
                }
            }
        } else if kind == .folder || tree.mark(at: path) != nil {
            changes.append(.added(path, kind, tree.mark(at: path)))
        }
        if kind == .folder { folders.append(path) }
    }
}
