import Connection
import Database
import Glibc
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

/// The change of a file's modification time.
@Suite struct ModificationTimeTests {
    private let time = Timestamp(seconds: 1_000_000_000)
    private let later = Timestamp(seconds: 1_100_000_000)

    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    /// Adds a file with a copy here.
    private func addCopy(_ path: String, to fixture: EngineFixture) async throws -> Item {
        let file = try await fixture.addFile(path)
        try await fixture.ask(.download, file)
        #expect(try await fixture.drain().leftCount == 0)
        return file
    }

    private func place(_ path: String, in fixture: EngineFixture) -> String {
        fixture.tree.localPath(of: ItemPath(unchecked: path))
    }

    private func modified(_ path: String, in fixture: EngineFixture) -> Int? {
        var info = stat()
        return stat(place(path, in: fixture), &info) == 0 ? info.st_mtim.tv_sec : nil
    }

    @Test("a new modification time costs no content: the copy stays the copy of the version that the server dated")
    func copyFollows() async throws {
        try await EngineFixture.with { fixture in
            let file = try await addCopy("/f", to: fixture)
            let asked = fixture.source.requests.count
            // Servers keep whole seconds.
            try await fixture.change(.setModificationTime(file.path, Timestamp(nanoseconds: time.nanoseconds + 5)))
            let shown = try await fixture.now(file)
            #expect(shown.lastModified == time && shown.syncActivity == .updating && shown.etag == file.etag)
            #expect(try await fixture.drain().leftCount == 0)
            let now = try await fixture.now(file)
            #expect(now.lastModified == time && now.syncActivity.isEmpty && now.cloudStatus == .localCopy)
            #expect(now.etag?.opaque == "w1" && now.copy?.etag == now.etag && now.copy?.mark.modified == time)
            #expect(modified("/f", in: fixture) == 1_000_000_000)
            #expect(fixture.source.requests.count == asked)
            #expect(fixture.source.changing.requests == ["PROPPATCH /f 2001-09-09T01:46:40Z"])
            // What is so already is not asked for.
            guard case .done = try await fixture.change(.setModificationTime(file.path, time)) else {
                throw SetupError("done")
            }
        }
    }

    @Test("S36: of several times only the last is set, and taking it back shows the time before all of them")
    func coalesced() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.engine.setOnline(false)
            for second in 1...100 {
                try await fixture.change(.setModificationTime(file.path, Timestamp(seconds: Int64(second))))
            }
            try await fixture.change(.setModificationTime(file.path, time))
            guard case .joined(let id) = try await fixture.change(.setModificationTime(file.path, time)) else {
                throw SetupError("joined")
            }
            #expect(try await fixture.now(file).lastModified == time)
            try await fixture.engine.cancel(id)
            let back = try await fixture.now(file)
            #expect(back.lastModified == file.lastModified && back.syncActivity.isEmpty)
            #expect(try await fixture.records().isEmpty)

