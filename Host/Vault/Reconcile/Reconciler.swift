public import Database
public import LocalTree
public import Model

/// A comparison of the database's rows with the tree. It writes into the rows which files were removed, changed or
/// created by hand.
///
/// The tree itself is never changed. Files are recognized by their marks; only files whose marks differ or are no proof
/// are read. A file that was moved by hand counts as removed from the old path and as new at the new path. All
/// functions block.
public struct Reconciler: Sendable {
    let database: Database
    let tree: Tree
    /// Whether reading a copy counts as a use of it.
    let countsAccessTimes: Bool
    /// The present time by the believed clock. A later access time is lowered to this time. Nil if the system's clock
    /// is believed.
    let believed: Timestamp?

    /// Creates a comparison.
    /// - Parameters:
    ///   - database: The vault's database.
    ///   - tree: The vault's tree.
    ///   - countsAccessTimes: Whether reading a copy counts as a use of it.
    ///   - believed: The present time by the believed clock; nil if the system's clock is believed.
    public init(database: Database, tree: Tree, countsAccessTimes: Bool = true, believed: Timestamp? = nil) {
        self.database = database
        self.tree = tree
        self.countsAccessTimes = countsAccessTimes
        self.believed = believed
    }

    /// The largest number of changes that one transaction writes.
    static let batch = 1000

    /// Compares the entry at a path and everything below it.
    ///
    /// At start, it is called for the root after interrupted moves were carried out. Beside a working sync engine, it
    /// may be called at any time: it leaves out files that the engine is putting in place, and rows and files that
    /// change meanwhile.
    /// - Parameter scope: The path; the root for everything.
    /// - Returns: The differences that were written; nil, without a comparison, while moves of the tree are pending.
    /// - Throws: The errors of the function for several paths.
    public func run(at scope: ItemPath = .root) throws -> [TreeFinding]? { try run(at: [scope])?.findings }

    /// Compares the entries at several paths and everything below them at once. None of the paths may lie below
    /// another.
    /// - Parameter scopes: The paths.
    /// - Returns: The result, which also names the folders that cannot be read; nil, without a comparison, while moves
    ///   of the tree are pending.
    /// - Throws: The database's `Failure`, as ``Database/writeBlocking(_:)`` does. Changes written before the error
    ///   stay.
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

    /// Compares each row with its entry in the tree.
    private func compareRows(
        at scope: ItemPath, _ reads: ReadTransaction, _ landing: Set<LocalID>, _ changes: inout [TreeChange],
        _ result: inout Reconciliation
    ) throws {
        let parents = ParentFolders(tree: tree)
        defer { result.unreadable.merge(parents.unreadable) { first, _ in first } }
        try reads.items.eachRecordedEntry(at: scope) { row in
            guard !landing.contains(row.localID) else { return result.unstable.append(row.path) }
            let (found, accessed) = parents.inspect(row.path)
            if row.kind == .folder, found == .link { parents.note(row.path, "a symbolic link is in its place") }
            if countsAccessTimes, let accessed {
                let used = min(accessed, believed ?? accessed)
                if row.wasUsed(accessed, believedAs: used) { changes.append(.used(row, used)) }
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

    /// Finds entries of the tree that have no row or whose row knows no copy.
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
            var name = try reads.items.recordedEntry(at: scope).map {
                RecordedName(kind: $0.kind, isHere: $0.status != .cloudOnly)
            }
            if name == nil, kind == .folder, try reads.items.isRemovedFolder(scope) {
                name = RecordedName(kind: .folder, isHere: false, isRemovedFolder: true)
            }
            try consider(scope, kind, name, reads, landing, &folders, &changes, &result)
        }
        while let folder = folders.popLast() {
            let names = try reads.items.recordedNames(in: folder)
            _ = try tree.eachEntry(of: folder) { name, kind, _ in
                let recorded = names[FileName(text: name)]
                // Most entries are files that rows know of. These need no path.
                if kind == .file, let recorded, recorded.kind == .file, recorded.isHere { return }
                guard let path = try? folder.appending(name) else { return }
                try consider(path, kind, recorded, reads, landing, &folders, &changes, &result)
            }
        }
    }

    private func consider(
        _ path: ItemPath, _ kind: Item.Kind?, _ recorded: RecordedName?, _ reads: ReadTransaction,
        _ landing: Set<LocalID>, _ folders: inout [ItemPath], _ changes: inout [TreeChange],
        _ result: inout Reconciliation
    ) throws {
        guard let kind else { return }
        // A removed folder was made here for copies that are still in it. A file in its place is new.
        if let recorded, !recorded.isRemovedFolder || kind == .folder {
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
