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
        try await EngineFixture.with { fixture in
            let broken = try await fixture.addFile("/broken")
            fixture.source.failAlways(
                broken.path, .init(.serverError, "/broken: 500 Internal Server Error", status: 500))
            try await fixture.ask(.download, broken, for: .availableOffline)
            for number in 0..<30 {
                try await fixture.ask(.download, try await fixture.addFile("/f\(number)"), for: .availableOffline)
            }
            let outcome = try await fixture.drain()
            #expect(outcome.left.map(\.path) == [broken.path] && outcome.failure == nil)
            #expect(outcome.left.first?.why.contains("500") == true)
            #expect(fixture.source.requestCount(broken.path) == 5 && fixture.source.requests.count == 35)
            #expect(try await fixture.issues().map(\.code) == ["download.retry"])
            #expect(try await fixture.database.read { try $0.items.counts().here.localCopies } == 30)
        }
    }

    @Test("S21: an unanswered issue is there after a restart, with its choices; S22: its answer is carried out")
    func issueSurvives() async throws {
        try await EngineFixture.with { first in
            let broken = try await first.addFile("/broken")
            first.source.failAlways(broken.path, .init(.forbidden, "/broken: 403 Forbidden", status: 403))
            try await first.ask(.download, broken)
            #expect(try await first.drain().leftCount == 1)
            let fixture = try EngineFixture(reopening: first)
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.choices.map(\.id) == ["retry", "cancel"] && issue.failure == .denied)
            #expect(try await fixture.drain().leftCount == 1)
            #expect(fixture.source.requestCount(broken.path) == 1)

            await #expect(throws: Failure.self) { try await fixture.engine.resolve(issue.id, choice: "overwrite") }
            fixture.source.failAlways(broken.path, nil)
            #expect(try await fixture.engine.resolve(issue.id, choice: "retry"))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/broken") == "content")
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S28: cancelled, a record is gone with the item's mark, its issue and what was fetched")
    func cancel() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", String(repeating: "x", count: 100_000))
            fixture.source.then(file.path, .cutOff(after: 70_000))
            fixture.source.failAlways(file.path, nil)
            guard case .queued(let id) = try await fixture.ask(.download, file) else { throw SetupError("not queued") }
            let gate = Gate()
            fixture.source.then(file.path, .hold(gate))
            async let outcome = fixture.drain()
            await gate.untilReached()
            #expect(try !fixture.incoming().isEmpty)
            try await fixture.engine.cancel(id)
            gate.open()
            #expect(try await outcome.isDone)
            #expect(try await fixture.now(file).syncActivity == [])
            #expect(try await fixture.records().isEmpty && fixture.incoming().isEmpty)
            #expect(try fixture.text("/a") == nil)
            await #expect(throws: Failure.self) { try await fixture.engine.cancel(id) }
        }
    }

    @Test("C5: a download that was cut off goes on where it ended; after a change on the server it begins again")
    func resume() async throws {
        try await EngineFixture.with { fixture in
            let (file, changed) = (
                try await fixture.addFile("/a", String(repeating: "a", count: 300_000)),
                try await fixture.addFile("/b", String(repeating: "b", count: 300_000))
            )
            fixture.source.then(file.path, .cutOff(after: 200_000), .cutOff(after: 250_000))
            fixture.source.then(changed.path, .cutOff(after: 200_000))
            try await fixture.ask(.download, file)
            #expect(try await fixture.drain().isDone)
            #expect(fixture.source.requests.map(\.offset) == [0, 200_000, 250_000])
            #expect(try fixture.text("/a") == String(repeating: "a", count: 300_000))

            fixture.source.failAlways(changed.path, nil)
            fixture.relisted.then { _ in
                try await fixture.list(changed, size: 3, version: ETag(opaque: "v2", strength: .strong))
            }
            try await fixture.ask(.download, changed)
            fixture.source.then(changed.path, .fail(.init(.versionChanged, "changed", status: 412)))
            try await fixture.change(changed, "new", version: "v2", isListed: false)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/b") == "new" && fixture.source.requests.last?.offset == 0)
            #expect(try fixture.incoming().isEmpty)
        }
    }

    @Test("C12: a server that sends a byte for each request is tried five times and becomes an issue")
    func byteByByte() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", String(repeating: "a", count: 300_000))
            for byte in 0..<20 { fixture.source.then(file.path, .cutOff(after: 1_000 + byte)) }
            try await fixture.ask(.download, file)
            let outcome = try await fixture.drain()
            #expect(fixture.source.requests.map(\.offset) == [0, 1_000, 1_001, 1_002, 1_003])
            #expect(outcome.left.map(\.path) == [file.path])
            #expect(try await fixture.issues().map(\.code) == ["download.retry"])
        }
    }

    @Test("S14: a wrong checksum is not put in place, is tried again, then is an error")
    func checksum() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "abc")
            fixture.source[file.path]?.checksums = [ContentChecksum(.adler32, [1, 2, 3, 4])]
            try await fixture.ask(.download, file, for: .availableOffline)
            let outcome = try await fixture.drain()
            #expect(outcome.left.map(\.failure) == [.protocolViolation])
            #expect(try fixture.text("/a") == nil && fixture.incoming().isEmpty)
            #expect(fixture.source.requests.count == 5)

            fixture.source[file.path]?.checksums = [ContentChecksum(.adler32, [0x02, 0x4d, 0x01, 0x27])]
            try await fixture.engine.retry(try #require(outcome.left.first).record)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "abc")
        }
    }

    @Test("S16: changed meanwhile, the file waits for new metadata, at most three times, then an issue")
    func race() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/d/a", "old")
            try await fixture.change(file, "newer", version: "v2", isListed: false)
            fixture.relisted.then { _ in
                try await fixture.list(file, size: 5, version: ETag(opaque: "v2", strength: .strong))
            }
            try await fixture.ask(.download, file)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/d/a") == "newer")
            #expect(fixture.relisted.folders.map(\.text) == ["/d"])

            let stubborn = try await fixture.addFile("/d/b", "old")
            try await fixture.change(stubborn, "newer", version: "v2", isListed: false)
            fixture.relisted.then { _ in }
            try await fixture.ask(.download, stubborn)
            #expect(try await fixture.drain().leftCount == 1)
            #expect(fixture.source.requestCount(stubborn.path) == 4)
            #expect(try await fixture.issues().map(\.subject) == ["/d/b"])
        }
    }

    @Test("S16: gone on the server, the folder is listed again and the record goes with the item")
    func gone() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/d/a")
            fixture.source[file.path] = nil
            fixture.relisted.then { _ in
                try await fixture.database.write { tx in
                    guard var item = try tx.items.item(localID: file.localID) else { return }
                    item.removedAt = Timestamp(seconds: 5)
                    try tx.items.update(item)
                }
            }
            try await fixture.ask(.download, file)
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.now(file).syncActivity == [])
            #expect(fixture.source.requests.count == 1)
        }
    }

    @Test("C2: a refused password is one issue and few requests; after new credentials all goes on")
    func authentication() async throws {
        try await EngineFixture.with { fixture in
            var files: [Item] = []
            for number in 0..<50 {
                let file = try await fixture.addFile("/f\(number)")
                fixture.source.failAlways(
                    file.path, .init(.authentication, "the server refuses the password", status: 401))
                try await fixture.ask(.download, file, for: .availableOffline)
                files.append(file)
            }
            let outcome = try await fixture.drain()
            #expect(outcome.failure?.kind == .denied && outcome.leftCount == 50)
            #expect(fixture.source.requests.count <= 6)
            #expect(try await fixture.issues().map(\.code) == ["connection.authentication"])
            for file in files { fixture.source.failAlways(file.path, nil) }
            try await fixture.engine.accountChanged()
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S23: Retry-After is waited out; what is longer than a single run's patience is left")
    func retryAfter() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            fixture.source.then(file.path, .fail(.init(.serverError, "503", status: 503, retryAfter: .seconds(7))))
            try await fixture.ask(.download, file)
            let start = fixture.clock.now
            #expect(try await fixture.drain().isDone)
            #expect(fixture.clock.now - start >= .seconds(7))

            let later = try await fixture.addFile("/b")
            fixture.source.then(later.path, .fail(.init(.serverError, "503", status: 503, retryAfter: .seconds(3600))))
            try await fixture.ask(.download, later)
            let outcome = try await fixture.drain()
            #expect(outcome.left.map(\.path) == [later.path] && outcome.failure == nil)
        }
    }
}
