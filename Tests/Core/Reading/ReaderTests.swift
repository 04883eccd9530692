import Database
import ItemList
import Model
import Synchronization
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

@Suite("What is read beside a host")
struct ReaderTests {
    @Test(
        "a record's lane is the first before it about the same item or the same folder, and is told for 20,000 of them")
    func lanes() async throws {
        try await AccountFixture.running { fixture in
            let count = 20_000
            let reason = DownloadTrigger.user
            try await fixture.host.database.write { tx in
                func add(_ id: String, _ path: String) throws {
                    _ = try tx.journal.insert(
                        SyncRecord(
                            action: .download, state: .ready, localID: LocalID(id), path: ItemPath(unchecked: path),
                            reason: reason, since: Timestamp(seconds: 0)))
                }
                try add("f", "/a")
                for index in 0..<count { try add("\(index)", "/a/\(index)") }
                try add("x", "/ab")
                try add("x", "/ab/new")
            }
            let reports = try await fixture.reader { try await $0.allRecords() }
            #expect(reports.count == count + 3)
            let first = try #require(reports.first?.record.id)
            #expect(reports.prefix(count + 1).allSatisfy { $0.lane == first })
            let lane = first.advanced(by: count + 1)
            #expect(reports.suffix(2).map(\.lane) == [lane, lane])
            #expect(reports.allSatisfy { $0.progress == nil })
            try await fixture.host.database.write { tx in
                for report in reports { try tx.journal.delete(id: report.record.id) }
            }
        }
    }

    @Test("a reader is closed after its use, also if the use throws, and the use's error is the one to report")
    func closed() async throws {
        try await AccountFixture.running { fixture in
            let used = try AccountReader.open(fixture.bookmark)
            #expect(
                try await used.close { reader throws(Failure) in try await reader.status().account }
                    == fixture.bookmark.name)
            await #expect(throws: Failure.self) { try await used.status() }

            let failing = try AccountReader.open(fixture.bookmark)
            let error = await #expect(throws: Failure.self) {
                try await failing.close { reader throws(Failure) in
                    _ = try await reader.status()
                    throw Failure(.badData, "so")
                }
            }
            #expect(error?.message == "so")
            await #expect(throws: Failure.self) { try await failing.status() }
        }
    }

    @Test("a read whose task is cancelled fails, and is no error of the program's")
    func cancelled() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.reader { reader in
                let read = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    _ = try await reader.status()
                }
                let failure = await #expect(throws: Failure.self) { try await read.value }
                #expect(failure?.kind == .failed)
            }
        }
    }

    @Test("a download's progress is the part that is here")
    func progress() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", String(repeating: "x", count: 1000))
            fixture.put("/a/2", "content")
            try await fixture.runWell()
            try await fixture.pin("/a")
            fixture.server.add(Fault(.status(401), method: "GET"))
            try await fixture.runBadly()
            let incoming = fixture.bookmark.vault + "/incoming"
            let records = try await fixture.reader { try await $0.allRecords() }.map(\.record)
            for name in try Files.names(in: incoming) {
                let record = try #require(records.first { name.hasPrefix("\($0.id)-") })
                if record.path.text == "/a/1" {
                    try Files.write(String(repeating: "x", count: 250), to: "\(incoming)/\(name)")
                } else {
                    Files.remove("\(incoming)/\(name)")
                }
            }
            let reports = try await fixture.reader { try await $0.allRecords() }
            let parts = Dictionary(uniqueKeysWithValues: reports.map { ($0.record.path.text, $0.progress) })
            #expect(parts == ["/a/1": 0.25, "/a/2": nil])
        }
    }

    @Test("the plugins of a host that runs are known beside it, and those of one that has ended are not")
    func plugins() async throws {
        try await AccountFixture.running { fixture in
            let ours = FirstParty.plugins.filter(\.isEnabled).map(\.id).filter { !$0.text.hasSuffix("-loop") }
            let now = try await fixture.reader { reader in
                (try await reader.pluginNotes().started, try await reader.status().plugins.started)
            }
            #expect(now.0.sorted() == ours.sorted() && now.1.sorted() == ours.sorted())
            try await fixture.close()
            let afterwards = try await fixture.reader { reader in
                (try await reader.pluginNotes().started, try await reader.status().plugins.started)
            }
            try await fixture.start()
            #expect(afterwards.0.isEmpty && afterwards.1.isEmpty)
        }
    }
}

extension AccountFixture {
    func reader<T>(_ body: (AccountReader) async throws -> T) async throws -> T {
        let reader = try AccountReader.open(bookmark)
        let result = try await body(reader)
        try reader.close()
        return result
    }
}

extension AccountReader {
    func allRecords() async throws -> [SyncRecordReport] {
        let reports = Collected<SyncRecordReport>()
        try await records { reports.add($0) }
        return reports.all
    }
}

/// A collection of the elements that another thread reports.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
}
