import Connection
import Database
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of downloads that wait behind a change of their own item.
struct UploadedCopyTests {
    @Test("P21, S35: a download that waits behind an upload of the same file is served by it, whose wish it is too")
    func served() async throws {
        for isNew in [true, false] {
            try await EngineFixture.with { fixture in
                if !isNew { try await fixture.addFile("/f", "old") }
                let gate = Gate()
                fixture.source.changing.then(.hold(gate))
                try await fixture.put("mine", "/f", replaces: !isNew)
                async let outcome = fixture.drain()
                await gate.untilReached()
                let item = try await fixture.item("/f")
                try await fixture.ask(.download, item, for: .availableOffline, key: "k", whileCovered: true)
                #expect(try await fixture.records().map(\.action.kind) == [.upload, .download])
                gate.open()
                #expect(try await outcome.isDone)
                #expect(fixture.source.requests.isEmpty && fixture.relisted.folders.isEmpty)
                #expect(try fixture.text("/f") == "mine")
                let now = try await fixture.now(item)
                #expect(now.cloudStatus == .localCopy && now.remoteVersion == .current && now.syncActivity == [])
                #expect(now.downloadTrigger == .availableOffline && now.formerTrigger == .user)
                let progress = fixture.engine.progress
                #expect(progress.filesDone == progress.filesTotal && progress.filesTotal == 1)
            }
        }
    }

    @Test("S35: a download behind another change of its file fetches the version that the change has made")
    func readAgain() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f", "text")
            let gate = Gate()
            fixture.source.changing.then(.hold(gate))
            try await fixture.change(.setModificationTime(file.path, Timestamp(seconds: 1_650_000_000)))
            async let outcome = fixture.drain()
            await gate.untilReached()
            try await fixture.ask(.download, try await fixture.now(file))
            // The engine reads the download before the change is made.
            await until { fixture.engine.controls.with { !$0.flags.hasNews } }
            gate.open()
            #expect(try await outcome.isDone)
            #expect(fixture.source.requests.count == 1 && fixture.relisted.folders.isEmpty)
            #expect(try await fixture.now(file).remoteVersion == .current)
        }
    }
}
