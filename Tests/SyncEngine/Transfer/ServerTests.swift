import Connection
import Database
import DemoServer
import ItemList
import LocalTree
import Logging
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing
import Vault

/// Tests of the engine with a real connection to a server that has faults.
struct ServerTests {
    /// Calls `body` with a running server and an engine that is connected to the server.
    /// - Parameter disk: The size in MiB of a small disk for the vault; nil to put the vault where all temporary
    ///   folders are.
    private func withServer(disk: Int? = nil, _ body: (TestServer, EngineFixture) async throws -> Void) async throws {
        try await TestServer.running { server in
            try await withDisk(disk) { folder in
                let bookmark = Bookmark(
                    name: "home", url: server.url, username: "demo", vault: folder + "/vault",
                    files: folder + "/vault/files")
                let connection = Connection(
                    bookmark: bookmark,
                    credentials: .basic(username: "demo", password: server.configuration.password),
                    logger: Logger(label: "test"))
                do {
                    _ = try await connection.connect()
                    let fixture = try EngineFixture(folder: folder, server: connection)
                    let list: @Sendable (ItemPath) async throws -> Void = { folder in
                        _ = try await connection.listings.list(folder) { items in try await fixture.take(items) }
                    }
                    fixture.relisted.then(list)
                    try await body(server, fixture)
                    try fixture.vault.close()
                } catch {
                    await connection.shutdown()
                    throw error
                }
                await connection.shutdown()
            }
        }
    }

