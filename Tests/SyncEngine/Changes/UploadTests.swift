import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import Connection
@testable import Database
@testable import SyncEngine

@Suite struct UploadTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }
    private func text(_ fixture: EngineFixture, _ path: String) throws -> String? {
        fixture.source[try ItemPath(path)].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test("S35: after an upload the server's version is known, and the snapshot is the copy here")
    func upload() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.put("mine", "/f")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try text(fixture, "/f") == "mine")
            let item = try await fixture.item("/f")
            #expect(item.cloudStatus == .localCopy && item.downloadTrigger == .user && item.remoteVersion == .current)
            #expect(item.etag == fixture.source[item.path]?.version && item.size == 4 && item.syncActivity.isEmpty)
            #expect(try fixture.text("/f") == "mine")
            #expect(try fixture.outgoing().isEmpty && fixture.incoming().isEmpty)
            // The upload cost no download.
            #expect(fixture.source.requests.isEmpty)
        }
    }

    @Test("S35: where the server names no version after an upload, what it holds is read before it is believed")
    func uncertain() async throws {
        try await EngineFixture.with { fixture in
            fixture.source.changing.state.withLock { $0.givesETagsOnPut = false }
            try await fixture.put("mine", "/f")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.requestCount(try path("/f")) == 1)
            #expect(try await fixture.item("/f").cloudStatus == .localCopy)
        }
    }

    @Test("a file that exists is only replaced if the person says so, and then as a new version of what was seen")
    func replace() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            guard case .refused(let failure) = try await fixture.put("mine", "/f") else {
                Issue.record("it was not refused")
                return
            }
            #expect(failure.kind == .cannotCreate)
            try await fixture.database.write { tx in
                var item = file
                (item.isFavorite, item.owner, item.permissions, item.mimeType) = (true, "me", "WD", "text/plain")
                try tx.items.update(item)
            }
            try await fixture.put("mine", "/f", replaces: true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try text(fixture, "/f") == "mine")
            let now = try await fixture.now(file)
            #expect(now.cloudStatus == .localCopy)
            // What the answer to the upload does not tell is as it was.
            #expect(now.isFavorite && now.owner == "me" && now.permissions == "WD" && now.mimeType == "text/plain")
        }
    }

    @Test("S10 E1: an upload whose answer was lost is found on the server, and is not sent twice")
    func lostAnswer() async throws {
        try await EngineFixture.with { fixture in
            fixture.source.changing.then(.loseAnswer)
            try await fixture.put("mine", "/f")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["PUT /f"])
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.item("/f").cloudStatus == .localCopy && fixture.text("/f") == "mine")
        }
    }

    @Test("S10: an upload that never arrived is sent again")
    func lostRequest() async throws {
        try await EngineFixture.with { fixture in
            fixture.source.changing.then(.loseRequest, .fail)
            try await fixture.put("mine", "/f")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["PUT /f", "PUT /f", "PUT /f"])
            #expect(try text(fixture, "/f") == "mine")
        }
    }

    @Test("S10: an upload whose answer was lost, and that somebody has replaced since, is not sent again by itself")
    func lostAnswerThenReplaced() async throws {
        try await EngineFixture.with { fixture in
            fixture.source.changing.then(.loseRequest)
            try await fixture.put("mine", "/f")
            fixture.source[try path("/f")] = .init(
                bytes: Array("hers".utf8), version: ETag(opaque: "t", strength: .strong))
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "hers")
            #expect(try await fixture.issues().map(\.code) == ["upload.conflict"])
        }
    }

    @Test(
        "S10: the beginning that a cut-off upload left is replaced by the whole; what only looks like it is somebody's")
    func cutOff() async throws {
        try await EngineFixture.with { fixture in
            fixture.source.changing.state.withLock { $0.name = "rclone" }
            for (name, left) in [("/empty", ""), ("/some", "mi"), ("/other", "hi")] {
                fixture.source.changing.then(.loseRequest)
                try await fixture.put("mine", name)
                fixture.source[try path(name)] = .init(
                    bytes: Array(left.utf8), version: ETag(opaque: "t", strength: .strong))
                _ = try await fixture.drain()
            }
            #expect(try text(fixture, "/empty") == "mine" && text(fixture, "/some") == "mine")
            #expect(try text(fixture, "/other") == "hi")
            #expect(try await fixture.issues().map(\.code) == ["upload.conflict"])
            #expect(try await fixture.item("/some").cloudStatus == .localCopy)
        }
    }

    @Test("S24: a snapshot is swept when neither a record nor a command has it")
    func abandoned() async throws {
        try await EngineFixture.with { fixture in
            let (mine, outgoing) = (fixture.folder + "/mine", fixture.folder + "/vault/outgoing")
            try Files.write("mine", to: mine, mode: 0o600)
            let (held, lock) = try TakenSnapshot.take(of: mine, into: outgoing)
            let left = try TakenSnapshot.take(of: mine, into: outgoing).0
            fixture.engine.setOnline(false)
            try await fixture.put("mine", "/f")
            let needed = try fixture.outgoing().filter { $0 != held.name && $0 != left.name }
            #expect(needed.count == 1)
            _ = try await fixture.drain()
            #expect(try fixture.outgoing() == (needed + [held.name]).sorted())
            withExtendedLifetime(lock) {}
        }
    }

    @Test("A sweep takes no snapshot that a command is just taking, or holds for longer than a sweep's age")
    func sweepBesideCommands() async throws {
        try await EngineFixture.with { fixture in
            let (mine, outgoing, tree) = (fixture.folder + "/mine", fixture.folder + "/vault/outgoing", fixture.tree)
            try Files.write("mine", to: mine, mode: 0o600)
            final class Course: Sendable { let isOver = Atomic(false) }
            let course = Course()
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Each sweep has the lock of what it finds for a moment, so that the command is to wait for it.
                for _ in 0..<4 {
                    group.addTask {
                        while !course.isOver.load(ordering: .relaxed) {
                            try tree.sweepOutgoing(olderThan: .seconds(3600)) { [] }
                            await Task.yield()
                        }
                    }
                }
                group.addTask {
                    defer { course.isOver.store(true, ordering: .relaxed) }
                    for _ in 0..<200 {
                        let (snapshot, lock) = try TakenSnapshot.take(of: mine, into: outgoing)
                        await Task.yield()
                        #expect(Files.exists("\(outgoing)/\(snapshot.name)"))
                        withExtendedLifetime(lock) {}
                    }
                }
                try await group.waitForAll()
            }
            let (held, lock) = try TakenSnapshot.take(of: mine, into: outgoing)
            try tree.sweepOutgoing(olderThan: .zero) { [] }
            #expect(try fixture.outgoing() == [held.name])
            withExtendedLifetime(lock) {}
        }
    }

    @Test("S24: the snapshots that a command takes together are swept when it is over, and none of them before")
    func sweepBesideBatch() async throws {
        try await EngineFixture.with { fixture in
            let (mine, outgoing, tree) = (fixture.folder + "/mine", fixture.folder + "/vault/outgoing", fixture.tree)
            try Files.write("mine", to: mine, mode: 0o600)
            func sweep() throws { try tree.sweepOutgoing(olderThan: .zero) { [] } }
            var lock: SnapshotLock?
            var taken: [String] = []
            do {
                let batch = try SnapshotBatch(in: outgoing)
                // A file that cannot be taken leaves the lock to the next one.
                #expect(throws: Failure.self) { try batch.take(fixture.folder) }
                for _ in 0..<3 {
                    try sweep()
                    taken.append(try batch.take(mine).name)
                }
                #expect(throws: Failure.self) { try batch.take(fixture.folder) }
                try batch.sync()
                lock = batch.lock
            }
            try sweep()
            #expect(Set(taken).count == 3)
            #expect(try fixture.outgoing() == taken.sorted())
            // The uploads are requested, and the server has taken the first file. What a record names stays.
            tree.removeSnapshot(taken[0])
            try tree.sweepOutgoing(olderThan: .zero) { [taken[1]] }
            #expect(try fixture.outgoing() == [taken[1]])
            withExtendedLifetime(lock) {}
            lock = nil
            let other = try TakenSnapshot.take(of: mine, into: outgoing)
            try sweep()
            #expect(try fixture.outgoing() == [other.0.name])
            withExtendedLifetime(other.1) {}
        }
    }

    @Test(
        "S9, I9: an upload behind another change of its file follows the version that was seen, not one that came since"
    )
    func behindFavorite() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            try await fixture.change(.setFavorite(file.path, true))
            try await fixture.put("mine", "/f", replaces: true)
            // A scan finds somebody's version before the changes are made.
            try await fixture.change(file, "theirs", version: "v2")
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "theirs")
            #expect(try await fixture.issues().map(\.code) == [IssueCode.conflict.rawValue])
        }
    }

    @Test(
        "S9, S36: an upload behind another upload follows what that one makes, and nothing else",
        arguments: [false, true])
    func behindUpload(_ isChanged: Bool) async throws {
        let rules = ConflictRules([.init(pattern: "*", answer: .server)])
        try await EngineFixture.with(onConflict: rules) { fixture in
            let file = try await fixture.addFile("/f")
            guard case .queued(let id) = try await fixture.put("mine", "/f", replaces: true) else { return }
            // The first may be under way, so that the second does not take its place.
            try await fixture.database.write { tx in
                guard var record = try tx.journal.record(id: id) else { return }
                record.mayHaveArrived = true
                try tx.journal.update(record)
            }
            try await fixture.put("newer", "/f", replaces: true)
            #expect(try await fixture.records().count == 2)
            // What somebody writes before the first: it is given up by the rule, and the second is not sent instead.
            if isChanged { try await fixture.change(file, "theirs", version: "v2") }
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try text(fixture, "/f") == (isChanged ? "theirs" : "newer"))
            #expect(try await fixture.issues().isEmpty && fixture.outgoing().isEmpty)
        }
    }

    @Test("S24: an upload whose item went from the list is made all the same, and its snapshot is not swept")
    func itemGone() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            try await fixture.addFolder("/e")
            fixture.engine.setOnline(false)
            try await fixture.put("mine", "/d/f")
            try await fixture.change(.delete(try path("/d")))
            // What is below /d goes for what is below /e.
            try await fixture.change(.move(try path("/e"), to: try path("/d")))
            let records = try await fixture.records()
            try await fixture.engine.cancel(records[2].id)
            try await fixture.engine.cancel(records[1].id)
            fixture.engine.setOnline(true)
            let again = try EngineFixture(reopening: fixture)
            #expect(try await again.drain().leftCount == 0)
            #expect(try text(again, "/d/f") == "mine" && again.text("/d/f") == "mine")
            #expect(try await again.item("/d/f").cloudStatus == .localCopy)
            try again.vault.close()
        }
    }

    @Test("S35: where the server keeps something else than was sent, a person is asked, and the snapshot stays")
    func notKept() async throws {
        try await EngineFixture.with { fixture in
            fixture.source.changing.state.withLock { ($0.givesETagsOnPut, $0.keepsLess) = (false, true) }
            try await fixture.put("mine", "/f")
            _ = try await fixture.drain()
            #expect(try await fixture.issues().map(\.code) == [IssueCode.upload.rawValue])
            #expect(try fixture.outgoing().count == 1 && fixture.source.paths.count == 1)
            // Another try finds a file there that is not what was to be uploaded.
            let issue = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(issue.id, choice: "retry")
            _ = try await fixture.drain()
            #expect(try await fixture.issues().map(\.code) == [IssueCode.conflict.rawValue])
            #expect(try fixture.outgoing().count == 1)
        }
    }

    @Test("S10: a change that was made and could not be looked at counts as sent, and is found again")
    func notLookedAt() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFile("/a")
            fixture.source.changing.state.withLock { ($0.givesETagsOnPut, $0.unanswered) = (false, 1) }
            try await fixture.put("mine", "/f")
            #expect(try await fixture.drain().leftCount == 0)
            fixture.source.changing.state.withLock { $0.unanswered = 1 }
            try await fixture.change(.copy(try path("/a"), to: try path("/b")))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["PUT /f", "COPY /a /b"])
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S36: an upload that waits is replaced by a newer one of the same file")
    func coalescing() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.engine.setOnline(false)
            for number in 0..<100 { try await fixture.put("edit \(number)", "/f", replaces: true) }
            try await fixture.put("a", "/new")
            try await fixture.put("b", "/new", replaces: true)
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests.sorted() == ["PUT /f", "PUT /new"])
            #expect(try text(fixture, "/f") == "edit 99" && text(fixture, "/new") == "b")
            #expect(try fixture.outgoing().isEmpty)
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
        }
    }

    @Test("S28: an upload that is taken back leaves neither item nor snapshot")
    func takenBack() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.engine.setOnline(false)
            guard case .queued(let first) = try await fixture.put("mine", "/new"),
                case .queued(let second) = try await fixture.put("mine", "/f", replaces: true)
            else { return }
            #expect(try fixture.outgoing().count == 2)
            try await fixture.engine.cancel(first)
            try await fixture.engine.cancel(second)
            #expect(try await fixture.listed() == ["/f"])
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.now(file).syncActivity.isEmpty)
            #expect(try fixture.outgoing().isEmpty)
        }
    }

    @Test("S13: a copy that is changed here while its new version is uploaded stays as it is, and counts as changed")
    func changedDuringUpload() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f", "before")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            let gate = Gate()
            fixture.source.changing.then(.hold(gate))
            try await fixture.put("mine", "/f", replaces: true)
            async let drained = fixture.drain()
            await until { fixture.source.changing.requests == ["PUT /f"] }
            try fixture.write("edited", to: "/f")
            gate.open()
            _ = try await drained
            #expect(try text(fixture, "/f") == "mine" && fixture.text("/f") == "edited")
            #expect(try await fixture.now(file).cloudStatus == .locallyModified)
            // The person is asked, and what was uploaded is not fetched over the change.
            #expect(try await fixture.issues().count == 1 && fixture.source.requestCount(path("/f")) == 1)
        }
    }

    @Test(
        "S13: what is put again while its upload is under way is sent after it, in place of the first",
        arguments: [true, false])
    func putAgainMeanwhile(_ isNew: Bool) async throws {
        try await EngineFixture.with { fixture in
            if !isNew { try await fixture.addFile("/f", "before") }
            let gate = Gate()
            fixture.source.changing.then(.hold(gate))
            try await fixture.put("first", "/f", replaces: !isNew)
            async let drained = fixture.drain()
            await until { fixture.source.changing.requests == ["PUT /f"] }
            try await fixture.put("second", "/f", replaces: true)
            gate.open()
            _ = try await drained
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["PUT /f", "PUT /f"])
            #expect(try text(fixture, "/f") == "second" && fixture.text("/f") == "second")
            #expect(try await fixture.issues().isEmpty && fixture.outgoing().isEmpty)
        }
    }

    @Test("a file that was changed here is not replaced by an upload")
    func changedHere() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            var item = try await fixture.now(file)
            item.cloudStatus = .locallyModified
            let changed = item
            try await fixture.database.write { tx in _ = try tx.items.updateLocal(changed) }
            guard case .refused(let failure) = try await fixture.put("mine", "/f", replaces: true) else {
                Issue.record("it was not refused")
                return
            }
            #expect(failure.message.contains("changed here"))
        }
    }

    @Test("S24: a host that was killed after the server took an upload goes on with the copy")
    func killedAfterUpload() async throws {
        try await EngineFixture.with { fixture in
            // The record is as it was while the request was under way; the server has the file.
            fixture.source.changing.then(.loseAnswer)
            guard case .queued(let id) = try await fixture.put("mine", "/f") else { return }
            try await fixture.database.write { tx in
                guard var record = try tx.journal.record(id: id) else { return }
                (record.state, record.mayHaveArrived) = (.processing, true)
                try tx.journal.update(record)
            }
            fixture.source[try path("/f")] = .init(
                bytes: Array("mine".utf8), version: ETag(opaque: "k", strength: .strong))
            let again = try EngineFixture(reopening: fixture)
            #expect(try await again.drain().leftCount == 0)
            #expect(again.source.changing.requests.isEmpty)
            #expect(try await again.item("/f").cloudStatus == .localCopy && again.text("/f") == "mine")
            #expect(try again.outgoing().isEmpty)
            try again.vault.close()
        }
    }

    @Test(
        "S35, S24: a new version with the ETag of the one before is still put in place after a kill, without a request")
    func killedWithCoarseETag() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f", "before")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            guard case .queued(let id) = try await fixture.put("behind", "/f", replaces: true) else { return }
            // The server tells versions by size and second, and the host is killed before the copy is in place.
            let there = try #require(fixture.source[try path("/f")])
            fixture.source[try path("/f")] = .init(bytes: Array("behind".utf8), version: there.version)
            let record = try #require(try await fixture.database.read { try $0.journal.record(id: id) })
            let made = ListedItem(path: try path("/f"), kind: .file, etag: there.version, size: 6)
            let job = Job(record, item: try await fixture.item("/f"))
            let outcome = try await UploadAction(fixture.engine.context).conclude([try job.made(made)])[0]
            #expect(outcome.isUploaded)
            let requests = fixture.source.requests.count
            let again = try EngineFixture(reopening: fixture)
            #expect(try await again.drain().leftCount == 0)
            #expect(try await again.item("/f").remoteVersion == .current && again.text("/f") == "behind")
            // The snapshot is still here.
            #expect(again.source.requests.count == requests)
            try again.vault.close()
        }
    }

    @Test("S53, S24: new files with weak and strong ETags are concluded together, and are in place after a kill")
    func concludedTogether() async throws {
        try await EngineFixture.with { fixture in
            var made: [UploadAction.Made] = []
            for (name, strength) in [("/a", .weak), ("/b", .strong), ("/c", .weak), ("/d", nil)]
                as [(_, ETag.Strength?)]
            {
                guard case .queued(let id) = try await fixture.put("text of \(name)", name) else { return }
                let version = strength.map { ETag(opaque: "v\(name.dropFirst())", strength: $0) }
                let item = ListedItem(
                    path: try path(name), kind: .file, etag: version, size: 10, lastModified: Timestamp(seconds: 5))
                fixture.source[try path(name)] = .init(
                    bytes: Array("text of \(name)".utf8), version: version ?? .substitute(size: 10, lastModified: nil))
                try await fixture.database.write { tx in try tx.journal.markSent(id) }
                let record = try #require(try await fixture.database.read { try $0.journal.record(id: id) })
                made.append(try Job(record, item: try await fixture.item(name)).made(item))
            }
            let outcomes = try await UploadAction(fixture.engine.context).conclude(made)
            let versions = outcomes.map { outcome -> ETag? in
                guard case .uploadedTogether(let arrival) = outcome else { return nil }
                return arrival.batch.version(of: arrival.file)
            }
            #expect(versions == made.dropLast().map(\.item.etag) + [nil] && outcomes.allSatisfy(\.isUploaded))
            #expect(try fixture.outgoing().isEmpty && fixture.incoming().count == 4)
            // The host is killed before the copies are in place.
            let again = try EngineFixture(reopening: fixture)
            #expect(try await again.drain().leftCount == 0)
            for upload in made {
                let item = try await again.item(upload.item.path.text)
                #expect(
                    item.copy?.etag == upload.item.etag ?? .substitute(size: 10, lastModified: upload.item.lastModified)
                )
                #expect(item.cloudStatus == .localCopy && item.syncActivity == [])
                #expect(try again.text(upload.item.path.text) == "text of \(upload.item.path.text)")
            }
            #expect(again.source.requests.isEmpty)
            try again.vault.close()
        }
    }

    @Test("S35: where a new version has the ETag of the one before and its snapshot is lost, the file is fetched")
    func coarseETagWithoutSnapshot() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f", "before")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            guard case .queued(let id) = try await fixture.put("behind", "/f", replaces: true) else { return }
            let there = try #require(fixture.source[try path("/f")])
            fixture.source[try path("/f")] = .init(bytes: Array("behind".utf8), version: there.version)
            let record = try #require(try await fixture.database.read { try $0.journal.record(id: id) })
            for name in try fixture.outgoing() { Files.remove(fixture.folder + "/vault/outgoing/" + name) }
            let made = ListedItem(path: try path("/f"), kind: .file, etag: there.version, size: 6)
            let job = Job(record, item: try await fixture.item("/f"))
            let outcome = try await UploadAction(fixture.engine.context).conclude([try job.made(made)])[0]
            #expect(!outcome.isUploaded)
            let again = try EngineFixture(reopening: fixture)
            #expect(try await again.drain().leftCount == 0)
            #expect(try again.text("/f") == "behind")
            try again.vault.close()
        }
    }

    @Test("S9: an upload follows no version that another one before it made of something else")
    func passedOn() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f", "base")
            fixture.engine.setOnline(false)
            // The first is asked about, so that the second has a record, and a base, of its own.
            guard case .queued(let first) = try await fixture.put("one", "/f", replaces: true) else { return }
            try await fixture.database.write { tx in
                guard var record = try tx.journal.record(id: first) else { return }
                record.mayHaveArrived = true
                try tx.journal.update(record)
            }
            try await fixture.list(file, size: 4, version: ETag(opaque: "named", strength: .strong))
            guard case .queued(let second) = try await fixture.put("two", "/f", replaces: true) else { return }
            #expect(first != second)
            fixture.engine.setOnline(true)
            _ = try await fixture.drain()
            // The second was to replace another version than the first has made.
            #expect(fixture.source[file.path].map { String(decoding: $0.bytes, as: UTF8.self) } == "one")
            #expect(try await fixture.issues().map(\.code) == ["upload.conflict"])
        }
    }

    @Test("an upload of what no command has taken a snapshot of is refused at once")
    func foreignSnapshots() async throws {
        try await EngineFixture.with { fixture in
            for name in ["../../x", "put-../x", "x", ""] {
                let snapshot = TakenSnapshot(
                    name: name, size: 1, digest: [UInt8](repeating: 1, count: 32), sha1: [],
                    modified: Timestamp(seconds: 1), mark: nil)
                let outcome = try await fixture.change(.put(snapshot, try ItemPath("/f"), replaces: false))
                guard case .refused(let failure) = outcome else {
                    Issue.record("\(name): \(outcome)")
                    continue
                }
                #expect(failure.kind == .badData)
            }
            #expect(try await fixture.listed().isEmpty)
        }
    }

    @Test("a snapshot is taken whole or not at all, and what is no file is refused in words")
    func snapshots() throws {
        try withTemporaryFolder { folder in
            let outgoing = folder + "/outgoing"
            try Files.makeFolder(outgoing)
            #expect(throws: Failure.self) { try TakenSnapshot.take(of: folder + "/no", into: outgoing) }
            #expect(throws: Failure.self) { try TakenSnapshot.take(of: folder, into: outgoing) }
            #expect(throws: Failure.self) { try TakenSnapshot.take(of: "/dev/null", into: outgoing) }
            #expect(try Files.names(in: outgoing).isEmpty)
            try Files.write("", to: folder + "/empty", mode: 0o600)
            let empty = try TakenSnapshot.take(of: folder + "/empty", into: outgoing).0
            #expect(empty.size == 0 && empty.digest.count == 32 && empty.sha1.count == 20)
        }
    }

    @Test("S28: an upload that an earlier version queued, with digests as arrays of numbers, is read and sent")
    func earlierDigests() async throws {
        try await EngineFixture.with { fixture in
            fixture.engine.setOnline(false)
            try await fixture.put("mine", "/a")
            let record = try #require(try await fixture.records().first)
            guard case .upload(let upload) = record.action else { throw SetupError("no upload") }
            let digest = "[" + upload.digest.map(String.init).joined(separator: ",") + "]"
            try await fixture.database.write { tx in
                try tx.journal.run(
                    "UPDATE syncRecords SET parameters = json_set(parameters, '$.sha256', json(?), '$.sha1', json('[]'))",
                    .text(digest))
            }
            guard case .upload(let read)? = try await fixture.records().first?.action else {
                throw SetupError("no upload")
            }
            #expect(read.digest == upload.digest && read.digest.count == 32 && read.sha1 == [])
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source[try ItemPath("/a")]?.bytes == Array("mine".utf8))
        }
    }
}

extension Job {
    /// The job of an upload of which the server holds what was sent.
    fileprivate func made(_ item: ListedItem) throws -> UploadAction.Made {
        guard case .upload(let upload) = record.action else { throw Failure(.internal, "no upload") }
        return UploadAction.Made(job: self, upload: upload, item: item)
    }
}

extension ChangeOutcome {
    /// Whether the snapshot is to be put in place.
    fileprivate var isUploaded: Bool {
        switch self {
        case .uploaded, .uploadedTogether: true
        case .resolved, .failed: false
        }
    }
}
