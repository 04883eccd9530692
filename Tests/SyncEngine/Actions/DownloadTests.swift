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
        try await Rig.with { rig in
            let file = try await rig.addFile("/Photos/cat.jpg", "meow")
            guard case .queued(let id) = try await rig.ask(.download, file) else {
                throw SetupError("not queued")
            }
            #expect(try await rig.records().map(\.id) == [id])
            #expect(try await rig.now(file).syncActivity == .downloading)
            #expect(rig.source.requests.isEmpty)

            // When the request comes, who opens the database beside the engine finds the record there.
            let journalled = Mutex<[[String]]>([])
            rig.source.each { [vault = rig.folder + "/vault"] request in
                do {
                    let other = try Vault.openDatabaseForReading(at: vault)
                    let paths = try other.readBlocking { try $0.recordPaths() }
                    try other.close()
                    journalled.withLock { $0.append(paths + [request.path.text]) }
                } catch {
                    journalled.withLock { $0.append(["\(error)"]) }
                }
            }
            let outcome = try await rig.drain()
            #expect(outcome.isDone)
            #expect(journalled.withLock { $0 } == [["/Photos/cat.jpg", "/Photos/cat.jpg"]])
            #expect(try rig.text("/Photos/cat.jpg") == "meow")
            let item = try await rig.now(file)
            #expect(item.cloudStatus == .localCopy && item.remoteVersion == .current && item.downloadTrigger == .user)
            #expect(item.syncActivity == [] && item.lastUsed != nil)
            #expect(item.copy?.mark.modified == Timestamp(seconds: 1_600_000_000))
            #expect(try await rig.records().isEmpty)
            #expect(try rig.incoming().isEmpty)
            #expect(rig.engine.progress.filesDone == 1 && rig.engine.progress.bytesDone == 4)
        }
    }

    @Test("S1: thousands of files come with few syncs, one request each, and nothing is left over")
    func many() async throws {
        try await Rig.with { rig in
            let items = try await rig.addFiles(1_500) { ("/d\($0 % 7)/f\($0)", "number \($0)") }
            try await rig.database.write { [engine = rig.engine] tx in
                _ = try engine.enqueue(items.map { .init(.download, item: $0.localID, reason: .user) }, in: tx)
            }
            #expect(try await rig.drain().isDone)
            #expect(rig.source.requests.count == 1_500)
            for number in 0..<1_500 { #expect(try rig.text("/d\(number % 7)/f\(number)") == "number \(number)") }
            #expect(try await rig.database.read { try $0.items.counts().here.localCopies } == 1_500)
            #expect(try await rig.records().isEmpty && rig.incoming().isEmpty)
        }
    }

    @Test("S6: no more downloads are under way than the limit says")
    func limit() async throws {
        try await Rig.with(limits: Limits(downloads: 3)) { rig in
            let copies = try await rig.addFiles(10) { ("/copy\($0)", "content") }
            for copy in copies { try await rig.ask(.download, copy) }
            #expect(try await rig.drain().isDone)
            let gate = Gate()
            for number in 0..<40 {
                let file = try await rig.addFile("/f\(number)")
                rig.source.then(file.path, .hold(gate))
                try await rig.ask(.download, file)
            }
            async let outcome = rig.drain()
            for _ in 0..<3 { await gate.untilSomebodyCame() }
            // What is asked for meanwhile has the engine look for work again, and again.
            for removed in copies {
                try await rig.ask(.removeLocalCopy(restoringFormerTrigger: false), removed)
                await until { (try? await rig.now(removed).cloudStatus) == .cloudOnly }
                #expect(rig.source.mostUnderWay == 3)
            }
            gate.open()
            #expect(try await outcome.isDone)
            #expect(rig.source.mostUnderWay == 3)
        }
    }

    @Test("S3: a refused request leaves no record and changes no item")
    func refusals() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/gone")
            try await rig.database.write { tx in
                var item = file
                item.removedAt = Timestamp(seconds: 1)
                try tx.items.update(item)
            }
            let before = try await rig.now(file)
            guard case .refused(let failure) = try await rig.ask(.download, file) else {
                throw SetupError("not refused")
            }
            #expect(failure.kind == .notFound)
            var stranger = file
            stranger.localID = .random()
            guard case .refused = try await rig.ask(.download, stranger) else { throw SetupError("not refused") }
            #expect(try await rig.records().isEmpty)
            #expect(try await rig.now(file) == before)
        }
    }

    @Test("P21: a current copy is adopted with 0 bytes, its former trigger is remembered; P27: it gets that back")
    func adoption() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            try await rig.ask(.download, file)
            _ = try await rig.drain()
            guard case .done = try await rig.ask(.download, file, for: .availableOffline) else {
                throw SetupError("not adopted")
            }
            var item = try await rig.now(file)
            #expect(item.downloadTrigger == .availableOffline && item.formerTrigger == .user)
            #expect(try await rig.records().isEmpty)
            // Once more changes nothing, and tells nobody of a change.
            try await rig.ask(.download, file, for: .availableOffline)
            #expect(try await rig.now(file).anchor == item.anchor)

            rig.clock.advance(.seconds(1000))
            guard
                case .done = try await rig.ask(
                    .removeLocalCopy(restoringFormerTrigger: true), file, for: .availableOffline)
            else { throw SetupError("not given back") }
            item = try await rig.now(file)
            #expect(item.downloadTrigger == .user && item.formerTrigger == nil && item.lastUsed == rig.clock.now)
            #expect(try rig.text("/a") == "content" && rig.source.requests.count == 1)
        }
    }

    @Test("P21: a second download of the same item joins the first, by its key and by its item")
    func joining() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            guard case .queued(let first) = try await rig.ask(.download, file, for: .availableOffline, key: "k"),
                case .joined(let second) = try await rig.ask(.download, file, for: .availableOffline, key: "k"),
                case .joined(let third) = try await rig.ask(.download, file)
            else { throw SetupError("not joined") }
            #expect(first == second && second == third)
            #expect(try await rig.drain().isDone)
            let item = try await rig.now(file)
            #expect(item.downloadTrigger == .availableOffline && item.formerTrigger == .user)
            #expect(rig.source.requests.count == 1)
        }
    }

    @Test("P17: a folder is made here without a request, and goes when it is empty and no longer kept")
    func folders() async throws {
        try await Rig.with { rig in
            let outer = try await rig.addFolder("/a")
            let inner = try await rig.addFolder("/a/b")
            let file = try await rig.addFile("/a/b/f")
            for item in [outer, inner, file] { try await rig.ask(.download, item, for: .availableOffline) }
            #expect(try await rig.drain().isDone)
            #expect(try await rig.now(inner).cloudStatus == .localCopy)
            #expect(rig.source.requests.count == 1)
            // The folders first: they stay for as long as something is in them.
            for item in [outer, inner, file] {
                try await rig.ask(.removeLocalCopy(restoringFormerTrigger: true), item, for: .availableOffline)
            }
            #expect(Files.isFolder(rig.tree.localPath(of: inner.path)))
            #expect(try await rig.drain().isDone)
            #expect(try await rig.now(inner).cloudStatus == .cloudOnly)
            #expect(!Files.exists(rig.tree.localPath(of: outer.path)))
        }
    }

    @Test(
        "P28: the old copy stays readable until the new one is complete, whatever the network does; S15: then it is replaced"
    )
    func update() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", "old")
            try await rig.ask(.download, file, for: .availableOffline)
            _ = try await rig.drain()
            try await rig.change(file, "newer", version: "v2")
            #expect(try await rig.now(file).remoteVersion == .newer)

            rig.source.failAlways(file.path, .init(.unreachable, "no route"))
            try await rig.ask(.download, file, for: .availableOffline)
            let outcome = try await rig.drain()
            #expect(outcome.failure?.kind == .unreachable && outcome.leftCount == 1)
            #expect(try rig.text("/a") == "old")
            #expect(try await rig.now(file).cloudStatus == .localCopy)

            rig.source.failAlways(file.path, nil)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "newer")
            #expect(try await rig.now(file).remoteVersion == .current)
        }
    }

    @Test("S17: a person's download of a changed file asks, a plugin's is refused; neither overwrites")
    func modified() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", "old")
            try await rig.ask(.download, file)
            _ = try await rig.drain()
            try await rig.change(file, "newer", version: "v2")
            try rig.write("mine", to: "/a")
            // Nobody has noticed the change yet: the tree does.
            try await rig.ask(.download, file, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "mine")
            #expect(try await rig.now(file).cloudStatus == .locallyModified)
            #expect(try await rig.now(file).syncActivity == [])
            guard case .refused = try await rig.ask(.download, file, for: .availableOffline) else {
                throw SetupError("not refused")
            }
            #expect(try await rig.issues().isEmpty)

            guard case .waits(_, let issue) = try await rig.ask(.download, file) else { throw SetupError("not asked") }
            #expect(try await rig.drain().leftCount == 1)
            #expect(try await rig.engine.resolve(issue, choice: "keep"))
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "mine")

            guard case .waits(_, let second) = try await rig.ask(.download, file) else { throw SetupError("not asked") }
            #expect(try await rig.engine.resolve(second, choice: "overwriteModifiedFile"))
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "newer")
            #expect(try await rig.now(file).cloudStatus == .localCopy)
        }
    }

    @Test("S17: agreed to lose one change, a later one stays")
    func modifiedAgain() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", "old")
            try await rig.ask(.download, file)
            _ = try await rig.drain()
            try await rig.change(file, "newer", version: "v2")
            try rig.write("mine", to: "/a")
            try await rig.ask(.download, file)
            #expect(try await rig.drain().leftCount == 1)
            let issue = try #require(try await rig.issues().first)
            #expect(issue.code == "download.overwrite" && issue.choices.map(\.impact) == [.nonDestructive, .dataLoss])
            #expect(try await rig.engine.resolve(issue.id, choice: "overwriteModifiedFile"))
            try rig.write("mine, later", to: "/a")
            #expect(try await rig.drain().leftCount == 1)
            #expect(try rig.text("/a") == "mine, later")
        }
    }

    @Test("A drain does not end while more is expected", .timeLimit(.minutes(20)))
    func expecting() async throws {
        try await Rig.with { rig in
            rig.engine.expectMore(true)
            async let outcome = rig.drain()
            for name in ["/a", "/b"] {
                let file = try await rig.addFile(name)
                try await rig.ask(.download, file)
                guard name == "/a" else { break }
                while try await rig.now(file).cloudStatus != .localCopy { await Task.yield() }
            }
            rig.engine.expectMore(false)
            #expect(try await outcome.isDone)
            #expect(try rig.text("/b") == "content")
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
