import Connection
import Database
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

struct TroubleTests {
    @Test("S23: one file that fails for ever is tried five times and becomes an issue, all others are here")
    func oneBrokenFile() async throws {
        try await Rig.with { rig in
            let broken = try await rig.addFile("/broken")
            rig.source.failAlways(broken.path, .init(.serverError, "/broken: 500 Internal Server Error", status: 500))
            try await rig.ask(.download, broken, for: .availableOffline)
            for number in 0..<30 {
                try await rig.ask(.download, try await rig.addFile("/f\(number)"), for: .availableOffline)
            }
            let outcome = try await rig.drain()
            #expect(outcome.left.map(\.path) == [broken.path] && outcome.failure == nil)
            #expect(outcome.left.first?.why.contains("500") == true)
            #expect(rig.source.requestCount(broken.path) == 5 && rig.source.requests.count == 35)
            #expect(try await rig.issues().map(\.code) == ["download.retry"])
            #expect(try await rig.database.read { try $0.items.counts().here.localCopies } == 30)
        }
    }

    @Test("S21: an unanswered issue is there after a restart, with its choices; S22: its answer is carried out")
    func issueSurvives() async throws {
        try await Rig.with { first in
            let broken = try await first.addFile("/broken")
            first.source.failAlways(broken.path, .init(.forbidden, "/broken: 403 Forbidden", status: 403))
            try await first.ask(.download, broken)
            #expect(try await first.drain().leftCount == 1)
            let rig = try Rig(reopening: first)
            let issue = try #require(try await rig.issues().first)
            #expect(issue.choices.map(\.id) == ["retry", "cancel"] && issue.failure == .denied)
            #expect(try await rig.drain().leftCount == 1)
            #expect(rig.source.requestCount(broken.path) == 1)

            await #expect(throws: Failure.self) { try await rig.engine.resolve(issue.id, choice: "overwrite") }
            rig.source.failAlways(broken.path, nil)
            #expect(try await rig.engine.resolve(issue.id, choice: "retry"))
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/broken") == "content")
            #expect(try await rig.issues().isEmpty)
        }
    }