            try await fixture.change(.setModificationTime(file.path, later))
            try await fixture.change(.setModificationTime(file.path, time))
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["PROPPATCH /f 2001-09-09T01:46:40Z"])
        }
    }

    @Test("S10: a time whose answer was lost is asked for, and not set twice", arguments: [true, false])
    func lostAnswer(arrives: Bool) async throws {
        try await EngineFixture.with { fixture in
            let file = try await addCopy("/f", to: fixture)
            fixture.source.changing.then(arrives ? .loseAnswer : .loseRequest)
            try await fixture.change(.setModificationTime(file.path, time))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests.count == (arrives ? 1 : 2))
            let now = try await fixture.now(file)
            #expect(now.lastModified == time && now.etag?.opaque == "w1" && now.syncActivity.isEmpty)
            // Whose time it is was not seen in one answer: the copy may be that of another version.
            #expect((now.copy?.etag == now.etag) == !arrives)
        }
    }

    @Test("a time that is taken back leaves the time to the next listing, and to what came before the first")
    func takenBack() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.source.changing.then(.refuse(.forbidden))
            try await fixture.change(.setModificationTime(file.path, time))
            #expect(try await fixture.drain().leftCount == 1)
            // An answer is not needed any more: the newer time takes the place of the refused one.
            try await fixture.change(.setModificationTime(file.path, later))
            let records = try await fixture.records()
            #expect(records.map(\.action) == [.setModificationTime(later, former: file.lastModified)])
            #expect(try await fixture.issues().isEmpty)
            try await fixture.database.write { tx in for job in try tx.scan.jobs() { try tx.scan.removeJob(job.path) } }
            try await fixture.engine.cancel(records[0].id)
            #expect(try await fixture.database.read { try $0.scan.jobs().map(\.path) } == [.root])
            #expect(try await fixture.now(file).lastModified == file.lastModified)
        }
    }

    @Test("another version is not dated, and a person is asked")
    func otherVersion() async throws {
        try await EngineFixture.with { fixture in
            let file = try await addCopy("/f", to: fixture)
            try await fixture.change(file, "another", version: "v2", isListed: false)
            try await fixture.change(.setModificationTime(file.path, time))
            #expect(try await fixture.drain().leftCount == 1)
            let issues = try await fixture.issues()
            #expect(issues.map(\.code) == ["change.refused"])
            #expect(issues[0].message.hasPrefix("setting the modification time of /f was refused"))
            #expect(try await fixture.now(file).copy?.etag.opaque == "v1")
            #expect(modified("/f", in: fixture) != 1_000_000_000)
        }
    }

    @Test("a copy of an earlier version, of the same size, does not become one of the version that was dated")
    func earlierCopy() async throws {
        try await EngineFixture.with { fixture in
            let file = try await addCopy("/f", to: fixture)
            try await fixture.change(file, "CONTENT", version: "v2")
            try await fixture.change(.setModificationTime(file.path, time))
            #expect(try await fixture.drain().leftCount == 0)
            let now = try await fixture.now(file)
            #expect(now.lastModified == time && now.copy?.etag.opaque == "v1" && now.remoteVersion != .current)
            #expect(modified("/f", in: fixture) != 1_000_000_000)
        }
    }

    @Test("a server that takes the time and does not keep it is found out")
    func notKept() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.source.changing.state.withLock { $0.ignoresTimes = true }
            try await fixture.change(.setModificationTime(file.path, time))
            #expect(try await fixture.drain().leftCount == 1)
            let issues = try await fixture.issues()
            #expect(issues.map(\.code) == ["change.refused"])
            #expect(issues[0].message.contains("shows another one"))
            let record = try #require(try await fixture.records().first)
            try await fixture.engine.cancel(record.id)
            #expect(try await fixture.now(file).lastModified == file.lastModified)
        }
    }

    @Test("a copy that was changed here keeps its own time and its change")
    func changedHere() async throws {
        try await EngineFixture.with { fixture in
            let file = try await addCopy("/f", to: fixture)
            try fixture.write("mine", to: "/f")
            let before = modified("/f", in: fixture)
            try await fixture.change(.setModificationTime(file.path, time))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try fixture.text("/f") == "mine")
            #expect(modified("/f", in: fixture) == before)
            #expect(try await fixture.now(file).copy?.mark.modified != time)
        }
    }

    @Test("a favorite and a time of one file are under way until both are done")
    func besideFavorite() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.engine.setOnline(false)
            guard case .queued(let favorite) = try await fixture.change(.setFavorite(file.path, true)) else {
                throw SetupError("queued")
            }
            try await fixture.change(.setModificationTime(file.path, time))
            try await fixture.engine.cancel(favorite)
            let between = try await fixture.now(file)
            #expect(between.syncActivity == .updating && !between.isFavorite && between.lastModified == time)
            try await fixture.change(.setFavorite(file.path, true))
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            let now = try await fixture.now(file)
            #expect(now.syncActivity.isEmpty && now.isFavorite && now.lastModified == time)
        }
    }

    @Test("an upload and the time after it are made in their order, and the new version has the time")
    func afterUpload() async throws {
        try await EngineFixture.with { fixture in
            let file = try await addCopy("/f", to: fixture)
            fixture.engine.setOnline(false)
            try await fixture.change(.setModificationTime(file.path, later))
            try await fixture.put("newer", "/f", replaces: true)
            try await fixture.change(.setModificationTime(file.path, time))
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(
                fixture.source.changing.requests == [
                    "PROPPATCH /f 2004-11-09T11:33:20Z", "PUT /f", "PROPPATCH /f 2001-09-09T01:46:40Z",
                ])
            let now = try await fixture.now(file)
            #expect(try now.lastModified == time && now.copy?.etag == now.etag && fixture.text("/f") == "newer")
            #expect(modified("/f", in: fixture) == 1_000_000_000)
        }
    }

    @Test("a folder, an item that is only here, and a file that may not be written are refused early")
    func refused() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            let file = try await fixture.addFile("/f")
            let here = try await fixture.addFile("/here")
            try await fixture.database.write { tx in
                guard var file = try tx.items.item(localID: file.localID),
                    var here = try tx.items.item(localID: here.localID)
                else { return }
                file.permissions = "RD"
                here.cloudStatus = .localOnly
                try tx.items.update(file)
                try tx.items.update(here)
            }
            for (name, kind) in [
                ("/d", Failure.Kind.badData), ("/f", .denied), ("/here", .failed), ("/no", .notFound),
            ] {
                let outcome = try await fixture.change(.setModificationTime(path(name), time))
                guard case .refused(let failure) = outcome else { throw SetupError("\(name): \(outcome)") }
                #expect(failure.kind == kind, "\(name): \(failure.message)")
            }
            #expect(try await fixture.records().isEmpty)
        }
    }
}
