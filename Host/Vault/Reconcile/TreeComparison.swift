import Database
import LocalTree
public import Model

extension RecordedEntry {
    /// Whether an access at a time is a use that is not known yet. What comes soon after one is merged with it, and so is what
    /// putting the copy in place leaves; without a known use nothing tells them apart.
    func wasUsed(at time: Timestamp) -> Bool {
        guard kind == .file, status != .cloudOnly, status != .localOnly, let lastUsed else { return false }
        return time > lastUsed + RecentUses.merging
    }
}

/// What follows from comparing a row that should be here with what is there. Nothing was read for it.
enum TreeDifference: Hashable {
    case unchanged
    /// The copy was removed by hand: the item is on the server alone again.
    case freed
    /// What was here alone is gone.
    case gone
    /// The looks are others and prove nothing: the bytes must be compared with the digest.
    case unsure(digest: [UInt8])
    /// The content is certainly another than the server's.
    case modified
    /// What is here alone was changed.
    case rewritten(FileMark)

    /// - Parameter proof: What equal looks are worth where the tree lies.
    static func compare(
        _ row: RecordedEntry, with found: FoundEntry, proof: MarkProof = MarkProof()
    ) -> TreeDifference {
        switch (row.kind, found) {
        case (_, .unreadable): .unchanged
        case (.folder, .folder), (.folder, .link): .unchanged
        case (.folder, _), (.file, .nothing), (.file, .folder), (.file, .link), (.file, .other):
            row.status == .localOnly ? .gone : .freed
        case (.file, .file(let mark)): compare(row, withFile: mark, proof)
        }
    }

    private static func compare(_ row: RecordedEntry, withFile mark: FileMark, _ proof: MarkProof) -> TreeDifference {
        switch row.status {
        case .cloudOnly: return .modified
        case .localOnly:
            return row.size == mark.size && row.lastModified == mark.modified ? .unchanged : .rewritten(mark)
        case .localCopy, .locallyModified:
            let isModified = row.status == .locallyModified
            // A digest that is not known is nobody's.
            guard let copy = row.copy, copy.mark.size == mark.size else { return isModified ? .unchanged : .modified }
            if !isModified, proof.suffices(copy.mark), copy.mark.matches(mark) { return .unchanged }
            return .unsure(digest: copy.digest)
        }
    }
}

/// A difference between rows and tree that is to be written into the rows.
enum TreeChange: Hashable {
    case freed(RecordedEntry)
    case gone(RecordedEntry)
    case modified(RecordedEntry, FileMark)
    /// The bytes are those of the digest: the mark is renewed, and what counted as modified is a copy again.
    case renewed(RecordedEntry, FileMark)
    case rewritten(RecordedEntry, FileMark)
    /// A copy was read.
    case used(RecordedEntry, Timestamp)
    /// A file or folder of which no row knows.
    case added(ItemPath, Item.Kind, FileMark?)

    var path: ItemPath {
        switch self {
        case .freed(let row), .gone(let row), .modified(let row, _), .renewed(let row, _), .rewritten(let row, _),
            .used(let row, _):
            row.path
        case .added(let path, _, _): path
        }
    }
}

/// A difference as it is told to a person.
public struct TreeFinding: Hashable, Sendable {
    /// What became of it.
    public enum Kind: Hashable, Sendable {
        /// A copy was removed by hand, or a file that was only here.
        case removed
        /// A copy was changed by hand, or a file lies where an item is that was never fetched.
        case modified
        /// A changed copy has the server's content again.
        case restored
        /// A new local file or folder.
        case added
        /// What lies there cannot be the item's: a folder in a file's place, or a file in a folder's.
        case obstructed
    }

    public var path: ItemPath
    public var kind: Kind
}

/// What a comparison came to.
public struct Reconciliation: Hashable, Sendable {
    /// What was different.
    public var findings: [TreeFinding] = []
    /// What is to be compared again: it is being written or put in place, or changed meanwhile.
    public var unstable: [ItemPath] = []
    /// Folders of which rows say that something is in them, and that cannot be looked into: the uppermost of each, and why. Nothing
    /// was concluded from what is missing there.
    public var unreadable: [ItemPath: String] = [:]
}
