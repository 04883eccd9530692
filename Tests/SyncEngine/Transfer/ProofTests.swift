import Connection
import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests that a file in `incoming/` is put in place only if it is proven to be the server's file.
struct ProofTests {
    @Test("S14: a file that lies whole in incoming/, and that no landing was journalled of, is fetched")
    func whole() async throws {
        try await EngineFixture.with { first in
            let file = try await first.addFile("/a", "content")
            try await first.ask(.download, file)
            let job = Job(try #require(try await first.records().first), item: file)
            try Files.write("garbage", to: "\(first.folder)/vault/incoming/\(job.incomingName)", mode: 0o600)
            let fixture = try EngineFixture(reopening: first)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "content")
            #expect(fixture.source.requests == [.init(path: file.path, offset: 0)])
            #expect(try fixture.incoming().isEmpty)
        }
    }

    @Test(
        "S14: what an answer without version or length brought before it was cut off is no beginning of the file",
        arguments: [("garbage", false), ("garba", false), ("garba", true)])
    func cutOff(_ bytes: String, isReopened: Bool) async throws {
        try await EngineFixture.with { first in
            var fixture = first
            let file = try await fixture.addFile("/a", "content")
            fixture.source.then(file.path, .unproven(bytes))
            // The download is cut off and not tried again: the host ends while the download waits.
            if isReopened {
                fixture.source.then(file.path, .fail(.init(.serverError, "503", retryAfter: .seconds(3600))))
            }
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            if isReopened {
                // The file is what a kill in the middle of the first attempt leaves behind.
                let job = Job(try #require(try await fixture.records().first), item: file)
                try Files.write(bytes, to: "\(fixture.folder)/vault/incoming/\(job.unprovenName)", mode: 0o600)
                fixture = try EngineFixture(reopening: fixture)
                fixture.clock.advance(.seconds(8000))
                #expect(try await fixture.drain().isDone)
            }
            #expect(try fixture.text("/a") == "content")
            #expect(fixture.source.requests.allSatisfy { $0.offset == 0 })
            #expect(try fixture.incoming().isEmpty)
        }
    }

    @Test("S14, S15: what was journalled and could not replace a copy in use is offered again, without a request")
    func inUse() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "old")
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            try await fixture.change(file, "newer", version: "v2")
            try await fixture.ask(.download, file, for: .availableOffline)
            let writer = open(fixture.tree.localPath(of: file.path), O_RDWR | O_CLOEXEC)
            #expect(try await fixture.drain().leftCount == 1)
            #expect(try fixture.text("/a") == "old")
            close(writer)
            fixture.clock.advance(.seconds(31))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "newer")
            #expect(fixture.source.requestCount(file.path) == 2)
        }
    }
}
