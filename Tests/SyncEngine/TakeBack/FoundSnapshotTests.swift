import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import Connection
@testable import Database
@testable import SyncEngine

/// Files that were to be uploaded when the database had to be restored.
@Suite struct FoundSnapshotTests {
    @Test(
        "V6: a person is asked about each file that was to be uploaded before the database was restored",
        arguments: ["upload", "keep", "cancel"])
    func found(_ answer: String) async throws {
        for isTaken in [false, true] {
            try await EngineFixture.with { fixture in
                let outgoing = fixture.folder + "/vault/outgoing"
                let file = fixture.folder + "/mine"
                try Files.write("mine", to: file, mode: 0o600)
                let path = try ItemPath("/p")
                // The command has ended, and its record is lost.
                _ = try TakenSnapshot.take(of: file, into: outgoing, for: path)
                try await fixture.database.write { try $0.meta.set(.keepsSnapshots, 1) }
                if isTaken { try await fixture.addFile("/p", "theirs") }
                let again = try EngineFixture(reopening: fixture)
                _ = try await again.drain()
                let issue = try #require(try await again.issues().first)
                #expect(
                    issue.code == "upload.found" && issue.message.contains("/p") && issue.message.contains("4 bytes"))
                #expect(issue.choices.map(\.impact) == [.nonDestructive, .nonDestructive, .dataLoss])
                if answer == "upload", isTaken {
                    await #expect(throws: Failure.self) { try await again.engine.resolve(issue.id, choice: answer) }
                    #expect(try await again.issues().count == 1 && again.outgoing().count == 1)
                    try again.vault.close()
                } else {
                    _ = try await again.engine.resolve(issue.id, choice: answer)
                    _ = try await again.drain()
                    #expect(try await again.issues().isEmpty && again.outgoing().isEmpty)
                    let texts = try await again.listed().compactMap { try again.text($0) }
                    #expect(texts == (answer == "cancel" ? [] : ["mine"]))
                    let there = again.source[path].map { String(decoding: $0.bytes, as: UTF8.self) }
                    #expect(there == (isTaken ? "theirs" : answer == "upload" ? "mine" : nil))
                    // From now on what a command leaves is removed again.
                    let last = try EngineFixture(reopening: again)
                    _ = try await last.drain()
                    let keepsAll = try await last.database.read { try $0.meta.integer(.keepsSnapshots) }
                    #expect(keepsAll == nil)
                    try last.vault.close()
                }
            }
        }
    }

    @Test("V6: a snapshot names the path to which it goes until it is a copy, or kept here")
    func namesPath() async throws {
        try await EngineFixture.with { fixture in
            let outgoing = fixture.folder + "/vault/outgoing"
            let file = fixture.folder + "/mine"
            try Files.write("mine", to: file, mode: 0o600)
            for name in ["/p", "/long/é"] {
                let path = try ItemPath(name)
                let (taken, lock) = try TakenSnapshot.take(of: file, into: outgoing, for: path)
                let found = try FoundSnapshot.all(in: outgoing)
                #expect(found.map(\.path) == [path] && found.map(\.size) == [4])
                // What a command is about to request is not asked about.
                #expect(try fixture.tree.foundSnapshots(olderThan: .seconds(60)) { [] }.isEmpty)
                withExtendedLifetime(lock) {}
                fixture.tree.removeSnapshot(taken.name)
            }
        }
    }

    @Test(
        "V6: what has become a copy, or is kept here, names no path to which it is still to go",
        arguments: [true, false])
    func namesNoPath(isUploaded: Bool) async throws {
        try await EngineFixture.with { fixture in
            let outgoing = fixture.folder + "/vault/outgoing"
            let file = fixture.folder + "/mine"
            try Files.write("mine", to: file, mode: 0o600)
            let path = try ItemPath("/p")
            if !isUploaded { fixture.source.changing.then(.refuse(.forbidden)) }
            let taken = try TakenSnapshot.take(of: file, into: outgoing, for: path).0
            try await fixture.change(.put(taken, path, replaces: false))
            // A download that waits behind it takes the snapshot in.
            if isUploaded { try await fixture.ask(.download, try await fixture.item("/p")) }
            _ = try await fixture.drain()
            if let issue = try await fixture.issues().first {
                _ = try await fixture.engine.resolve(issue.id, choice: "keep")
            }
            let here = fixture.tree.localPath(of: path)
            #expect(try Files.text(here) == "mine" && fixture.outgoing().isEmpty)
            // A second name of the file, as a snapshot would have it.
            #expect(link(here, "\(outgoing)/\(taken.name)") == 0)
            #expect(try FoundSnapshot.all(in: outgoing).map(\.path) == [nil])
        }
    }

    @Test("V6: a file whose upload the restored database still knows is uploaded, and nobody is asked about it")
    func stillKnown() async throws {
        try await EngineFixture.with { fixture in
            fixture.engine.setOnline(false)
            try await fixture.put("mine", "/p")
            try await fixture.database.write { try $0.meta.set(.keepsSnapshots, 1) }
            let again = try EngineFixture(reopening: fixture)
            again.engine.setOnline(false)
            _ = try await again.drain()
            #expect(try await again.issues().isEmpty)
            again.engine.setOnline(true)
            _ = try await again.drain()
            #expect(again.source[try ItemPath("/p")]?.bytes == Array("mine".utf8))
            try again.vault.close()
        }
    }

    @Test("V6: a file of which nobody knows to which path it was to go is kept here by its snapshot's name")
    func withoutPath() async throws {
        try await EngineFixture.with { fixture in
            let file = fixture.folder + "/mine"
            try Files.write("mine", to: file, mode: 0o600)
            let taken = try TakenSnapshot.take(of: file, into: fixture.folder + "/vault/outgoing").0
            try await fixture.database.write { try $0.meta.set(.keepsSnapshots, 1) }
            let again = try EngineFixture(reopening: fixture)
            _ = try await again.drain()
            let issue = try #require(try await again.issues().first)
            #expect(issue.choices.map(\.id) == ["keep", "cancel"])
            _ = try await again.engine.resolve(issue.id, choice: "keep")
            #expect(try again.text("/\(taken.name)") == "mine")
            #expect(try await again.item("/\(taken.name)").cloudStatus == .localOnly)
            try again.vault.close()
        }
    }
}
