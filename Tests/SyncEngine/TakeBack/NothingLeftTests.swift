import LocalTree
import Model
import TestSupport
import Testing

@testable import Connection
@testable import Database
@testable import SyncEngine

/// What is left of a record that has left the journal without being done.
@Suite struct NothingLeftTests {
    @Test("S28: what was to be fetched of a file or folder that is not made goes with it, here and in the totals")
    func belowPin() async throws {
        for kind in ["put", "mkdir", "cp", "cp folder"] {
            try await EngineFixture.with { fixture in
                try await fixture.addFolder("/d")
                try await fixture.addFile("/d/f")
                fixture.source.changing.then(.refuse(.forbidden))
                let target = try ItemPath("/d/new")
                switch kind {
                case "put": try await fixture.put("mine", "/d/new")
                case "mkdir": try await fixture.change(.createFolder(target))
                case "cp": try await fixture.change(.copy(try ItemPath("/d/f"), to: target))
                default: try await fixture.change(.copy(try ItemPath("/d"), to: try ItemPath("/new")))
                }
                let made = try await fixture.item(kind == "cp folder" ? "/new" : "/d/new")
                // As a policy does that keeps what is in the folder.
                try await fixture.ask(.download, made, for: .availableOffline, whileCovered: true)
                _ = try await fixture.drain()
                let issue = try #require(try await fixture.issues().first)
                _ = try await fixture.engine.resolve(issue.id, choice: "cancel")
                _ = try await fixture.drain()
                #expect(try await fixture.listed() == ["/d", "/d/f"], "\(kind)")
                #expect(!Files.exists(fixture.tree.localPath(of: made.path)))
                #expect(try await fixture.records().isEmpty)
                let progress = fixture.engine.progress
                #expect(progress.filesTotal == progress.filesDone && progress.bytesTotal == progress.bytesDone)
                #expect(try fixture.outgoing().isEmpty)
            }
        }
    }

    @Test("S28: a download whose item goes from the list is not counted any more")
    func itemGone() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.engine.setOnline(false)
            try await fixture.ask(.download, file)
            #expect(fixture.engine.progress.filesTotal == 1)
            try await fixture.database.write { try $0.items.delete(databaseID: file.databaseID) }
            fixture.engine.setOnline(true)
            _ = try await fixture.drain()
            #expect(try await fixture.records().isEmpty)
            #expect(fixture.engine.progress.filesTotal == 0 && fixture.engine.progress.bytesTotal == 0)
        }
    }
}
