import Connection
import Database
import ItemList
import LocalTree
public import Model
import SyncEngine
import Threads
import Vault

/// A command of a person that changes something on the server. It is accepted without a network too, and shows in the
/// item list at once.
///
/// A change that is refused is an answer: `.notFound` if an item is not known; `.cannotCreate` if something is in the
/// way; `.badData` for what makes no sense, such as a move into itself; `.denied` if the account may not do it;
/// `.failed` for an item that exists only here, or that the server may have lost. With an error, it is not known whether
/// the change is queued.
public struct ServerChange: AccountCommand {
    public static let name = "change"

    /// The change.
    public var change: ChangeRequest
    /// Whether the command waits until the server has made the change. Otherwise the running host or the next run makes
    /// it.
    public var waits: Bool

    /// Creates the command.
    public init(_ change: ChangeRequest, waits: Bool) { (self.change, self.waits) = (change, waits) }

    public func carryOut(for host: AccountHost) async throws(Failure) -> ChangeOutcome {
        try await host.failing {
            try await host.work.turn {
                try await host.recover()
                return try await make(for: host, isAtWork: false)
            } atWork: {
                try await make(for: host, isAtWork: true)
            }
        }
    }

    private func make(for host: AccountHost, isAtWork: Bool) async throws -> ChangeOutcome {
        var outcome = ChangeOutcome()
        if case .setFavorite(let path, _) = change, try await host.knowsOfNoFavorites() {
            outcome.refusal = Failure(
                .failed, "\(path) cannot be a favorite: only servers of the ownCloud family have favorites")
            return outcome
        }
        let record: SyncRecordID
        switch try await host.database.write({ [engine = host.engine] in try engine.enqueue(change, in: $0) }) {
        case .done: return outcome
        case .refused(let failure):
            outcome.refusal = failure
            return outcome
        case .queued(let id), .joined(let id), .waits(let id, _): record = id
        }
        outcome.record = record
        try await host.list.carryOutMoves()
        guard waits else { return outcome }
        do throws(Failure) { try await host.reachServer(isAtWork: isAtWork) } catch {
            outcome.failures.append(error.leaving(record, isAtWork: isAtWork))
            return outcome
        }
        let drained =
            isAtWork
            ? try await host.engine.wait(for: [record])
            : try await host.engine.drain(only: [record], with: host.partners)
        guard let left = drained.left.first else {
            outcome.record = nil
            return outcome
        }
        if let id = left.issue, let issue = try await host.database.read({ try $0.issues.issue(id: id) }) {
            outcome.issues.append(issue)
        } else if let failure = drained.failure ?? (drained.isOffline ? host.offlineFailure : nil) {
            outcome.failures.append(failure.leaving(record, isAtWork: isAtWork))
        } else {
            outcome.failures.append(
                Failure(left.failure.ofOneItem, "\(left.path): \(left.why)").leaving(record, isAtWork: isAtWork))
        }
        return outcome
    }
}

/// The outcome of a change of the server.
public struct ChangeOutcome: Codable, Sendable {
    /// The record that is in the journal; nil if the change is made, or nothing had to be done.
    public var record: SyncRecordID?
    /// The reason why the change was refused. Nothing was changed then.
    public var refusal: Failure?
    /// The errors because of which the change is not made yet.
    public var failures: [Failure] = []
    /// The issues that a person must decide first.
    public var issues: [Issue] = []
}

/// Snapshots of files to upload.
public enum Snapshots {
    /// Takes a snapshot of a file for an account's uploads, with the rights of this process. Blocks.
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - bookmark: The account.
    /// - Returns: The facts about the snapshot, and its lock, which is kept until the upload was requested.
    /// - Throws: As ``TakenSnapshot/take(of:into:)``; `.failed` if the account was never run.
    public static func take(
        of file: String, for bookmark: Bookmark
    ) throws(Failure) -> (snapshot: TakenSnapshot, lock: any Sendable) {
        guard let folder = Vault.outgoingFolder(at: bookmark.vault, files: bookmark.files) else {
            throw Failure(.failed, "Nothing is known of \(bookmark.name) yet", hint: .runFirst)
        }
        let (snapshot, lock) = try TakenSnapshot.take(of: file, into: folder)
        return (snapshot, lock)
    }

    /// Removes a snapshot that no upload was requested for. Blocks.
    public static func discard(_ snapshot: TakenSnapshot, of bookmark: Bookmark) {
        guard let folder = Vault.outgoingFolder(at: bookmark.vault, files: bookmark.files) else { return }
        snapshot.discard(from: folder)
    }
}

extension Failure {
    /// Returns the failure with the advice that a change is still queued.
    fileprivate func leaving(_ record: SyncRecordID, isAtWork: Bool) -> Failure {
        var failure = self
        let more = Advice.changeStaysQueued(record, isAtWork: isAtWork)
        failure.hint = failure.hint.map { .both($0, more) } ?? more
        return failure
    }
}

extension AccountHost {
    /// Tells whether the server is known to have no favorites.
    fileprivate func knowsOfNoFavorites() async throws -> Bool {
        if let known = connection.known { return !known.isOwnCloudFamily }
        let kept = try await database.read { try $0.meta.json(KnownServer.self, .server) }
        return kept.map { !$0.isOwnCloudFamily } ?? false
    }

    /// Finds the server for a command.
    /// - Parameter isAtWork: Whether a run is in progress, which finds the server by itself.
    /// - Returns: The facts about the server; nil if a run is in progress, which keeps them.
    /// - Throws: The reason why the server cannot be asked.
    @discardableResult
    func reachServer(isAtWork: Bool) async throws(Failure) -> ServerFacts? {
        do {
            guard !isAtWork else {
                try await reachAtWork()
                return nil
            }
            return try await ListingRetry.trying(clock, upTo: 1) { try await connect().facts }
        } catch let error as ConnectionError {
            throw error.failure
        } catch {
            throw Failure(of: error)
        }
    }
}
