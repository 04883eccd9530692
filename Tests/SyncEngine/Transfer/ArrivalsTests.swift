import Model
import TestSupport
import Testing

@testable import Database
@testable import LocalTree
@testable import SyncEngine
@testable import Vault

/// Tests of how long complete downloads wait for others before the engine puts them in place together.
struct ArrivalsTests {
    private static let start = Timestamp(seconds: 1_700_000_000)

    private func file(size: Int64 = 1) throws -> Fetched {
        let path = try ItemPath("/a")
        let record = SyncRecord(
            id: 1, action: .download, state: .processing, localID: LocalID("a"), path: path, reason: .user,
            since: Self.start)
        let item = Item(localID: LocalID("a"), fileID: FileID("a"), path: path, kind: .file)
        let mark = FileMark(
            inode: 1, size: size, modified: Self.start, changed: Self.start, recorded: Self.start)
        return Fetched(
            job: Job(record, item: item),
            file: CompletedFile(name: "1", digest: [], others: [:], mark: mark),
            version: ETag(opaque: "v", strength: .strong))
    }

    @Test("The first file's wait counts; a full batch and many bytes wait for nobody")
    func due() throws {
        var arrivals = Arrivals()
        let (start, second) = (Self.start, Duration.seconds(1))
        #expect(!arrivals.areDue(landingDelay: .zero, now: start) && arrivals.landsAt(landingDelay: second) == nil)
        arrivals.append(try file(), now: start)
        arrivals.append(try file(), now: start + .milliseconds(900))
        #expect(arrivals.landsAt(landingDelay: second) == start + second)
        #expect(!arrivals.areDue(landingDelay: second, now: start + .milliseconds(999)))
        #expect(arrivals.areDue(landingDelay: second, now: start + second))
        #expect(arrivals.areDue(landingDelay: .zero, now: start))

        for _ in 2..<Arrivals.batch - 1 { arrivals.append(try file(), now: start) }
        #expect(!arrivals.areDue(landingDelay: second, now: start))
        arrivals.append(try file(), now: start)
        #expect(arrivals.areDue(landingDelay: second, now: start) && !arrivals.areTooMany)
        #expect(arrivals.takeAll().files.count == Arrivals.batch && arrivals.isEmpty)
        #expect(arrivals.landsAt(landingDelay: second) == nil)

        for size in [Arrivals.batchBytes - 1, 1] {
            #expect(!arrivals.areDue(landingDelay: second, now: start))
            arrivals.append(try file(size: size), now: start)
        }
        #expect(arrivals.areDue(landingDelay: second, now: start))
    }

    @Test("Where others are under way a file waits a second for them and no longer", .timeLimit(.minutes(20)))
    func others() async throws {
        try await running(["/a", "/b", "/c"]) { fixture, clock, gates in
            await untilUnderWay(2, of: 3, by: fixture)
            #expect(try fixture.text("/a") == nil)
            clock.advance(to: Arrivals.longestWait - .milliseconds(1))
            gates[0].open()
            await untilUnderWay(1, of: 3, by: fixture)
            for path in ["/a", "/b"] { #expect(try fixture.text(path) == nil) }
            clock.advance(to: Arrivals.longestWait)
            for path in ["/a", "/b"] { try await untilHere(path, fixture) }
            #expect(clock.monotonic == Arrivals.longestWait)
            #expect(try fixture.text("/c") == nil)
        }
    }

    @Test("The last file lands with the others at once where no more is expected", .timeLimit(.minutes(20)))
    func last() async throws {
        try await running(["/a", "/b"]) { fixture, clock, gates in
            await untilUnderWay(1, of: 2, by: fixture)
            #expect(try fixture.text("/a") == nil)
            gates[0].open()
            for path in ["/a", "/b"] { try await untilHere(path, fixture) }
            #expect(clock.monotonic == .zero)
        }
    }

    @Test(
        "Where more is expected and nothing is under way files wait a moment for it, from the first one's end on",
        .timeLimit(.minutes(20)))
    func more() async throws {
        try await running(["/a", "/b"], expectsMore: true) { fixture, clock, gates in
            await untilUnderWay(1, of: 2, by: fixture)
            clock.advance(to: Arrivals.shortWait - .milliseconds(1))
            gates[0].open()
            await untilUnderWay(0, of: 2, by: fixture)
            for path in ["/a", "/b"] { #expect(try fixture.text(path) == nil) }
            clock.advance(to: Arrivals.shortWait)
            for path in ["/a", "/b"] { try await untilHere(path, fixture) }
            #expect(clock.monotonic == Arrivals.shortWait)
        }
    }

    @Test(
        "A file that is in place is not complete before its looks are proof, even if others land at once: it is not read at the next start",
        .timeLimit(.minutes(20)))
    func resolved() async throws {
        try await running(["/a", "/b", "/c"]) { fixture, clock, gates in
            await untilUnderWay(2, of: 3, by: fixture)
            clock.advance(to: Arrivals.longestWait)
            try await untilHere("/a", fixture)
            for gate in gates { gate.open() }
            for path in ["/b", "/c"] { try await untilHere(path, fixture) }
            #expect(try await status("/a", fixture) == .cloudOnly)
            clock.advance(to: Arrivals.longestWait + InPlace.provingDelay)
            for path in ["/a", "/b", "/c"] { await until { (try? await status(path, fixture)) == .localCopy } }
            #expect(try await fixture.records().isEmpty)
        }
    }

    private func status(_ path: String, _ fixture: EngineFixture) async throws -> CloudStatus? {
        try await fixture.database.read { try $0.items.item(at: ItemPath(path))?.cloudStatus }
    }

    /// Returns when only `count` downloads are still under way and the engine has done everything that follows from the
    /// ended downloads at the present time.
    private func untilUnderWay(_ count: Int, of files: Int, by fixture: EngineFixture) async {
        await until {
            let pending = fixture.engine.controls.with { $0.enders.count }
            return pending == count && fixture.source.requests.count == files
        }
        // The engine grants exclusive access to the tree when it has finished putting files in place.
        await fixture.engine.withExclusiveTree {}
    }

    private func untilHere(_ path: String, _ fixture: EngineFixture) async throws {
        try await until { try fixture.text(path) != nil }
    }

    /// Calls `body` with an engine that downloads all files at once. The first file arrives without delay, and each
    /// other file arrives when its gate opens. The clock stands still.
    private func running(
        _ paths: [String], expectsMore: Bool = false, _ body: (EngineFixture, TestClock, [Gate]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let clock = TestClock()
            let fixture = try EngineFixture(folder: folder, time: clock.host)
            for path in paths { try await fixture.ask(.download, try await fixture.addFile(path)) }
            let gates = try paths.dropFirst().map { path in
                let gate = Gate()
                fixture.source.then(try ItemPath(path), .hold(gate))
                return gate
            }
            fixture.engine.expectMore(expectsMore)
            let run = Task { try await fixture.run() }
            try await body(fixture, clock, gates)
            for gate in gates { gate.open() }
            run.cancel()
            _ = await run.result
            try fixture.vault.close()
        }
    }
}
