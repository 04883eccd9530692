import Connection
import Database
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import LocalTree
@testable import SyncEngine

/// Uploads of small files in batches beside the same uploads one by one: both must end alike.
struct BatchedUploadTests {
    /// What happens when the second file arrives at the server.
    enum Event: CaseIterable {
        case nothing
        /// A person cancels the upload that is under way, or one that comes later.
        case cancelled, laterCancelled
        /// Somebody writes the file before, or something else into the folder.
        case foreignFile, foreignFolder, foreignLater
        case itemRemoved, folderGone, paused
        case answerLost, requestLost, refused, noRoom, page, claimed, cutOff
        /// The file is asked for, replaced, moved, copied or deleted meanwhile.
        case downloadAsked, replaced, moved, copied, deleted, folderMoved
        case snapshotGone, laterSnapshotGone
        case fileInPlace, questionsUnanswered, noETags
    }

    /// What is left when all is done.
    private struct End: Equatable, CustomStringConvertible {
        var items: [String] = []
        var server: [String] = []
        var texts: [String?] = []
        var records: [String] = []
        var issues: [String] = []
        var outgoing: Int
        var incoming: Int
        var scans: [String] = []
        var sent: Int

        var description: String {
            "\(items) \(server) \(texts) \(records) \(issues) \(outgoing) \(incoming) \(scans) \(sent)"
        }
    }

    private static let names = (0..<5).map { "/d/\($0)" }

    private func end(_ fixture: EngineFixture) async throws -> End {
        var end = End(
            outgoing: try fixture.outgoing().count, incoming: try fixture.incoming().count,
            sent: fixture.engine.progress.filesSent)
        (end.items, end.scans) = try await fixture.database.read { reads in
            var items: [String] = []
            try reads.items.each(ItemListing(folder: .root, isRecursive: true, includesRemoved: true)) { item in
                items.append(
                    "\(item.path) \(item.cloudStatus) \(item.etag != nil) \(item.copy != nil) "
                        + "\(item.size.map { "\($0)" } ?? "-") \(item.syncActivity.rawValue) \(item.isRemoved)")
                return true
            }
            return (items.sorted(), try reads.scan.jobs().map { "\($0.path)" }.sorted())
        }
        end.server = fixture.source.paths.map {
            "\($0) \(String(decoding: fixture.source[$0]?.bytes ?? [], as: UTF8.self))"
        }
        end.texts = try (Self.names + ["/d/moved", "/e/1"]).map { try fixture.text($0) }
        end.records = try await fixture.records().map {
            "\($0.path) \($0.action.kind) \($0.state) \($0.mayHaveArrived) \($0.wait != nil)"
        }
        end.issues = try await fixture.issues().map { "\($0.code) \($0.subject)" }
        return end
    }

    /// Runs a course.
    /// - Parameter replaces: Whether the files are new versions.
    private func course(_ event: Event, replaces: Bool, inBatches: Bool) async throws -> (end: End, batched: Int) {
        try await withTemporaryFolder { folder in
            let source = ScriptedSource(takesBatches: inBatches)
            // One after the other, so that both courses do the same before and after what happens.
            let fixture = try EngineFixture(folder: folder, source: source, limits: Limits(uploads: 1, actions: 1))
            let fails = Mutex<[String]>([])
            let arrived = Mutex(0)
            for folder in ["/d", "/e"] { _ = try await fixture.addFolder(folder) }
            if replaces {
                for name in Self.names { _ = try await fixture.addFile(name, "before") }
            }
            var records: [SyncRecordID] = []
            for name in Self.names {
                guard case .queued(let id) = try await fixture.put("text of \(name)", name, replaces: replaces) else {
                    throw SetupError(name)
                }
                records.append(id)
            }
            let ids = records
            source.changing.state.withLock { state in
                state.givesETagsOnPut = event != .noETags
                state.onPut = { path in
                    guard path.text == "/d/1",
                        arrived.withLock({ count in
                            count += 1
                            return count
                        }) == 1
                    else { return }
                    do { try Self.happen(event, ids, fixture) } catch { fails.withLock { $0.append("\(error)") } }
                }
            }
            _ = try await fixture.drain()
            fixture.engine.setOnline(true)
            _ = try await fixture.drain()
            _ = try await fixture.drain()
            #expect(fails.withLock(\.self) == [] && arrived.withLock(\.self) > 0)
            let end = try await self.end(fixture)
            let batched = source.changing.state.withLock { $0.batched }
            try fixture.vault.close()
            return (end, batched)
        }
    }

