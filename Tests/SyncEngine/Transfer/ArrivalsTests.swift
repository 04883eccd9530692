import Model
import TestSupport
import Testing

@testable import Database
@testable import LocalTree
@testable import SyncEngine
@testable import Vault

/// How long complete downloads wait for others before they are put in place together.
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
            file: CompletedFile(name: "1", digest: [], checksums: [:], mark: mark),
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
        #expect(arrivals.takeAll().count == Arrivals.batch && arrivals.isEmpty)
        #expect(arrivals.landsAt(landingDelay: second) == nil)

        for size in [Arrivals.batchBytes - 1, 1] {
            #expect(!arrivals.areDue(landingDelay: second, now: start))
            arrivals.append(try file(size: size), now: start)
        }
        #expect(arrivals.areDue(landingDelay: second, now: start))
    }

    @Test("Where others are under way a file waits a second for them and no longer", .timeLimit(.minutes(20)))
    func others() async throws {
        try await running(["/a", "/b", "/c"]) { rig, clock, gates in
            await untilUnderWay(2, of: 3, by: rig)
            #expect(try rig.text("/a") == nil)
            clock.advance(to: Arrivals.longestWait - .milliseconds(1))
            gates[0].open()
            await untilUnderWay(1, of: 3, by: rig)
            for path in ["/a", "/b"] { #expect(try rig.text(path) == nil) }
            clock.advance(to: Arrivals.longestWait)
            for path in ["/a", "/b"] { try await untilHere(path, rig) }
            #expect(clock.now == Arrivals.longestWait)
            #expect(try rig.text("/c") == nil)
        }
    }

    @Test("The last file lands with the others at once where no more is expected", .timeLimit(.minutes(20)))
    func last() async throws {
        try await running(["/a", "/b"]) { rig, clock, gates in
            await untilUnderWay(1, of: 2, by: rig)
            #expect(try rig.text("/a") == nil)
            gates[0].open()
            for path in ["/a", "/b"] { try await untilHere(path, rig) }
            #expect(clock.now == .zero)
        }
    }

    @Test(
        "Where more is expected and nothing is under way files wait a moment for it, from the first one's end on",
        .timeLimit(.minutes(20)))
    func more() async throws {
        try await running(["/a", "/b"], expectsMore: true) { rig, clock, gates in
            await untilUnderWay(1, of: 2, by: rig)
            clock.advance(to: Arrivals.shortWait - .milliseconds(1))
            gates[0].open()
            await untilUnderWay(0, of: 2, by: rig)
            for path in ["/a", "/b"] { #expect(try rig.text(path) == nil) }
            clock.advance(to: Arrivals.shortWait)
            for path in ["/a", "/b"] { try await untilHere(path, rig) }
            #expect(clock.now == Arrivals.shortWait)
        }
    }

    @Test(
        "A file that is in place is not complete before its looks are proof, even if others land at once: it is not read at the next start",
        .timeLimit(.minutes(20)))
    func resolved() async throws {
        try await running(["/a", "/b", "/c"]) { rig, clock, gates in
            await untilUnderWay(2, of: 3, by: rig)
            clock.advance(to: Arrivals.longestWait)
            try await untilHere("/a", rig)
            for gate in gates { gate.open() }
            for path in ["/b", "/c"] { try await untilHere(path, rig) }
            #expect(try await status("/a", rig) == .cloudOnly)
            clock.advance(to: Arrivals.longestWait + InPlace.provingDelay)
            for path in ["/a", "/b", "/c"] { await until { (try? await status(path, rig)) == .localCopy } }
            #expect(try await rig.records().isEmpty)
        }
    }

    private func status(_ path: String, _ rig: Rig) async throws -> CloudStatus? {
        try await rig.database.read { try $0.items.item(at: ItemPath(path))?.cloudStatus }
    }

    /// Returns when all downloads but so many have ended, and the engine has done what follows from that at that time.
    private func untilUnderWay(_ count: Int, of files: Int, by rig: Rig) async {
        await until {
            let pending = rig.engine.controls.with { $0.enders.count }
            return pending == count && rig.source.requests.count == files
        }
        // It lets visitors in when it has put in place what it began to.
        await rig.engine.withExclusiveTree {}
    }

    private func untilHere(_ path: String, _ rig: Rig) async throws {
        while try rig.text(path) == nil { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// An engine that fetches files, all at once. The first comes by itself, each other one when its gate opens. The time stands still.
    private func running(
        _ paths: [String], expectsMore: Bool = false, _ body: (Rig, ManualClock, [Gate]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let clock = ManualClock()
            let rig = try Rig(folder: folder, time: clock.host)
            for path in paths { try await rig.ask(.download, try await rig.addFile(path)) }
            let gates = try paths.dropFirst().map { path in
                let gate = Gate()
                rig.source.then(try ItemPath(path), .hold(gate))
                return gate
            }
            rig.engine.expectMore(expectsMore)
            let run = Task { try await rig.run() }
            try await body(rig, clock, gates)
            for gate in gates { gate.open() }
            run.cancel()
            _ = await run.result
            try rig.vault.close()
        }
    }
}
