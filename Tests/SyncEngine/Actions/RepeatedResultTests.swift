import Database
import LocalTree
import Model
import TestSupport
import Testing

@testable import SyncEngine

struct RepeatedResultTests {
    @Test("S26: the result of a download or a change that comes twice is applied once")
    func twice() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f", "content")
            try await fixture.ask(.download, file, for: .availableOffline)
            let job = Job(try #require(try await fixture.records().first), item: file)
            let action = DownloadAction(fixture.engine.context)
            func fetched() throws -> Fetched {
                let incoming = try fixture.tree.incomingFile(job.incomingName)
                try incoming.restart(computing: [])
                try Array("content".utf8).withUnsafeBytes { try incoming.append($0) }
                return Fetched(job: job, file: try incoming.finish(modified: nil), version: job.version)
            }
            func arrivals() throws -> Arrivals {
                var arrivals = Arrivals()
                arrivals.append(try fetched(), now: .now())
                return arrivals
            }
            let placed = try action.land(arrivals(), completing: InPlace(), started: [job.id]).placed
            #expect(placed.count == 1)
            _ = try action.land(Arrivals(), completing: InPlace(files: placed), started: [])
            let landed = try await fixture.now(file)
            let done = fixture.engine.progress.filesDone
            #expect(try await fixture.records().isEmpty && landed.cloudStatus == .localCopy && done == 1)

            try fixture.write("a person's", to: "/f")
            #expect(try action.land(arrivals(), completing: InPlace(), started: []).placed.isEmpty)
            #expect(try fixture.text("/f") == "a person's" && fixture.incoming().isEmpty)
            #expect(try await fixture.now(file) == landed && fixture.engine.progress.filesDone == done)

            try await fixture.change(.createFolder(ItemPath("/new")))
            let record = try #require(try await fixture.records().first)
            let folder = try #require(try await fixture.database.read { try $0.items.item(at: record.path) })
            for _ in 0..<2 {
                _ = try await CreateFolderAction(fixture.engine.context).carryOut(Job(record, item: folder))
            }
            #expect(fixture.source.changing.requests == ["MKCOL /new"])
            #expect(try await fixture.records().isEmpty && fixture.engine.progress.changes == 1)
        }
    }
}
