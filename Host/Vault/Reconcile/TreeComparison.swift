import Database
import LocalTree
public import Model

extension RecordedEntry {
    /// Tells whether an access at a time is a use that is not recorded yet. An access soon after a recorded use is
    /// merged with that use. One that is not later than the file as it was recorded comes from putting the copy in place,
    /// as does any access while no use is recorded.
    /// - Parameters:
    ///   - accessed: The time of the access, by the file system's clock.
    ///   - time: The same time as far as it is believed.
    func wasUsed(_ accessed: Timestamp, believedAs time: Timestamp) -> Bool {
        guard kind == .file, status != .cloudOnly, status != .localOnly, let lastUsed else { return false }
        return time > lastUsed + RecentUses.merging && copy.map { accessed > $0.mark.changed } ?? true
    }
}

/// The result of comparing a row that should have a local entry with the entry found. Nothing was read for the
/// comparison.
enum TreeDifference: Hashable {
    case unchanged
    /// A copy removed by hand: the item is `cloudOnly` again.
    case freed
    /// A missing `localOnly` file or folder.
    case gone
    /// A file whose content must be compared with the digest: its mark differs or is no proof, or it is
    /// `locallyModified`.
    case unsure(digest: [UInt8])
    /// A file whose content certainly differs from the server's version.
    case modified
    /// A changed `localOnly` file, with its new mark.
    case rewritten(FileMark)

    /// Compares a row with the entry found at its path.
    /// - Parameter proof: The conditions under which equal marks prove equal content in this tree.
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
            // Without a known digest, nothing can match the content.
            guard let copy = row.copy, copy.mark.size == mark.size else { return isModified ? .unchanged : .modified }
            if !isModified, proof.suffices(copy.mark), copy.mark.matches(mark) { return .unchanged }
            return .unsure(digest: copy.digest)
        }
    }
}

/// A difference between rows and tree to write into the rows.
enum TreeChange: Hashable {
    case freed(RecordedEntry)
    case gone(RecordedEntry)
    case modified(RecordedEntry, FileMark)
    /// A file whose content matches the digest: its mark is renewed, and a `locallyModified` file becomes a `localCopy`
    /// again.
    case renewed(RecordedEntry, FileMark)
    case rewritten(RecordedEntry, FileMark)
    /// A copy that was read at a time.
    case used(RecordedEntry, Timestamp)
    /// A file or folder without a row.
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

/// A difference to report to a person.
public struct TreeFinding: Hashable, Sendable {
    /// The kind of a difference.
    public enum Kind: Hashable, Sendable {
        /// A copy or a `localOnly` file or folder that was removed by hand.
        case removed
        /// A copy that was changed by hand, or a file at the path of an item that was never downloaded.
        case modified
        /// A changed copy that has the server's content again.
        case restored
        /// A new local file or folder.
        case added
        /// An entry that cannot be the item's: a folder in place of a file, or a file in place of a folder.
        case obstructed
    }

    /// The path of the entry.
    public var path: ItemPath
    /// The kind of the difference.
    public var kind: Kind
}

/// The result of a comparison.
public struct Reconciliation: Hashable, Sendable {
    /// The differences that were found.
    public var findings: [TreeFinding] = []
    /// The paths that must be compared again: their files are being written or put in place, or changed meanwhile.
    public var unstable: [ItemPath] = []
    /// The unreadable folders that contain files according to the rows, with the reasons; of nested ones only the
    /// uppermost. No conclusions were drawn from files missing there.
    public var unreadable: [ItemPath: String] = [:]
}
