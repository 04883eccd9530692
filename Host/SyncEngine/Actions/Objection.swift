public import Database
public import Model

/// What speaks against removing a copy.
enum Objection: Hashable, Sendable {
    /// It was changed here, or is only here.
    case changed
    /// Nothing is to go any more: a policy keeps the copy, or what it was to go for is over. As a sentence's end.
    case kept(String)
    /// Somebody uses it: it may go later. As a sentence's end.
    case used(String)
    /// The tree has still to follow a move.
    case moving
}

/// The one place that decides whether a copy may go, whoever asked: when a removal is asked for, and again in the transaction that
/// carries it out. What has become of the file itself is looked at where it is taken out of the tree.
extension SyncEngine {
    /// - Parameters:
    ///   - request: The removal, as it was asked for.
    ///   - record: Its own record; nil if it has none yet.
    /// - Returns: nil if the copy may go.
    func objection(
        to request: SyncRecord.Action, of item: Item, besides record: SyncRecord?, in tx: Transaction
    ) throws -> Objection? {
        switch request {
        case .download: return nil
        case .purge:
            guard let removedAt = item.removedAt else { return .kept("is on the server again") }
            // What another item displaced is not gone before that is decided.
            if try tx.scan.isMissing(item.databaseID) { return .kept("is not decided about yet") }
            // Gone, back, and gone anew: that has an age of its own.
            if let record, record.since < removedAt { return .kept("was on the server again meanwhile") }
            if try tx.journal.records(of: item.localID).contains(where: { $0.id != record?.id }) {
                return .kept("has something else to be done with it")
            }
        case .removeLocalCopy(_, let unusedSince):
            if let unusedSince, let use = try use(of: item, since: unusedSince, besides: record?.id, in: tx) {
                return .used(use)
            }
            if let policy = try tx.policies.keeping(item, now: clock.agesTo()) { return .kept(policy.keeps) }
        }
        switch item.cloudStatus {
        case .locallyModified, .localOnly: return .changed
        case .cloudOnly: return nil
        case .localCopy: break
        }
        if try tx.moves.isToCome(around: item.path) { return .moving }
        return try validClaim(of: item, in: tx).map(Objection.used)
    }

    /// Why a copy that a person wanted gone is still here, as a sentence's end; nil: nothing speaks for it.
    /// - Throws: `.badData` if a policy's condition does not parse, `.internal` if a record or claim makes no sense, or
    ///   SQLite's error; see ``DatabaseReads``.
    public func reasonToStay(_ item: Item, in tx: Transaction) throws -> String? {
        switch item.cloudStatus {
        case .cloudOnly: return nil
        case .localOnly: return "is only here"
        case .locallyModified: return "was changed here"
        case .localCopy: break
        }
        switch try objection(to: .removeLocalCopy(restoringFormerTrigger: false), of: item, besides: nil, in: tx) {
        case .kept(let why), .used(let why): return why
        case .moving: return "is being moved"
        case .changed: return "was changed here"
        case nil: return "is open in another program"
        }
    }
}

extension ItemPolicy {
    /// As a sentence's end.
    fileprivate var keeps: String { "is kept here by the policy \(path?.text ?? condition) (\(id))" }
}
