import Connection
import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// What lies in `incoming/` is put in place only if it is proven to be the file.
struct ProofTests {
    @Test("S14: a file that lies whole in incoming/, and that no landing was journalled of, is fetched")
    func whole() async throws {
        try await Rig.with { first in
            let file = try await first.addFile("/a", "content")
            try await first.ask(.download, file)
            let job = Job(try #require(try await first.records().first), item: file)
            try Files.write("garbage", to: "\(first.folder)/vault/incoming/\(job.incomingName)", mode: 0o600)
            let rig = try Rig(reopening: first)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "content")
            #expect(rig.source.requests == [.init(path: file.path, offset: 0)])
            #expect(try rig.incoming().isEmpty)
        }
    }

    @Test(
        "S14: what an answer without version or length brought before it was cut off is no beginning of the file",
        arguments: [("garbage", false), ("garba", false), ("garba", true)])
    func cutOff(_ bytes: String, isReopened: Bool) async throws {
        try await Rig.with { first in
            var rig = first
            let file = try await rig.addFile("/a", "content")
            rig.source.then(file.path, .unproven(bytes))
            // Cut off, and not tried again: the host ends while it waits.
            if isReopened {
                rig.source.then(file.path, .fail(.init(.serverError, "503", retryAfter: .seconds(3600))))
            }
            try await rig.ask(.download, file)
            _ = try await rig.drain()
            if isReopened {
                // As a kill in the middle of the first try leaves it.
                let job = Job(try #require(try await rig.records().first), item: file)
                try Files.write(bytes, to: "\(rig.folder)/vault/incoming/\(job.unprovenName)", mode: 0o600)
                rig = try Rig(reopening: rig)
                rig.clock.advance(.seconds(8000))
                #expect(try await rig.drain().isDone)
            }
            #expect(try rig.text("/a") == "content")
            #expect(rig.source.requests.allSatisfy { $0.offset == 0 })
            #expect(try rig.incoming().isEmpty)
        }
    }

    @Test("S14, S15: what was journalled and could not replace a copy in use is offered again, without a request")
    func inUse() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", "old")
            try await rig.ask(.download, file, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            try await rig.change(file, "newer", version: "v2")
            try await rig.ask(.download, file, for: .availableOffline)
            let writer = open(rig.tree.localPath(of: file.path), O_RDWR | O_CLOEXEC)
            #expect(try await rig.drain().leftCount == 1)
            #expect(try rig.text("/a") == "old")
            close(writer)
            rig.clock.advance(.seconds(31))
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "newer")
            #expect(rig.source.requestCount(file.path) == 2)
        }
    }
}
