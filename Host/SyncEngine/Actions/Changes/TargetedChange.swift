import Connection
import Database
import Model

/// A change that puts something at a path where nothing is: a copy or a move.
///
/// The server is asked whether the target is free before the first request, and the journal keeps the answer. If a later
/// answer does not tell whether the change was made, source and target are asked for until they show it.
protocol TargetedChange: ChangeAction {
    /// Whether what was at the source stays there.
    static var leavesSource: Bool { get }
    /// Sends the request.
    func send(_ record: SyncRecord, to target: ItemPath, isFolder: Bool) async throws(ConnectionError) -> WriteOutcome
    /// Asks for what is at the places of the change.
    func state(of record: SyncRecord, isFolder: Bool, wasFree: Bool?) async throws -> TargetState
}

/// What was seen at the places of a change with a target.
struct TargetState: Sendable {
    var confirmation: ChangeConfirmation
    /// What was there before, at the paths of the target.
    var wanted: ServerTree
    /// What is at the target.
    var target: ServerTree?
    /// A digest of all that was seen.
    var digest: String
}

extension TargetedChange {
    /// Carries a request out, or finds out what an earlier one has done.
    /// - Parameters:
    ///   - write: The request as it is told.
    ///   - target: The path at which something is to be put.
    func request(
        _ job: Job, _ write: WriteRequest, to target: ItemPath, mayHaveArrived: Bool
    ) async throws -> ChangeResult {
        var record = job.record
        let isFolder = job.kind == .folder
        // After a request that was answered as not carried out, such as with 503, the answer may have been a proxy's.
        let isFirst = !mayHaveArrived && record.evidence.targetWasFree == nil
        if mayHaveArrived, let result = try await effect(of: record, write, to: target, isFolder) { return result }
        if record.evidence.targetWasFree == nil {
            guard try await server.held(at: target) == nil else {
                return .refused(WriteRefusal.exists.failure(of: write), .change)
            }
            record.evidence.targetWasFree = true
            try await noteFreeTarget(of: record.id)
        }
        switch try await send(record, to: target, isFolder: isFolder) {
        case .done:
            guard Self.leavesSource else { return .done() }
            return .done(
                try await afterChange { () throws(ConnectionError) in try await server.held(at: target) }?.item)
        case .refused(let refusal):
            if !isFirst, refusal == .exists || refusal == .notFound,
                let result = try await effect(of: record, write, to: target, isFolder)
            {
                return result
            }
            return result(refusal, of: write)
        case .unclear(let error):
            if let result = try await effect(of: record, write, to: target, isFolder) { return result }
            throw error
        }
    }

    /// Finds out what an earlier request has done.
    /// - Returns: nil if it has done nothing.
    private func effect(
        of record: SyncRecord, _ write: WriteRequest, to target: ItemPath, _ isFolder: Bool
    ) async throws -> ChangeResult? {
        let seen = try await state(of: record, isFolder: isFolder, wasFree: record.evidence.targetWasFree)
        switch seen.confirmation {
        case .made: return .done(Self.leavesSource ? seen.target?.top : nil)
        case .undone: return nil
        case .foreign: return .refused(WriteRefusal.exists.failure(of: write), .change)
        case .partly: break
        case .unproven:
            if let shown = seen.target,
                try await haveSameContents(seen.wanted, isThere: Self.leavesSource, shown) == true
            {
                return .done(Self.leavesSource ? shown.top : nil)
            }
        }
        return .uncertain(
            Failure(
                .failed,
                "\(write.doing.capitalizedStart) was not answered, and \(target) does not show yet that it is done",
                hint: "Look at \(target) on the server; what waits for it here goes on when it is certain"),
            .uncertain, seen: seen.digest)
    }

    private func noteFreeTarget(of id: SyncRecordID) async throws {
        try await database.writeTogether { tx in
            guard var record = try tx.journal.record(id: id) else { return }
            record.evidence.targetWasFree = true
            try tx.journal.update(record)
        }
    }
}

extension String {
    /// The text with its first letter in upper case.
    fileprivate var capitalizedStart: String { prefix(1).uppercased() + dropFirst() }
}
