import Connection
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import Database
@testable import SyncEngine

/// Tests of what failed and is tried again without a person.
struct TriedAgainTests {
    private static let forbidden = ConnectionError(.forbidden, "403 Forbidden", status: 403)

    /// Calls `body` with a file whose download the server has refused.
    private func withRefused(_ body: (EngineFixture, Item, SyncRecordID) async throws -> Void) async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.source.failAlways(file.path, Self.forbidden)
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().leftCount == 1)
            #expect(fixture.source.requests.count == 1)
            let record = try #require(try await fixture.records().first)
            try await body(fixture, file, record.id)
        }
    }

    private func pause(of fixture: EngineFixture) async throws -> Duration {
        guard case .retry(let time, _) = try await fixture.records().first?.wait else { throw SetupError("no retry") }
        return time - fixture.clock.now
    }

    @Test(
        "S52: what failed is tried again for ever, after pauses that double from a minute to six hours",
        arguments: [(500, 0), (404, 0), (403, 2)])
    func growingPauses(_ status: Int, _ leftOut: Int) async throws {
        let kinds: [Int: ConnectionError.Kind] = [500: .serverError, 404: .notFound, 403: .forbidden]
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.source.failAlways(file.path, .init(kinds[status] ?? .badRequest, "\(status)", status: status))
            try await fixture.ask(.download, file)
            for round in 0..<14 {
                let outcome = try await fixture.drain()
                #expect(outcome.left.map(\.issue) == [1])
                let pause = try await pause(of: fixture)
                let longest = min(Duration.seconds(60 << (round + leftOut)), .seconds(6 * 3600))
                #expect(pause <= longest && pause >= longest / 2, "round \(round)")
                let requests = fixture.source.requests.count
                fixture.clock.advance(pause - .seconds(20))
                #expect(try await fixture.drain().leftCount == 1)
                #expect(fixture.source.requests.count == requests)
                fixture.clock.advance(.seconds(20))
            }
            #expect(try await fixture.issues().map(\.code) == ["download.retry"])
            fixture.source.failAlways(file.path, nil)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/f") == "content")
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S52: a running engine tries again at once for another version, size or permissions", arguments: 0..<3)
    func otherMetadata(_ change: Int) async throws {
        try await withRefused { fixture, file, _ in
            fixture.source.failAlways(file.path, nil)
            let run = Task { try await fixture.run() }
            let version = ETag(opaque: change == 0 ? "v2" : "v1", strength: .strong)
            let text = change == 1 ? "longer content" : "content"
            fixture.source[file.path] = .init(bytes: Array(text.utf8), version: version)
            func list(_ etag: ETag, size: Int64, _ permissions: String?, _ modified: Int64) async throws {
                try await fixture.database.write { tx in
                    let row = try #require(try tx.items.scanRow(at: file.path))
                    let entry = ListedItem(
                        path: file.path, kind: .file, etag: etag, size: size,
                        lastModified: Timestamp(seconds: modified), permissions: permissions)
                    try tx.items.updateListed(row, with: entry, fileID: try #require(row.fileID), racy: .no)
                }
            }
            // Another time alone is nothing that the server's refusal can have to do with.
            try await list(ETag(opaque: "v1", strength: .strong), size: 7, nil, 1_600_000_001)
            #expect(try await pause(of: fixture) > .seconds(100))
            try await list(version, size: Int64(text.utf8.count), change == 2 ? "RDNVW" : nil, 1_600_000_001)
            await until { (try? fixture.text("/f")) == text }
            await until { (try? await fixture.records().isEmpty) == true }
            #expect(try await fixture.issues().isEmpty)
            run.cancel()
            _ = try? await run.value
        }
    }

    @Test("S52: a version that was listed while its download failed is fetched at once")
    func listedMeanwhile() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            try await fixture.ask(.download, file)
            let record = try #require(try await fixture.records().first)
            let job = Job(record, item: try await fixture.now(file))
            try await fixture.list(file, size: 7, version: ETag(opaque: "v2", strength: .strong))
            let decision = RetryDecision.retry(at: fixture.clock.now + .seconds(60), attempts: 5)
            try await fixture.database.write { [engine = fixture.engine] tx in
                _ = try engine.context.failures.resolve(job, decision, because: Failure(.denied, "403"), in: tx)
            }
            #expect(try await fixture.records().map(\.wait) == [nil])
        }
    }

    @Test("S52: a person's request, an answer and a restart in its time ask the server")
    func asked() async throws {
        try await withRefused { fixture, file, id in
            // What a plugin asks for once more does not.
            guard case .joined(id) = try await fixture.ask(.download, file, for: .availableOffline) else {
                throw SetupError("not joined")
            }
            #expect(try await fixture.drain().leftCount == 1)
            #expect(fixture.source.requests.count == 1)
            guard case .joined(id) = try await fixture.ask(.download, file) else { throw SetupError("not joined") }
            let issue = try await fixture.database.write { [engine = fixture.engine] in try engine.hurry(id, in: $0) }
            #expect(issue == nil)
            #expect(try await fixture.drain().left.map(\.issue) == [1])
            #expect(fixture.source.requests.count == 2)
            try await fixture.engine.retry(id)
            #expect(try await fixture.drain().left.compactMap(\.issue).count == 1)
            #expect(fixture.source.requests.count == 3)

            let next = try EngineFixture(reopening: fixture)
            #expect(try await next.drain().leftCount == 1)
            #expect(next.source.requests.count == 3)
            next.source.failAlways(file.path, nil)
            next.clock.advance(.seconds(240))
            #expect(try await next.drain().isDone)
            #expect(try await next.issues().isEmpty)
            #expect(try await next.records().isEmpty)
            try next.vault.close()
        }
    }

    @Test("S52: a download that waits for its next try holds up no change of its file, and goes with its requester")
    func holdsNothing() async throws {
        try await withRefused { fixture, file, id in
            try await fixture.put("mine", "/f", replaces: true)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/f") == "mine")
            #expect(fixture.source.requests.count == 1)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.records().isEmpty)
        }
        try await withRefused { fixture, file, id in
            try await fixture.engine.cancel(id)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.now(file).syncActivity == [])
        }
    }

    @Test("S52: a download that waited for a person in an older vault is tried again")
    func olderVault() async throws {
        try await withRefused { fixture, file, id in
            try await fixture.database.write { tx in
                var record = try #require(try tx.journal.record(id: id))
                record.wait = .issue(1)
                try tx.journal.update(record)
                try tx.journal.run(Schema014.sql)
            }
            fixture.source.failAlways(file.path, nil)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/f") == "content")
        }
    }

    @Test("S52: an upload for which the server has no room waits longer each time, from a minute on")
    func noRoom() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.put("mine", "/f")
            for round in 0..<12 {
                fixture.source.changing.then(.refuse(.noRoom(available: nil)))
                #expect(try await fixture.drain().leftCount == 1)
                guard case .until(let time) = try await fixture.records().first?.wait else {
                    throw SetupError("no wait")
                }
                let longest = min(Duration.seconds(60 << round), .seconds(6 * 3600))
                let pause = time - fixture.clock.now
                #expect(pause <= longest && pause >= longest / 2, "round \(round)")
                fixture.clock.advance(pause)
            }
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/f") == "mine" || fixture.source[ItemPath(unchecked: "/f")] != nil)
        }
    }
}