    private static func happen(_ event: Event, _ records: [SyncRecordID], _ fixture: EngineFixture) throws {
        let (source, engine, second) = (fixture.source, fixture.engine, ItemPath(unchecked: "/d/1"))
        func cancel(_ record: SyncRecordID) throws {
            try fixture.database.writeBlocking { tx in
                guard let record = try tx.journal.record(id: record) else { return }
                if record.isToBeAskedFor {
                    try engine.context.records.end(record, in: tx)
                } else {
                    try engine.context.records.deschedule(record, in: tx)
                }
            }
        }
        func queue(_ change: ChangeRequest) throws {
            try fixture.database.writeBlocking { tx in _ = try engine.enqueue(.change(change), in: tx) }
        }
        func snapshot(of record: SyncRecordID) throws -> String? {
            guard
                case .upload(let upload)? = try fixture.database.readBlocking({ try $0.journal.record(id: record) })?
                    .action
            else { return nil }
            return upload.snapshot
        }
        func write(_ path: ItemPath) {
            source[path] = .init(bytes: Array("foreign".utf8), version: ETag(opaque: "f", strength: .strong))
        }
        switch event {
        case .nothing, .noETags: break
        case .cancelled: try cancel(records[1])
        case .laterCancelled: try cancel(records[3])
        case .foreignFile: write(second)
        case .foreignFolder: source.changing.addFolder(ItemPath(unchecked: "/d/3"))
        case .foreignLater: write(ItemPath(unchecked: "/d/3"))
        case .itemRemoved:
            try fixture.database.writeBlocking { tx in
                guard var item = try tx.items.item(at: second) else { return }
                item.removedAt = Timestamp(seconds: 1_600_000_001)
                try tx.items.update(item)
            }
        case .folderGone: source.changing.state.withLock { _ = $0.folders.remove(ItemPath(unchecked: "/d")) }
        case .paused: engine.setOnline(false)
        case .answerLost: source.changing.then(.loseAnswer)
        case .requestLost: source.changing.then(.loseRequest)
        case .refused: source.changing.then(.refuse(.forbidden))
        case .noRoom: source.changing.then(.refuse(.noRoom(available: 0)))
        case .page: source.changing.then(.page(isDone: true))
        case .claimed: source.changing.then(.claim)
        case .cutOff: source.changing.then(.claimPart(2))
        case .downloadAsked:
            try fixture.database.writeBlocking { tx in
                guard let item = try tx.items.item(at: second) else { return }
                _ = try engine.enqueue([ActionRequest(.download, item: item.localID, reason: .user)], in: tx)
            }
        case .replaced:
            let file = fixture.folder + "/mine"
            try Files.write("replaced", to: file, mode: 0o600)
            let snapshot = try TakenSnapshot.take(of: file, into: fixture.folder + "/vault/outgoing").0
            try queue(.put(snapshot, second, replaces: true))
        case .moved: try queue(.move(second, to: ItemPath(unchecked: "/d/moved")))
        case .copied: try queue(.copy(second, to: ItemPath(unchecked: "/d/moved")))
        case .deleted: try queue(.delete(second))
        case .folderMoved: try queue(.move(ItemPath(unchecked: "/d"), to: ItemPath(unchecked: "/e/d")))
        case .snapshotGone:
            if let name = try snapshot(of: records[1]) { Files.remove(fixture.folder + "/vault/outgoing/" + name) }
        case .laterSnapshotGone:
            if let name = try snapshot(of: records[3]) { Files.remove(fixture.folder + "/vault/outgoing/" + name) }
        case .fileInPlace:
            try Files.makeFolder(fixture.tree.localPath(of: second.parent))
            try Files.write("a person's", to: fixture.tree.localPath(of: second), mode: 0o600)
        case .questionsUnanswered: source.changing.state.withLock { $0.unanswered = 3 }
        }
    }

    @Test("S53: what a batch has uploaded is confirmed and recorded while another request of the batch hangs")
    func hanging() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try EngineFixture(
                folder: folder, source: ScriptedSource(takesBatches: true), limits: Limits(uploads: 1))
            _ = try await fixture.addFolder("/d")
            for name in Self.names { _ = try await fixture.put("text of \(name)", name) }
            let gate = Gate()
            fixture.source.changing.state.withLock { state in
                state.onPut = { path in if path.text == "/d/4" { gate.passOnThread() } }
            }
            let drain = Task { [fixture] in try await fixture.drain() }
            await until { fixture.engine.progress.filesSent == 4 }
            #expect(fixture.engine.transfers.map(\.path.text) == ["/d/4"])
            gate.open()
            #expect(try await drain.value.isDone && fixture.engine.progress.filesSent == 5)
            try fixture.vault.close()
        }
    }

    @Test(
        "S53: whatever happens while small files are uploaded in a batch, all ends as for single files",
        arguments: Event.allCases)
    func alike(_ event: Event) async throws {
        for replaces in [false, true] {
            let (alone, none) = try await course(event, replaces: replaces, inBatches: false)
            let (together, some) = try await course(event, replaces: replaces, inBatches: true)
            #expect(none == 0 && some > 0)
            var (one, other) = (alone, together)
            switch event {
            case .cancelled:
                // The request of a single file has arrived. That of the batch is ended before it does.
                #expect(alone.server.contains("/d/1 text of /d/1"))
                #expect(together.server.contains("/d/1 before") == replaces)
                #expect(together.records == [] && together.issues == [] && together.outgoing == 0)
                #expect(together.server.count == (replaces ? 5 : 4) && together.sent == 4)
                continue
            // A single file was confirmed before the folder moved.
            case .folderMoved: (one.scans, other.scans) = ([], [])
            default: break
            }
            #expect("\(other)" == "\(one)", "replaces: \(replaces)")
        }
    }
}
