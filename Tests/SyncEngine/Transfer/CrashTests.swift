import Connection
import Database
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of hosts that end at a moment that the test chooses. A host has ended when its engine is never used again.
struct CrashTests {
    /// Makes a complete and closed download in `incoming/`.
    private func complete(_ job: Job, _ text: String, in tree: Tree) throws -> CompletedFile {
        let incoming = try tree.incomingFile(job.incomingName)
        try Array(text.utf8).withUnsafeBytes { try incoming.append($0) }
        return try incoming.finish(modified: job.lastModified)
    }

    @Test("S25: what was being processed is ready at the start, and is done")
    func stuck() async throws {
        try await EngineFixture.with { first in
            let file = try await first.addFile("/a")
            guard case .queued(let id) = try await first.ask(.download, file) else { throw SetupError("not queued") }
            try await first.database.write { try $0.journal.markProcessing([id]) }
            #expect(try await first.records().map(\.state) == [.processing])
            let fixture = try EngineFixture(reopening: first)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "content")
        }
    }

    @Test("C5: after an end in mid-download the next start goes on with what is there, of that version alone")
    func partial() async throws {
        try await EngineFixture.with { first in
            let file = try await first.addFile("/a", String(repeating: "a", count: 200_000))
            first.source.then(file.path, .cutOff(after: 150_000))
            try await first.ask(.download, file)
            // The download fails and is not tried again: the host ends while the download waits.
            first.source.then(file.path, .fail(.init(.serverError, "503", retryAfter: .seconds(3600))))
            _ = try await first.drain()
            let fixture = try EngineFixture(reopening: first)
            let incoming = try fixture.incoming()
            #expect(incoming.count == 1, "\(incoming)")
            fixture.clock.advance(.seconds(8000))
            #expect(try await fixture.drain().isDone)
            #expect(fixture.source.requests.map(\.offset) == [0, 150_000, 150_000])
            #expect(try fixture.text("/a") == String(repeating: "a", count: 200_000))
            #expect(try fixture.incoming().isEmpty)
        }
    }

    @Test("S25: ended between journal and rename, or between rename and row, a complete file is not fetched again")
    func landing() async throws {
        for isPlaced in [false, true] {
            try await EngineFixture.with { first in
                let file = try await first.addFile("/d/a", "content")
                try await first.ask(.download, file)
                let journal = try #require(try await first.records().first)
                let job = Job(journal, item: file)
                let complete = try complete(job, "content", in: first.tree)
                try await first.database.write { tx in
                    var journal = journal
                    journal.landing = Fetched(job: job, file: complete, version: job.version).landing
                    try tx.journal.update(journal)
                }
                if isPlaced { _ = try first.tree.place(complete, at: file.path, replacing: nil) }

                let fixture = try EngineFixture(reopening: first)
                #expect(try await fixture.drain().isDone)
                #expect(try fixture.text("/d/a") == "content")
                #expect(fixture.source.requests.isEmpty)
                let item = try await fixture.now(file)
                #expect(item.cloudStatus == .localCopy && item.remoteVersion == .current)
                #expect(try await fixture.records().isEmpty && fixture.incoming().isEmpty)
            }
        }
    }

    @Test("S25: a file in place that is not what was journalled stays, and is not taken for it")
    func strangeLanding() async throws {
        try await EngineFixture.with { first in
            let file = try await first.addFile("/a", "content")
            try await first.ask(.download, file, for: .availableOffline)
            try await first.database.write { tx in
                guard var journal = try tx.journal.records(of: file.localID).first else { return }
                journal.landing = Landing(
                    etag: ETag(opaque: "v1", strength: .strong), digest: [UInt8](repeating: 1, count: 32), size: 7,
                    modified: nil)
                try tx.journal.update(journal)
            }
            try first.write("mine", to: "/a")
            let fixture = try EngineFixture(reopening: first)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "mine")
            #expect(try await fixture.now(file).cloudStatus == .locallyModified)
        }
    }

    @Test("S25: cancelled in mid-work at many moments and started again, the end state is that of an undisturbed run")
    func anywhere() async throws {
        try await EngineFixture.with { first in
            var fixture = first
            var files: [Item] = []
            for number in 0..<200 {
                files.append(try await fixture.addFile("/d\(number % 3)/f\(number)", "text \(number)"))
            }
            try await fixture.database.write { [engine = fixture.engine, files] tx in
                _ = try engine.enqueue(
                    files.map { .init(.download, item: $0.localID, reason: .availableOffline) }, in: tx)
            }
            for round in 1...8 {
                let gate = Gate()
                // The held files are more than can be under way, so no file behind them is requested.
                for stop in files[(round * 20)...].prefix(20) { fixture.source.then(stop.path, .hold(gate)) }
                let work = Task { [fixture] in try await fixture.run() }
                await gate.untilReached()
                work.cancel()
                gate.open()
                _ = await work.result
                fixture = try EngineFixture(reopening: fixture)
            }
            #expect(try await fixture.drain().isDone)
            for (number, file) in files.enumerated() {
                #expect(try fixture.text(file.path.text) == "text \(number)")
                #expect(try await fixture.now(file).cloudStatus == .localCopy)
            }
            #expect(try await fixture.records().isEmpty && fixture.incoming().isEmpty)
        }
    }

    @Test(
        "S2: a record that waits shows as pending, one that asks a person as failed, and what only lands as completed")
    func toldStates() async throws {
        try await EngineFixture.with { first in
            func states(_ fixture: EngineFixture) async throws -> [SyncRecord.State] {
                let told = try await fixture.records().map(\.toldState)
                let counts = try await fixture.database.read { try $0.journal.counts() }
                #expect(counts == Dictionary(grouping: told) { $0 }.mapValues(\.count))
                return told
            }
            // Locked for a while; refused; and complete, but not in its place when the host ended.
            // One after the other, since requests that are under way together come in any order.
            for (path, refusal) in [("/locked", WriteRefusal.locked(owner: nil)), ("/forbidden", .forbidden)] {
                first.source.changing.then(.refuse(refusal))
                try await first.change(.createFolder(ItemPath(path)))
                _ = try await first.drain()
            }
            #expect(try await states(first) == [.pending, .failed])
            first.engine.setOnline(false)
            let file = try await first.addFile("/a", "content")
            try await first.ask(.download, file)
            #expect(try await states(first) == [.pending, .failed, .ready])
            try await first.database.write { tx in
                guard let journal = try tx.journal.records(of: file.localID).first else { return }
                let landing = Landing(
                    etag: ETag(opaque: "v1", strength: .strong), digest: [UInt8](repeating: 1, count: 32), size: 7,
                    modified: nil)
                try tx.journal.setLanding(landing, of: journal.id)
            }
            #expect(try await states(first) == [.pending, .failed, .completed])
        }
    }

    @Test("S2: what is under way shows as processing, what waits as ready")
    func states() async throws {
        try await EngineFixture.with(limits: Limits(downloads: 1)) { fixture in
            let gate = Gate()
            for name in ["/a", "/b"] {
                let file = try await fixture.addFile(name)
                fixture.source.then(file.path, .hold(gate))
                try await fixture.ask(.download, file)
            }
            async let outcome = fixture.drain()
            await gate.untilReached()
            try await until { try await fixture.records().first?.state == .processing }
            #expect(try await fixture.records().map(\.state) == [.processing, .ready])
            let counts = try await fixture.database.read { try $0.journal.counts() }
            #expect(counts == [.processing: 1, .ready: 1])
            gate.open()
            #expect(try await outcome.isDone)
        }
    }

    @Test("S25: nobody works in the tree while somebody else moves in it")
    func atRest() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file)
            async let outcome = fixture.drain()
            let seen = try await fixture.engine.withExclusiveTree {
                // Either the file is in place and recorded, or neither is the case.
                let item = try await fixture.now(file)
                return (try fixture.text("/a") != nil) == (item.cloudStatus == .localCopy)
            }
            #expect(seen)
            #expect(try await outcome.isDone)
        }
    }
}
