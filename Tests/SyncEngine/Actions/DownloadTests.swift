import Connection
import Database
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import SyncEngine

struct DownloadTests {
    @Test(
        "S1: a download is in the journal, marked on the item, before any request; then the file is here and the record gone"
    )
    func download() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/Photos/cat.jpg", "meow")
            guard case .queued(let id) = try await fixture.ask(.download, file) else {
                throw SetupError("not queued")
            }
            #expect(try await fixture.records().map(\.id) == [id])
            #expect(try await fixture.now(file).syncActivity == .downloading)
            #expect(fixture.source.requests.isEmpty)

            // When the request arrives, a second reader of the database already finds the record.
            let journalled = Mutex<[[String]]>([])
            fixture.source.each { [vault = fixture.folder + "/vault"] request in
                do {
                    let other = try Vault.openDatabaseForReading(at: vault)
                    let paths = try other.readBlocking { try $0.recordPaths() }
                    try other.close()
                    journalled.withLock { $0.append(paths + [request.path.text]) }
                } catch {
                    journalled.withLock { $0.append(["\(error)"]) }
                }
            }
            let outcome = try await fixture.drain()
            #expect(outcome.isDone)
            #expect(journalled.withLock { $0 } == [["/Photos/cat.jpg", "/Photos/cat.jpg"]])
            #expect(try fixture.text("/Photos/cat.jpg") == "meow")
            let item = try await fixture.now(file)
            #expect(item.cloudStatus == .localCopy && item.remoteVersion == .current && item.downloadTrigger == .user)
            #expect(item.syncActivity == [] && item.lastUsed != nil)
            #expect(item.copy?.mark.modified == Timestamp(seconds: 1_600_000_000))
            #expect(try await fixture.records().isEmpty)
            #expect(try fixture.incoming().isEmpty)
            #expect(fixture.engine.progress.filesDone == 1 && fixture.engine.progress.bytesDone == 4)
        }
    }

    @Test("S1: thousands of files come with few syncs, one request each, and nothing is left over")
    func many() async throws {
        try await EngineFixture.with { fixture in
            let items = try await fixture.addFiles(1_500) { ("/d\($0 % 7)/f\($0)", "number \($0)") }
            try await fixture.database.write { [engine = fixture.engine] tx in
                _ = try engine.enqueue(items.map { .init(.download, item: $0.localID, reason: .user) }, in: tx)
            }
            #expect(try await fixture.drain().isDone)
            #expect(fixture.source.requests.count == 1_500)
            for number in 0..<1_500 { #expect(try fixture.text("/d\(number % 7)/f\(number)") == "number \(number)") }
            #expect(try await fixture.database.read { try $0.items.counts().here.localCopies } == 1_500)
            #expect(try await fixture.records().isEmpty && fixture.incoming().isEmpty)
        }
    }

    @Test("S6: no more downloads are under way than the limit says")
    func limit() async throws {
        try await EngineFixture.with(limits: Limits(downloads: 3)) { fixture in
            let copies = try await fixture.addFiles(10) { ("/copy\($0)", "content") }
            for copy in copies { try await fixture.ask(.download, copy) }
            #expect(try await fixture.drain().isDone)
            let gate = Gate()
            for number in 0..<40 {
                let file = try await fixture.addFile("/f\(number)")
                fixture.source.then(file.path, .hold(gate))
                try await fixture.ask(.download, file)
            }
            async let outcome = fixture.drain()
            await gate.untilReached(times: 3)
            // The requests made meanwhile cause the engine to search for work again and again.
            for removed in copies {
                try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), removed)
                await until { (try? await fixture.now(removed).cloudStatus) == .cloudOnly }
                #expect(fixture.source.mostUnderWay == 3)
            }
            gate.open()
            #expect(try await outcome.isDone)
            #expect(fixture.source.mostUnderWay == 3)
        }
    }

    @Test("S3: a refused request leaves no record and changes no item")
    func refusals() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/gone")
            try await fixture.database.write { tx in
                var item = file
                item.removedAt = Timestamp(seconds: 1)
                try tx.items.update(item)
            }
            let before = try await fixture.now(file)
            guard case .refused(let failure) = try await fixture.ask(.download, file) else {
                throw SetupError("not refused")
            }
            #expect(failure.kind == .notFound)
            var stranger = file
            stranger.localID = .random()
            guard case .refused = try await fixture.ask(.download, stranger) else { throw SetupError("not refused") }
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.now(file) == before)
        }
    }

    @Test("P21: a current copy is adopted with 0 bytes, its former trigger is remembered; P27: it gets that back")
    func adoption() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            guard case .done = try await fixture.ask(.download, file, for: .availableOffline) else {
                throw SetupError("not adopted")
            }
            var item = try await fixture.now(file)
            #expect(item.downloadTrigger == .availableOffline && item.formerTrigger == .user)
            #expect(try await fixture.records().isEmpty)
            // A repeated request changes nothing and reports no change.
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.now(file).anchor == item.anchor)

            fixture.clock.advance(.seconds(1000))
            guard
                case .done = try await fixture.ask(
                    .removeLocalCopy(restoringFormerTrigger: true), file, for: .availableOffline)
            else { throw SetupError("not given back") }
            item = try await fixture.now(file)
            #expect(item.downloadTrigger == .user && item.formerTrigger == nil && item.lastUsed == fixture.clock.now)
            #expect(try fixture.text("/a") == "content" && fixture.source.requests.count == 1)
        }
    }

    @Test("P21: a current copy that a pin or another plugin brought is not taken by a plugin; a pin takes it over once")
    func othersCopy() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            let (one, other) = (DownloadTrigger("org.example.one"), DownloadTrigger("org.example.other"))
            try await fixture.ask(.download, file, for: one)
            _ = try await fixture.drain()
            let brought = try await fixture.now(file)
            try await fixture.ask(.download, file, for: other)
            #expect(try await fixture.now(file) == brought && brought.downloadTrigger == one)
            try await fixture.ask(.download, file, for: .availableOffline)
            let pinned = try await fixture.now(file)
            #expect(pinned.downloadTrigger == .availableOffline && pinned.formerTrigger == one)
            for asker in [one, other, .availableOffline] {
                try await fixture.ask(.download, file, for: asker)
                #expect(try await fixture.now(file) == pinned)
            }
        }
    }

    @Test("P21: a second download of the same item joins the first, by its key and by its item")
    func joining() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            guard case .queued(let first) = try await fixture.ask(.download, file, for: .availableOffline, key: "k"),
                case .joined(let second) = try await fixture.ask(.download, file, for: .availableOffline, key: "k"),
                case .joined(let third) = try await fixture.ask(.download, file)
            else { throw SetupError("not joined") }
            #expect(first == second && second == third)
            #expect(try await fixture.drain().isDone)
            let item = try await fixture.now(file)
            #expect(item.downloadTrigger == .availableOffline && item.formerTrigger == .user)
            #expect(fixture.source.requests.count == 1)
        }
    }

    @Test("P17: a folder is made here without a request, and goes when it is empty and no longer kept")
    func folders() async throws {
        try await EngineFixture.with { fixture in
            let outer = try await fixture.addFolder("/a")
            let inner = try await fixture.addFolder("/a/b")
            let file = try await fixture.addFile("/a/b/f")
            for item in [outer, inner, file] { try await fixture.ask(.download, item, for: .availableOffline) }
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.now(inner).cloudStatus == .localCopy)
            #expect(fixture.source.requests.count == 1)
            // The folders are requested first. They stay as long as they contain something.
            for item in [outer, inner, file] {
                try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: true), item, for: .availableOffline)
            }
            #expect(Files.isFolder(fixture.tree.localPath(of: inner.path)))
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.now(inner).cloudStatus == .cloudOnly)
            #expect(!Files.exists(fixture.tree.localPath(of: outer.path)))
        }
    }

    @Test(
        "P28: the old copy stays readable until the new one is complete, whatever the network does; S15: then it is replaced"
    )
    func update() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "old")
            try await fixture.ask(.download, file, for: .availableOffline)
            _ = try await fixture.drain()
            try await fixture.change(file, "newer", version: "v2")
            #expect(try await fixture.now(file).remoteVersion == .newer)

            fixture.source.failAlways(file.path, .init(.unreachable, "no route"))
            try await fixture.ask(.download, file, for: .availableOffline)
            let outcome = try await fixture.drain()
            #expect(outcome.failure?.kind == .unreachable && outcome.leftCount == 1)
            #expect(try fixture.text("/a") == "old")
            #expect(try await fixture.now(file).cloudStatus == .localCopy)

            fixture.source.failAlways(file.path, nil)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "newer")
            #expect(try await fixture.now(file).remoteVersion == .current)
        }
    }

    @Test("S17: a person's download of a changed file asks, a plugin's is refused; neither overwrites")
    func modified() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "old")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            try await fixture.change(file, "newer", version: "v2")
            try fixture.write("mine", to: "/a")
            // No row records the change yet. The tree detects it.
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "mine")
            #expect(try await fixture.now(file).cloudStatus == .locallyModified)
            #expect(try await fixture.now(file).syncActivity == [])
            guard case .refused = try await fixture.ask(.download, file, for: .availableOffline) else {
                throw SetupError("not refused")
            }
            #expect(try await fixture.issues().isEmpty)

            guard case .waits(_, let issue) = try await fixture.ask(.download, file) else {
                throw SetupError("not asked")
            }
            #expect(try await fixture.drain().leftCount == 1)
            #expect(try await fixture.engine.resolve(issue, choice: "keep"))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "mine")

            guard case .waits(_, let second) = try await fixture.ask(.download, file) else {
                throw SetupError("not asked")
            }
            #expect(try await fixture.engine.resolve(second, choice: "overwriteModifiedFile"))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "newer")
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
        }
    }

    @Test("S17: agreed to lose one change, a later one stays")
    func modifiedAgain() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "old")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            try await fixture.change(file, "newer", version: "v2")
            try fixture.write("mine", to: "/a")
            try await fixture.ask(.download, file)
            #expect(try await fixture.drain().leftCount == 1)
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "download.overwrite" && issue.choices.map(\.impact) == [.nonDestructive, .dataLoss])
            #expect(try await fixture.engine.resolve(issue.id, choice: "overwriteModifiedFile"))
            try fixture.write("mine, later", to: "/a")
            #expect(try await fixture.drain().leftCount == 1)
            #expect(try fixture.text("/a") == "mine, later")
        }
    }

    @Test("A drain does not end while more is expected", .timeLimit(.minutes(20)))
    func expecting() async throws {
        try await EngineFixture.with { fixture in
            fixture.engine.expectMore(true)
            async let outcome = fixture.drain()
            for name in ["/a", "/b"] {
                let file = try await fixture.addFile(name)
                try await fixture.ask(.download, file)
                guard name == "/a" else { break }
                try await until { try await fixture.now(file).cloudStatus == .localCopy }
            }
            fixture.engine.expectMore(false)
            #expect(try await outcome.isDone)
            #expect(try fixture.text("/b") == "content")
        }
    }
}

extension DatabaseReads {
    fileprivate func recordPaths() throws -> [String] {
        var paths: [String] = []
        try journal.each { record in
            paths.append(record.path.text)
            return true
        }
        return paths
    }
}