    @Test("S28: cancelled, a record is gone with the item's mark, its issue and what was fetched")
    func cancel() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", String(repeating: "x", count: 100_000))
            rig.source.then(file.path, .cutOff(after: 70_000))
            rig.source.failAlways(file.path, nil)
            guard case .queued(let id) = try await rig.ask(.download, file) else { throw SetupError("not queued") }
            let gate = Gate()
            rig.source.then(file.path, .hold(gate))
            async let outcome = rig.drain()
            await gate.untilSomebodyCame()
            #expect(try !rig.incoming().isEmpty)
            try await rig.engine.cancel(id)
            gate.open()
            #expect(try await outcome.isDone)
            #expect(try await rig.now(file).syncActivity == [])
            #expect(try await rig.records().isEmpty && rig.incoming().isEmpty)
            #expect(try rig.text("/a") == nil)
            await #expect(throws: Failure.self) { try await rig.engine.cancel(id) }
        }
    }

    @Test("C5: a download that was cut off goes on where it ended; after a change on the server it begins again")
    func resume() async throws {
        try await Rig.with { rig in
            let (file, changed) = (
                try await rig.addFile("/a", String(repeating: "a", count: 300_000)),
                try await rig.addFile("/b", String(repeating: "b", count: 300_000))
            )
            rig.source.then(file.path, .cutOff(after: 200_000), .cutOff(after: 250_000))
            rig.source.then(changed.path, .cutOff(after: 200_000))
            try await rig.ask(.download, file)
            #expect(try await rig.drain().isDone)
            #expect(rig.source.requests.map(\.offset) == [0, 200_000, 250_000])
            #expect(try rig.text("/a") == String(repeating: "a", count: 300_000))

            rig.source.failAlways(changed.path, nil)
            rig.relisted.then { _ in
                try await rig.list(changed, size: 3, version: ETag(opaque: "v2", strength: .strong))
            }
            try await rig.ask(.download, changed)
            rig.source.then(changed.path, .fail(.init(.versionChanged, "changed", status: 412)))
            try await rig.change(changed, "new", version: "v2", isListed: false)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/b") == "new" && rig.source.requests.last?.offset == 0)
            #expect(try rig.incoming().isEmpty)
        }
    }

    @Test("S14: a wrong checksum is not put in place, is tried again, then is an error")
    func checksum() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", "abc")
            rig.source[file.path]?.checksums = [ContentChecksum(.adler32, [1, 2, 3, 4])]
            try await rig.ask(.download, file, for: .availableOffline)
            let outcome = try await rig.drain()
            #expect(outcome.left.map(\.failure) == [.protocolViolation])
            #expect(try rig.text("/a") == nil && rig.incoming().isEmpty)
            #expect(rig.source.requests.count == 5)

            rig.source[file.path]?.checksums = [ContentChecksum(.adler32, [0x02, 0x4d, 0x01, 0x27])]
            try await rig.engine.retry(try #require(outcome.left.first).record)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "abc")
        }
    }

    @Test("S16: changed meanwhile, the file waits for new metadata, at most three times, then an issue")
    func race() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/d/a", "old")
            try await rig.change(file, "newer", version: "v2", isListed: false)
            rig.relisted.then { _ in try await rig.list(file, size: 5, version: ETag(opaque: "v2", strength: .strong)) }
            try await rig.ask(.download, file)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/d/a") == "newer")
            #expect(rig.relisted.folders.map(\.text) == ["/d"])

            let stubborn = try await rig.addFile("/d/b", "old")
            try await rig.change(stubborn, "newer", version: "v2", isListed: false)
            rig.relisted.then { _ in }
            try await rig.ask(.download, stubborn)
            #expect(try await rig.drain().leftCount == 1)
            #expect(rig.source.requestCount(stubborn.path) == 4)
            #expect(try await rig.issues().map(\.subject) == ["/d/b"])
        }
    }

    @Test("S16: gone on the server, the folder is listed again and the record goes with the item")
    func gone() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/d/a")
            rig.source[file.path] = nil
            rig.relisted.then { _ in
                try await rig.database.write { tx in
                    guard var item = try tx.items.item(localID: file.localID) else { return }
                    item.removedAt = Timestamp(seconds: 5)
                    try tx.items.update(item)
                }
            }
            try await rig.ask(.download, file)
            #expect(try await rig.drain().isDone)
            #expect(try await rig.now(file).syncActivity == [])
            #expect(rig.source.requests.count == 1)
        }
    }

    @Test("C2: a refused password is one issue and few requests; after new credentials all goes on")
    func authentication() async throws {
        try await Rig.with { rig in
            var files: [Item] = []
            for number in 0..<50 {
                let file = try await rig.addFile("/f\(number)")
                rig.source.failAlways(file.path, .init(.authentication, "the server refuses the password", status: 401))
                try await rig.ask(.download, file, for: .availableOffline)
                files.append(file)
            }
            let outcome = try await rig.drain()
            #expect(outcome.failure?.kind == .denied && outcome.leftCount == 50)
            #expect(rig.source.requests.count <= 6)
            #expect(try await rig.issues().map(\.code) == ["connection.authentication"])
            for file in files { rig.source.failAlways(file.path, nil) }
            try await rig.engine.accountChanged()
            #expect(try await rig.drain().isDone)
            #expect(try await rig.issues().isEmpty)
        }
    }

    @Test("S23: Retry-After holds up all and is waited out; what is longer than a single run's patience is left")
    func retryAfter() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            rig.source.then(file.path, .fail(.init(.serverError, "503", status: 503, retryAfter: .seconds(7))))
            try await rig.ask(.download, file)
            let start = rig.clock.now
            #expect(try await rig.drain().isDone)
            #expect(rig.clock.now - start >= .seconds(7))

            let later = try await rig.addFile("/b")
            rig.source.then(later.path, .fail(.init(.serverError, "503", status: 503, retryAfter: .seconds(3600))))
            try await rig.ask(.download, later)
            let outcome = try await rig.drain()
            #expect(outcome.left.map(\.path) == [later.path] && outcome.failure?.kind == .unreachable)
        }
    }
}
