import Database
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import SyncEngine

struct RoomTests {
    /// A disk of which a test says how large it is. What is in the vault's tree and in `incoming/` is not free.
    private final class Disk: Sendable {
        let size: Mutex<Int64>
        let vault: String

        init(_ size: Int64, vault: String) {
            self.size = Mutex(size)
            self.vault = vault
        }

        var space: FileSystemSpace? {
            let used = ["files", "incoming"].reduce(Int64(0)) { sum, folder in
                let files = (try? Files.filesBelow("\(vault)/\(folder)")) ?? []
                return files.reduce(sum) { $0 + Int64((try? Files.read("\(vault)/\(folder)/\($1)").count) ?? 0) }
            }
            return FileSystemSpace(free: size.withLock { $0 } - used, total: 1 << 40)
        }
    }

    private func with(
        size: Int64, limits: Limits = EngineFixture.limits, _ body: (EngineFixture, Disk) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let disk = Disk(size, vault: folder + "/vault")
            let fixture = try EngineFixture(folder: folder, limits: limits, keepFree: 100, space: { disk.space })
            try await body(fixture, disk)
            try fixture.vault.close()
        }
    }

    private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test("C13: a file that would leave too little waits, named; smaller ones go; with room it goes on")
    func waits() async throws {
        try await with(size: 1_000) { fixture, disk in
            let big = try await fixture.addFile("/big", text(5_000))
            let small = try await fixture.addFile("/small", text(800))
            for file in [big, small] { try await fixture.ask(.download, file, for: .availableOffline) }
            let outcome = try await fixture.drain()
            #expect(outcome.failure == nil && outcome.left.map(\.path) == [big.path])
            #expect(outcome.left.first?.failure == .localIO && outcome.left.first?.waitsForRoom == true)
            #expect(outcome.left.first?.why.contains("100 B free") == true)
            #expect(fixture.source.requests.map(\.path) == [small.path])
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "disk.room" && issue.failure == .localIO)
            #expect(issue.message.hasPrefix("1 download waits for room: it (5.0 kB) would leave less than 100 B free"))
            #expect(issue.message.contains(fixture.tree.root) && issue.message.contains("disk.keep-free"))

            // A command about other records does not withdraw the issue.
            #expect(try await fixture.drain(only: []).isDone)
            #expect(try await fixture.issues().count == 1)

            disk.size.withLock { $0 = 10_000 }
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/big")?.count == 5_000)
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("C13: of two files that fit only one at a time, the second does not begin while the first is under way")
    func underWay() async throws {
        try await with(size: 1_000) { fixture, disk in
            let files = [try await fixture.addFile("/a", text(600)), try await fixture.addFile("/b", text(600))]
            let gate = Gate()
            fixture.source.then(files[0].path, .pause(after: 300, gate))
            for file in files { try await fixture.ask(.download, file, for: .availableOffline) }
            async let outcome = fixture.drain()
            await gate.untilReached()
            try await until { try await !fixture.issues().isEmpty }
            #expect(fixture.source.requests.map(\.path) == [files[0].path])
            gate.open()
            #expect(try await outcome.left.map(\.path) == [files[1].path])
            #expect(try fixture.text("/a")?.count == 600)

            // What is here of a download is not needed again.
            disk.size.withLock { $0 = 1_400 }
            fixture.source.then(files[1].path, .cutOff(after: 500))
            #expect(try await fixture.drain().isDone)
            #expect(fixture.source.requests.map(\.offset) == [0, 0, 500])
        }
    }

    @Test("C13: accounts on one file system share its room")
    func accounts() async throws {
        try await withTemporaryFolder { folder in
            let rooms = DownloadRooms()
            let fixtures = try ["a", "b"].map { name in
                try EngineFixture(
                    folder: "\(folder)/\(name)", keepFree: 100, account: name, rooms: rooms,
                    space: { FileSystemSpace(free: 1_000, total: 1 << 40) })
            }
            let files = [
                try await fixtures[0].addFile("/a", text(600)), try await fixtures[1].addFile("/b", text(600)),
            ]
            let gate = Gate()
            fixtures[0].source.then(files[0].path, .pause(after: 0, gate))
            for (fixture, file) in zip(fixtures, files) {
                try await fixture.ask(.download, file, for: .availableOffline)
            }
            async let first = fixtures[0].drain()
            await gate.untilReached()
            #expect(try await fixtures[1].drain().left.map(\.path) == [files[1].path])
            #expect(fixtures[1].source.requests.isEmpty)
            gate.open()
            #expect(try await first.isDone)
            #expect(try await fixtures[1].drain().isDone)
            for fixture in fixtures { try fixture.vault.close() }
        }
    }

    @Test("C13: what other programs have taken since the journal was read counts when a download begins")
    func others() async throws {
        try await with(size: 2_000, limits: Limits(downloads: 1)) { fixture, disk in
            let files = [try await fixture.addFile("/a", text(600)), try await fixture.addFile("/b", text(600))]
            fixture.source.each { _ in
                disk.size.withLock { $0 = 1_000 }
                fixture.clock.advance(.seconds(1))
            }
            for file in files { try await fixture.ask(.download, file, for: .availableOffline) }
            #expect(try await fixture.drain().left.map(\.path) == [files[1].path])
            #expect(fixture.source.requests.map(\.path) == [files[0].path])
        }
    }

    @Test("C13: the rest of a download that was cut off goes on where its whole would have no room")
    func rest() async throws {
        try await with(size: 1_200) { fixture, disk in
            let file = try await fixture.addFile("/a", text(1_000))
            fixture.source.then(file.path, .cutOff(after: 900))
            fixture.source.each { request in if request.offset == 0 { disk.size.withLock { $0 = 1_110 } } }
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            #expect(fixture.source.requests.map(\.offset) == [0, 900])
        }
    }

    @Test("C13: a file of which no size is listed does not begin on a disk without room")
    func unknownSize() async throws {
        try await with(size: 100) { fixture, disk in
            var file = try await fixture.addFile("/a", text(10))
            file.size = nil
            try await fixture.database.write { [file] tx in _ = try tx.items.update(file) }
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().left.map(\.path) == [file.path])
            #expect(fixture.source.requests.isEmpty)
            disk.size.withLock { $0 = 200 }
            #expect(try await fixture.drain().isDone)
        }
    }

    @Test("C13: a removal makes room in the same run")
    func removal() async throws {
        try await with(size: 1_000) { fixture, _ in
            let old = try await fixture.addFile("/old", text(800))
            try await fixture.ask(.download, old)
            #expect(try await fixture.drain().isDone)
            let new = try await fixture.addFile("/new", text(700))
            try await fixture.ask(.download, new)
            #expect(try await fixture.drain().left.map(\.path) == [new.path])
            try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), old)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/new")?.count == 700 && fixture.text("/old") == nil)
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("C13: a running host goes on by itself when there is room", .timeLimit(.minutes(20)))
    func running() async throws {
        try await with(size: 1_000) { fixture, disk in
            let big = try await fixture.addFile("/big", text(5_000))
            try await fixture.ask(.download, big, for: .availableOffline)
            let run = Task { [fixture] in try await fixture.run() }
            try await until { try await !fixture.issues().isEmpty }
            #expect(fixture.source.requests.isEmpty)
            disk.size.withLock { $0 = 10_000 }
            try await until { try await fixture.records().isEmpty }
            try await until { try await fixture.issues().isEmpty }
            run.cancel()
            _ = await run.result
            #expect(try fixture.text("/big")?.count == 5_000)
        }
    }

    @Test("C13: of many files as many begin as there is room for, and all are named")
    func many() async throws {
        try await with(size: 1_100) { fixture, _ in
            let files = try await fixture.addFiles(3_000) { ("/d/f\($0)", text(100)) }
            let requests = files.map { ActionRequest(.download, item: $0.localID, reason: .availableOffline) }
            _ = try await fixture.database.write { [engine = fixture.engine] tx in
                try engine.enqueue(requests, in: tx)
            }
            let outcome = try await fixture.drain()
            #expect(outcome.leftCount == 2_990 && fixture.source.requests.count == 10)
            #expect(try await fixture.issues().map(\.message).first?.hasPrefix("2990 downloads wait") == true)
        }
    }
}
