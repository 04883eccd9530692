import Database
import DemoServer
import Model
import Synchronization
import TestServer
import TestSupport
import Testing

@testable import Core

/// Changes that are made while more of them are found.
@Suite("Feeds of changes", .timeLimit(.minutes(10)))
struct ChangeFeedTests {
    /// A feed of changes, and what was said of them.
    private final class Feed: Sendable {
        private struct State {
            var batches: [[ChangeRequest]]
            var outcomes: [ChangeOutcome.Change] = []
        }

        private let state: Mutex<State>
        private let before: @Sendable (Int) async -> Void

        /// - Parameter before: called before each batch but the first, with its number.
        init(_ batches: [[ChangeRequest]], before: @escaping @Sendable (Int) async -> Void = { _ in }) {
            state = Mutex(State(batches: batches))
            self.before = before
        }

        var outcomes: [ChangeOutcome.Change] { state.withLock { $0.outcomes } }

        var feed: ChangeFeed {
            let asked = Mutex(0)
            return ChangeFeed {
                let number = asked.withLock { number in
                    defer { number += 1 }
                    return number
                }
                if number > 0 { await self.before(number) }
                return self.state.withLock { $0.batches.isEmpty ? [] : $0.batches.removeFirst() }
            } queued: { outcomes in
                self.state.withLock { $0.outcomes += outcomes }
            }
        }
    }

    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    @Test("S40: a change is made while the next ones are still being found")
    func meanwhile() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.runWell()
            let server = fixture.server
            let feed = Feed([[.createFolder(try path("/new"))], [.createFolder(try path("/new/below"))]]) { number in
                // The feed goes on when the server has what came before. Otherwise the test ends by its time limit.
                let path = number == 1 ? "/new/" : "/new/below/"
                while !server.tree.paths.contains(path) { await Task.yield() }
            }
            let outcome = try await fixture.make(feed.feed)
            #expect(outcome.failures.isEmpty && outcome.issues.isEmpty, "\(outcome)")
            #expect(feed.outcomes.count == 2 && feed.outcomes.allSatisfy { $0.record != nil && $0.refusal == nil })
            #expect(server.tree.paths.contains("/new/below/"))
            #expect(try await fixture.queue().isEmpty)
        }
    }

    @Test("What others have queued is left alone, unless it is what is asked for")
    func others() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "one")
            try await fixture.runWell()
            let changes: [ChangeRequest] = [.createFolder(try path("/other")), .setFavorite(try path("/a"), true)]
            let earlier = try await fixture.host.perform(ServerChange(changes, waits: false)).changes.compactMap(
                \.record)
            #expect(earlier.count == 2)
            let feed = Feed([[.setFavorite(try path("/a"), true), .createFolder(try path("/mine"))]])
            let outcome = try await fixture.make(feed.feed)
            #expect(outcome.failures.isEmpty && outcome.issues.isEmpty, "\(outcome)")
            #expect(feed.outcomes.first?.record == earlier.last)
            #expect(fixture.server.tree.paths.contains("/mine/") && !fixture.server.tree.paths.contains("/other/"))
            #expect(try await fixture.queue() == ["createFolder /other"])
            // A feed without changes waits for earlier records alone.
            let rest = try await fixture.make(Feed([]).feed, after: earlier)
            #expect(rest.failures.isEmpty && fixture.server.tree.paths.contains("/other/"))
            #expect(try await fixture.queue().isEmpty)
        }
    }

    @Test("What was queued before and has to be made first is made first", arguments: [false, true])
    func order(asFeed: Bool) async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "one")
            try await fixture.runWell()
            let before: [ChangeRequest] = [
                .createFolder(try path("/other")), .move(try path("/a"), to: try path("/b")),
            ]
            let earlier = try await fixture.host.perform(ServerChange(before, waits: false)).changes.compactMap(
                \.record)
            #expect(earlier.count == 2)
            let change = ChangeRequest.copy(try path("/b"), to: try path("/c"))
            let outcome =
                asFeed
                ? try await fixture.make(Feed([[change]]).feed)
                : try await fixture.host.perform(ServerChange([change], waits: true))
            #expect(outcome.failures.isEmpty && outcome.issues.isEmpty, "\(outcome)")
            #expect(fixture.server.tree.bytes(of: "/c") == Array("one".utf8))
            #expect(fixture.server.tree.bytes(of: "/b") == Array("one".utf8))
            // What has nothing to do with it is left alone.
            #expect(try await fixture.queue() == ["createFolder /other"])
        }
    }

    @Test("What waits behind a change that was refused says so, and is not sent")
    func behindIssue() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "one")
            try await fixture.runWell()
            fixture.put("/b", "in the way")
            let moved = try await fixture.host.perform(
                ServerChange([.move(path("/a"), to: path("/b"))], waits: true))
            #expect(moved.issues.count == 1)
            let outcome = try await fixture.host.perform(ServerChange([.copy(path("/b"), to: path("/c"))], waits: true))
            #expect(outcome.failures.count == 1 && outcome.issues.isEmpty, "\(outcome)")
            #expect(outcome.failures.first?.message.contains("waits for record") == true, "\(outcome.failures)")
            #expect(!fixture.server.tree.paths.contains("/c"))
        }
    }

    @Test("A feed with nothing to do asks the server for nothing")
    func nothing() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/d/a", "one")
            try await fixture.runWell()
            await fixture.server.stop()
            let outcome = try await fixture.make(Feed([[.haveFolder(try path("/d"))]]).feed)
            #expect(outcome.failures.isEmpty, "\(outcome)")
        }
    }

    @Test("Without a network all changes of a feed are queued, and the failure says so; what is refused is told")
    func offline() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "one")
            try await fixture.runWell()
            await fixture.server.stop()
            let feed = Feed(
                [
                    [.createFolder(try path("/new"))], [.createFolder(try path("/a"))],
                    [.createFolder(try path("/new/2"))],
                ])
            let outcome = try await fixture.make(feed.feed)
            #expect(outcome.failures.map(\.kind) == [.unreachable], "\(outcome)")
            #expect(feed.outcomes.map { $0.refusal?.kind } == [nil, .cannotCreate, nil])
            #expect(try await fixture.queue() == ["createFolder /new", "createFolder /new/2"])
        }
    }

    @Test("A feed whose changes need not be made asks the server for nothing")
    func queued() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.runWell()
            let before = fixture.server.requests.count
            let feed = Feed([[.createFolder(try path("/new"))]])
            let outcome = try await fixture.make(feed.feed, waits: false)
            #expect(outcome.failures.isEmpty && fixture.server.requests.count == before)
            #expect(try await fixture.queue() == ["createFolder /new"])
        }
    }
}

extension AccountFixture {
    fileprivate func make(
        _ feed: ChangeFeed, after earlier: [SyncRecordID] = [], waits: Bool = true
    ) async throws -> ChangeOutcome {
        try await host.make(feed, after: earlier, waits: waits) { _ in }
    }

    /// Returns the records in the journal: their actions and paths.
    fileprivate func queue() async throws -> [String] {
        try await host.database.read { reads in
            var records: [String] = []
            try reads.journal.each { record in
                records.append("\(record.action.kind.rawValue) \(record.path)")
                return true
            }
            return records
        }
    }
}
