import Connection
import Database
import Model

/// What the server has made of a change that was cancelled.
enum CancelledEffect<Effect: Sendable>: Sendable {
    case made(ChangeResult<Effect>)
    /// The server has something of it, which is taken as it is.
    case partly(ChangeResult<Effect>)
    case notMade
    /// The server may still be at work. It has shown what has this digest.
    case unknown(digest: String)
}

extension ChangeAction {
    /// Tells whether the places of a change have shown the same for so long that the server is known to be done with it.
    fileprivate func isStill(_ record: SyncRecord, _ digest: String) -> Bool {
        guard let seen = record.evidence.observation, seen.digest == digest else { return false }
        let now = context.waitTime()
        return seen.since <= now && now - seen.since >= ChangeDelay.cancelledStillness
    }
}

extension TargetedChange {
    func effectOfCancelled(_ job: Job) async throws -> CancelledEffect<RecordedEffect> {
        let record = job.record
        let seen = try await state(
            of: record, isFolder: job.kind == .folder, wasFree: record.evidence.targetWasFree)
        let made = ChangeResult<RecordedEffect>.done(Self.leavesSource ? seen.target?.top : nil)
        if seen.confirmation == .made { return .made(made) }
        guard isStill(record, seen.digest) else { return .unknown(digest: seen.digest) }
        switch seen.confirmation {
        case .made, .undone, .foreign: return .notMade
        case .partly, .unproven:
            guard Self.leavesSource, let shown = seen.target else {
                return try await server.held(at: record.path) == nil ? .partly(made) : .notMade
            }
            let isWhole = try await haveSameContents(seen.wanted, isThere: true, shown)
            return isWhole == true ? .made(made) : .partly(made)
        }
    }
}

extension DeleteAction {
    func effectOfCancelled(_ job: Job) async throws -> CancelledEffect<RecordedEffect> {
        guard let left = try await tree(at: job.record.path) else { return .made(.done()) }
        let digest = digest(of: left)
        return isStill(job.record, digest) ? .notMade : .unknown(digest: digest)
    }
}

extension CreateFolderAction {
    func effectOfCancelled(_ job: Job) async throws -> CancelledEffect<RecordedEffect> {
        guard let held = try await server.held(at: job.record.path), held.item.kind == .folder, !held.isForeign else {
            return .notMade
        }
        return .made(.done(held.item))
    }
}

extension SetFavoriteAction {
    func effectOfCancelled(_ job: Job) async throws -> CancelledEffect<RecordedEffect> {
        let held = try await server.held(at: job.record.path)
        return job.record.action == .setFavorite(held?.item.isFavorite ?? false) ? .made(.done()) : .notMade
    }
}

extension SetModificationTimeAction {
    func effectOfCancelled(_ job: Job) async throws -> CancelledEffect<RecordedEffect> {
        guard case .setModificationTime(let time, _) = job.record.action,
            let held = try await server.held(at: job.record.path), held.item.lastModified?.seconds == time.seconds
        else { return .notMade }
        return .made(.done(held.item))
    }
}
