import Connection
import Database
import Model

/// A change that puts something at a path where nothing is: a copy or a move.
///
/// The server is asked whether the target is free before the first request, and the journal keeps the answer. If a later
/// answer does not tell whether the change was made, source and target are asked for until they show it.
protocol TargetedChange: RecordedChange {
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
    ) async throws -> ChangeResult<RecordedEffect> {
        var record = job.record
        let isFolder = job.kind == .folder
        let isFirst = !mayHaveArrived && record.evidence.targetWasFree == nil
        if isFirst {
            guard try await server.held(at: target) == nil else {
                return .refused(WriteRefusal.exists.failure(of: write), .change)
            }
        } else if let result = try await afterEarlierChange({
            try await effect(of: record, write, to: target, isFolder)
        }) {
            return result
        }
        if record.evidence.targetWasFree != true {
            record.evidence.targetWasFree = true
            try await noteFreeTarget(of: record.id)
        }
        switch try await send(record, to: target, isFolder: isFolder) {
        case .done:
            let held = try await afterChange { try await server.held(at: target) }
            // A server, or a proxy, that says so has not always done it. Of what was moved nothing is left to compare
            // with: others may have changed it just before.
            let isAnySize = isFolder || !Self.leavesSource
            // Of a copied folder, the folder itself proves nothing of what is to be in it. A moved one is gone where it was.
            var isProved = !isFolder
            if isFolder, !Self.leavesSource {
                isProved = try await afterChange { try await server.held(at: record.path) } == nil
            }
            guard isProved, let made = held?.item, made.kind == job.kind, isAnySize || made.size == job.size else {
                record.evidence.wasTaken = true
                let result = try await afterChange { try await effect(of: record, write, to: target, isFolder) }
                return result ?? uncertain(write, target, seen: "", wasTaken: true)
            }
            return .done(Self.leavesSource ? made : nil)
        case .refused(let refusal):
            if !isFirst, refusal == .exists || refusal == .notFound,
                let result = try await afterChange({ try await effect(of: record, write, to: target, isFolder) })
            {
                return result
            }
            return result(refusal, of: write)
        case .unclear(let error):
            if let result = try await afterChange({ try await effect(of: record, write, to: target, isFolder) }) {
                return result
            }
            throw error
        }
    }

    /// Finds out what an earlier request has done.
    /// - Returns: nil if it has done nothing, so that it may be sent.
    private func effect(
        of record: SyncRecord, _ write: WriteRequest, to target: ItemPath, _ isFolder: Bool
    ) async throws -> ChangeResult<RecordedEffect>? {
        let wasTaken = record.evidence.wasTaken == true
        guard try await server.held(at: target) != nil else {
            // A server that has answered that it did it may do it later.
            return wasTaken ? uncertain(write, target, seen: "", wasTaken: true) : nil
        }
        let seen = try await state(of: record, isFolder: isFolder, wasFree: record.evidence.targetWasFree)
        switch seen.confirmation {
        case .made: return .done(Self.leavesSource ? seen.target?.top : nil)
        case .undone: return wasTaken ? uncertain(write, target, seen: seen.digest, wasTaken: true) : nil
        // What the server has answered that it copied is there, and others have written since.
        case .foreign where wasTaken && isFolder && Self.leavesSource: break
        case .foreign: return .refused(WriteRefusal.exists.failure(of: write), .change)
        case .partly: break
        case .unproven where wasTaken && isFolder && Self.leavesSource: return .done(seen.target?.top)
        case .unproven:
            // What was read once, and has not changed, is not read again.
            if let shown = seen.target, record.evidence.observation?.digest != seen.digest,
                try await haveSameContents(seen.wanted, isThere: Self.leavesSource, shown) == true
            {
                return .done(Self.leavesSource ? shown.top : nil)
            }
        }
        return uncertain(write, target, seen: seen.digest, wasTaken: wasTaken, isThere: true)
    }

    private func uncertain(
        _ write: WriteRequest, _ target: ItemPath, seen: String, wasTaken: Bool, isThere: Bool = false
    ) -> ChangeResult<RecordedEffect> {
        let shown = isThere ? "what is at \(target) is not what is to be there" : "\(target) does not show it yet"
        return .uncertain(
            Failure(
                .failed, "it is not certain whether \(write.doing) was done: \(shown)",
                hint: "Look at \(target) on the server; what waits for it here goes on when it is certain"),
            .uncertain, seen: seen, wasTaken: wasTaken)
    }

    private func noteFreeTarget(of id: SyncRecordID) async throws {
        try await database.writeTogether { tx in
            guard var record = try tx.journal.record(id: id) else { return }
            record.evidence.targetWasFree = true
            try tx.journal.update(record)
        }
    }
}
