import Database
public import Model
import Threads
import Vault

/// The change feed of a running account: what tells its readers that something was committed.
final class EventFeed: Sendable {
    private struct State: Sendable {
        var readers = 0
        /// Rises with each commit that readers are told of, while there are readers.
        var commits = 0
        /// Why nothing more is told; nil while something is.
        var failure: Failure?
    }

    private let state = Monitor(State())
    private let database: Database
    private let files: String
    private let clock: HostClock

    init(_ database: Database, files: String, clock: HostClock) {
        (self.database, self.files, self.clock) = (database, files, clock)
    }

    /// Notes that a transaction was committed. Called on the database's writer; returns at once.
    func hear(_ changes: CommitChanges) {
        guard changes.isTold, state.with({ $0.readers > 0 }) else { return }
        state.change { $0.commits += 1 }
    }

    /// Ends all reading, for good.
    func end(because failure: Failure) { state.change { $0.failure = failure } }

    /// Makes a reader, which must be ended.
    /// - Throws: `.failed` if the account ends, or the task is cancelled; the database's `Failure`.
    func reader(behind position: ChangePosition?) async throws(Failure) -> EventFeedReader {
        state.change { $0.readers += 1 }
        do {
            let cursor = try await database.read { try FeedCursor(behind: position, $0) }
            return EventFeedReader(cursor, self)
        } catch {
            endReading()
            throw Failure(of: error)
        }
    }

    /// The time while the machine is awake.
    fileprivate var now: Duration { clock.awake() }

    fileprivate func endReading() { state.change { $0.readers -= 1 } }

    /// The number of commits so far.
    fileprivate func commits() throws -> Int {
        let (commits, failure) = state.with { ($0.commits, $0.failure) }
        if let failure { throw failure }
        return commits
    }

    fileprivate func page(_ cursor: FeedCursor) async throws -> (FeedCursor, [FeedEvent], isLast: Bool) {
        try await database.read { [cursor, files, clock] reads in
            var next = cursor
            let (events, isLast) = try next.page(reads, now: clock.agesTo(), files: files)
            return (next, events, isLast)
        }
    }

    /// Waits until there are more commits, or the feed ends, but no longer than a time.
    fileprivate func wait(beyond commits: Int, within time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [state] in
                // A cancelled wait is over too.
                do { try await state.waitUnlessCancelled { $0.commits > commits || $0.failure != nil } } catch {}
            }
            group.addTask { [clock] in do { try await clock.sleep(time) } catch {} }
            await group.next()
            group.cancelAll()
        }
    }
}

/// A reader of a running account's change feed. Must be ended.
///
/// ```swift
/// var reader = try await host.changes(behind: nil)
/// defer { reader.end() }
/// while true { for event in try await reader.next(within: .seconds(3)) { print(event.position) } }
/// ```
public struct EventFeedReader: Sendable {
    private var cursor: FeedCursor
    private let feed: EventFeed

    init(_ cursor: FeedCursor, _ feed: EventFeed) { (self.cursor, self.feed) = (cursor, feed) }

    /// The position behind all events that were taken.
    public var position: ChangePosition { cursor.position }

    /// Waits for events, and takes a page of them.
    /// - Parameter time: How long the reader waits at most.
    /// - Returns: The events; none if there were none in that time.
    /// - Throws: `.failed` if the account ends, or the task is cancelled; the database's `Failure`.
    public mutating func next(within time: Duration) async throws(Failure) -> [FeedEvent] {
        do {
            let end = feed.now + time
            while true {
                let heard = try feed.commits()
                let (next, events, isLast) = try await feed.page(cursor)
                cursor = next
                guard events.isEmpty else { return events }
                guard isLast else { continue }
                let left = end - feed.now
                guard left > .zero else { return [] }
                // Not each commit that is heard of has something to tell.
                await feed.wait(beyond: heard, within: left)
                try Task.checkCancellation()
            }
        } catch {
            throw Failure(of: error)
        }
    }

    /// Ends the reading.
    public func end() { feed.endReading() }
}

extension AccountHost {
    /// Begins to read the account's change feed. The reader must be ended.
    /// - Parameter position: The position behind which events are told; nil: what changes from now on is told.
    /// - Throws: `.failed` if the account ends, or the task is cancelled; the database's `Failure`.
    public func changes(behind position: ChangePosition?) async throws(Failure) -> EventFeedReader {
        try await feed.reader(behind: position)
    }

    /// Returns the position of the newest change.
    /// - Throws: The database's `Failure`.
    public func changePosition() async throws(Failure) -> ChangePosition {
        do { return try await vault.database.read { try $0.tombstones.position() } } catch { throw Failure(of: error) }
    }
}

extension AccountReader {
    /// Returns the position of the newest change.
    /// - Throws: As ``issues(limit:)``.
    public func changePosition() async throws(Failure) -> ChangePosition {
        try await read { try $0.tombstones.position() }
    }

    /// Reads the events of the account's change feed that are there now. The last one is a bookmark.
    /// - Parameters:
    ///   - position: The position behind which events are told; nil: nothing but the bookmark is.
    ///   - hear: Receives the events, page by page, and returns false to end early.
    /// - Throws: As ``issues(limit:)``.
    public func changes(
        behind position: ChangePosition?, _ hear: ([FeedEvent]) async -> Bool
    ) async throws(Failure) {
        var cursor = try await read { try FeedCursor(behind: position, $0) }
        var isLast = false
        while !isLast {
            let now = clock.agesTo()
            let page = try await read { [cursor, files] reads in
                var next = cursor
                let (events, isLast) = try next.page(reads, now: now, files: files)
                return (next, events, isLast)
            }
            (cursor, isLast) = (page.0, page.2)
            if !page.1.isEmpty, await !hear(page.1) { return }
        }
        _ = await hear([FeedEvent(position: cursor.position, content: .bookmark)])
    }
}