    private func withDisk(_ size: Int?, _ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            guard let size else { return try await body(folder) }
            let disk = folder + "/disk"
            try Files.makeFolder(disk)
            try await mustRun("mount", ["-t", "tmpfs", "-o", "size=\(size)m", "tmpfs", disk])
            do {
                try await body(disk)
            } catch {
                try await mustRun("umount", ["--lazy", disk])
                throw error
            }
            try await mustRun("umount", ["--lazy", disk])
        }
    }

    private func gets(_ server: TestServer) -> [TestServer.LoggedRequest] {
        server.requests.filter { $0.method == "GET" && $0.path != "/status.php" }
    }

    @Test("C5: cut off, a download goes on with Range from where it ended; S14: no short file is ever in place")
    func resume() async throws {
        try await withServer { server, fixture in
            let text = String(repeating: "0123456789", count: 50_000)
            server.tree.put("/big", text)
            await fixture.relisted.list(.root)
            server.add(Fault(.cutOff(afterBytes: 300_000), method: "GET", path: "/big", times: 1))
            try await fixture.ask(.download, try await fixture.item("/big"))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/big") == text)
            let gets = gets(server)
            #expect(gets.count == 2 && gets[0].range == nil)
            #expect(gets.last?.range?.hasPrefix("bytes=") == true)
            #expect(gets.reduce(0) { $0 + $1.bytes } < 2 * text.utf8.count)
        }
    }

    @Test("S14: a wrong checksum or length is tried again and never put in place")
    func integrity() async throws {
        try await withServer { server, fixture in
            server.tree.put("/a", "content")
            server.tree.put("/b", "content")
            await fixture.relisted.list(.root)
            server.add(Fault(.wrongChecksum, method: "GET", path: "/a", times: 2))
            server.add(Fault(.wrongLength(by: -2), method: "GET", path: "/b"))
            for path in ["/a", "/b"] { try await fixture.ask(.download, try await fixture.item(path)) }
            let outcome = try await fixture.drain()
            #expect(outcome.left.map(\.path.text) == ["/b"])
            #expect(try fixture.text("/a") == "content" && fixture.text("/b") == nil)
            #expect(gets(server).count { $0.path == "/a" } == 3)
        }
    }

    @Test(
        "S14: wrong bytes of the right length, cut off before the last chunk, are not put in place by the next try",
        .timeLimit(.minutes(20)))
    func cutChunks() async throws {
        try await withServer { server, fixture in
            // Two contents written in the same second have one strong ETag, and no answer states a length.
            server.behave { ($0.fileETags, $0.contentLength) = (.ofSizeAndSecond, false) }
            server.tree.put("/a", "garbage", modified: 1_700_000_000)
            await fixture.relisted.list(.root)
            server.add(Fault(.cutOff(afterBytes: 7), method: "GET", path: "/a", times: 1))
            let hold = server.add(Fault(.hold(), method: "GET", path: "/a", from: 2))
            try await fixture.ask(.download, try await fixture.item("/a"))
            async let outcome = fixture.drain()
            await server.untilHeld(hold)
            server.tree.put("/a", "content", modified: 1_700_000_000)
            server.remove(hold)
            #expect(try await outcome.isDone)
            #expect(try fixture.text("/a") == "content")
            #expect(gets(server).map(\.range) == [nil, nil])
        }
    }

    @Test(
        "C12, S16: a body that goes on without end is cut off where the listing said it ends, and fills no disk",
        .enabled(if: Build.isRoot, "mounting a small file system needs root"))
    func overlong() async throws {
        try await withServer(disk: 16) { server, fixture in
            server.tree.put("/d/a", "0123456789")
            server.tree.put("/d/b", "others go on")
            await fixture.relisted.list(ItemPath(unchecked: "/d"))
            server.add(Fault(.overlong, method: "GET", path: "/d/a"))
            for path in ["/d/a", "/d/b"] { try await fixture.ask(.download, try await fixture.item(path)) }
            let outcome = try await fixture.drain()
            #expect(outcome.failure == nil && outcome.left.map(\.path.text) == ["/d/a"])
            #expect(outcome.left.first?.why.contains("longer than was listed") == true, "\(outcome.left)")
            #expect(try fixture.text("/d/a") == nil && fixture.text("/d/b") == "others go on")
            #expect(try fixture.incoming().isEmpty)
            // The engine has the folder listed three more times, since the file may have grown. Then it asks a person.
            #expect(fixture.relisted.folders.count == 1 + 3)
            #expect(try await fixture.issues().map(\.code) == ["download.retry"])
        }
    }

    @Test("S16: a file that has grown since it was listed is listed again and comes whole")
    func grown() async throws {
        try await withServer { server, fixture in
            server.behave { ($0.fileETags, $0.contentLength) = (.none, false) }
            server.tree.put("/d/a", "short", modified: 1_700_000_000)
            await fixture.relisted.list(ItemPath(unchecked: "/d"))
            server.tree.put("/d/a", "longer by now", modified: 1_700_000_000)
            try await fixture.ask(.download, try await fixture.item("/d/a"))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/d/a") == "longer by now")
        }
    }

    @Test("S16: a file that changes between listing and GET is listed again and comes in its new version")
    func changedMeanwhile() async throws {
        try await withServer { server, fixture in
            server.tree.put("/d/a", "old")
            await fixture.relisted.list(ItemPath(unchecked: "/d"))
            try await fixture.ask(.download, try await fixture.item("/d/a"))
            server.tree.put("/d/a", "newer")
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/d/a") == "newer")
            #expect(try await fixture.item("/d/a").remoteVersion == .current)
        }
    }

    @Test("S23: a server in trouble is waited for as it asks")
    func retryAfter() async throws {
        try await withServer { server, fixture in
            server.tree.put("/a", "content")
            await fixture.relisted.list(.root)
            server.add(Fault(.status(503, retryAfter: 2), method: "GET", times: 2))
            let start = fixture.clock.now
            try await fixture.ask(.download, try await fixture.item("/a"))
            #expect(try await fixture.drain().isDone)
            #expect(fixture.clock.now - start >= .seconds(4))
            #expect(gets(server).map(\.status) == [503, 503, 200])
        }
    }
}

extension EngineFixture {
    /// Records the entries of a listing, both new and changed ones.
    fileprivate func take(_ items: [ListedItem]) async throws {
        try await database.write { tx in
            for listed in items {
                var item =
                    try tx.items.item(at: listed.path)
                    ?? tx.items.insert(
                        Item(localID: .random(), fileID: listed.fileID, path: listed.path, kind: listed.kind))
                (item.etag, item.size, item.lastModified) = (listed.etag, listed.size, listed.lastModified)
                try tx.items.update(item)
            }
        }
    }
}
