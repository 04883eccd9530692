import Logging
import Model
import TestSupport
import Testing

@testable import Connection

/// Tests of the behaviour that the connection needs from every server, each with the server's known limits.
@Suite(.serialized) struct ContractTests {
    @Test("the root is found, and what the server offers is known", arguments: ServerKind.all)
    func connects(_ kind: ServerKind) async throws {
        try await Served.running(kind, ["a.txt": "x"]) { _, connection in
            let facts = try await connection.connect()
            #expect(facts.isOwnCloudFamily == kind.hasFileIDs && facts.hasFileIDs == kind.hasFileIDs && facts.hasFiles)
            #expect(facts.rootItem.path == .root && facts.rootItem.kind == .folder)
            #expect((facts.rootItem.etag != nil) == kind.foldersHaveETags)
            let date = try #require(facts.date)
            #expect(date - Timestamp.now() < .seconds(60) && Timestamp.now() - date < .seconds(60))
            // A second call stays connected and finds the same facts.
            #expect(try await connection.connect().root == facts.root)
        }
    }

    static let hardNames = [
        "spaces in it", "100%", "%41", "a_b", "#hash", "what?", "semi;colon", "pl+us", "quo\"te", "apo'strophe",
        "amp&lt;<>",
        "\u{e9} composed", "e\u{301} decomposed", "emoji \u{1f600}", "back\\slash", "col:on", "[brackets]", "star*",
        "~tilde",
        "-dash", ".hidden", "trailing.", String(repeating: "n", count: 255), String(repeating: "\u{20ac}", count: 85),
    ]

    @Test("hard names come through in listings and downloads, as files and as folders", arguments: ServerKind.all)
    func names(_ kind: ServerKind) async throws {
        var files: [String: String] = [:]
        let names = Self.hardNames.filter(kind.lists)
        for name in names {
            files["files/\(name)"] = "content of \(name)"
            files["folders/\(name)/inside"] = "inside \(name)"
        }
        try await Served.running(kind, files) { _, connection in
            _ = try await connection.connect()
            let expected = Set(names.map { path("/files/" + $0) })
            let (found, listing) = try await connection.entries(of: path("/files"))
            #expect(Set(found.map(\.path)) == expected && found.count == expected.count)
            #expect(found.allSatisfy { $0.kind == .file } && listing.refused.isEmpty && listing.unknown.isEmpty)
            for item in found {
                let sink = MemorySink()
                let summary = try await connection.downloads.get(
                    item.path, request: .init(version: item.etag, size: item.size), into: sink)
                #expect(sink.bytes == Array("content of \(item.path.name)".utf8) && summary.size == item.size)
            }
            for name in names {
                let (inside, folder) = try await connection.entries(of: path("/folders/" + name))
                #expect(inside.map(\.path) == [path("/folders/\(name)/inside")] && folder.folder.kind == .folder)
            }
        }
    }

    @Test("empty folders and files, deep ones, many entries; what is not there is not found", arguments: ServerKind.all)
    func listings(_ kind: ServerKind) async throws {
        var files = ["empty": "", "a/b/c/d/e/f/g/deep": "deep"]
        for number in 0..<600 { files["many/file \(number)"] = "\(number)" }
        try await Served.running(kind, files) { _, connection in
            _ = try await connection.connect()
            let (root, _) = try await connection.entries(of: .root)
            #expect(Set(root.map(\.path.text)) == ["/empty", "/a", "/many"])
            #expect(root.first { $0.path == path("/empty") }?.size == 0)
            let (deep, _) = try await connection.entries(of: path("/a/b/c/d/e/f/g"))
            #expect(deep.map(\.path.text) == ["/a/b/c/d/e/f/g/deep"] && deep.first?.size == 4)
            #expect(deep.first?.lastModified != nil && deep.first?.etag != nil)

            var batches: [Int] = []
            let many = try await connection.listings.list(path("/many")) { batches.append($0.count) }
            #expect(
                many.entries == 600 && batches.reduce(0, +) == 600 && batches.count >= 2
                    && batches.allSatisfy { $0 <= 512 })

            let sink = MemorySink()
            #expect(try await connection.downloads.get(path("/empty"), into: sink).size == 0 && sink.bytes.isEmpty)
            let (alone, file) = try await connection.entries(of: path("/empty"), depth: .zero)
            #expect(alone.isEmpty && file.folder.kind == .file)
            for missing in ["/nothing", "/a/nothing/there"] {
                let listing = await #expect(throws: ConnectionError.self) {
                    try await connection.entries(of: path(missing))
                }
                let file = await #expect(throws: ConnectionError.self) {
                    try await connection.downloads.get(path(missing), into: sink)
                }
                #expect(listing?.kind == .notFound && file?.kind == .notFound)
            }
        }
    }

    @Test("C5: the rest of a file, and a file that is another version by now", arguments: ServerKind.all)
    func rest(_ kind: ServerKind) async throws {
        try await Served.running(kind, ["file": "0123456789"]) { served, connection in
            _ = try await connection.connect()
            let before = try await settled(path("/file"), connection, kind)
            let sink = MemorySink()
            let summary = try await connection.downloads.get(
                path("/file"), request: .init(version: before.etag, size: 10, offset: 4), into: sink)
            // Without an ETag nothing says that the rest is of the same version.
            let first = kind.etags == .none ? 0 : 4
            #expect(sink.head?.offset == Int64(first) && sink.bytes == Array("0123456789".utf8.dropFirst(first)))
            #expect(summary.size == 10 && sink.head?.version == before.etag)

            try await served.put("file", "another content")
            let other = MemorySink()
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.downloads.get(
                    path("/file"), request: .init(version: before.etag, size: 10), into: other)
            }
            #expect(error?.kind == .versionChanged && other.head == nil)
            let after = try await connection.listings.list(path("/file"), depth: .zero) { _ in }.folder
            #expect(after.etag != before.etag && after.size == 15)
        }
    }

    /// Returns the file's listing once its ETag is strong, if it has one.
    private func settled(
        _ file: ItemPath, _ connection: Connection, _ kind: ServerKind
    ) async throws -> ListedItem {
        var found = try await connection.listings.list(file, depth: .zero) { _ in }.folder
        try await until(atMost: .seconds(60)) {
            if kind.etags == .none || found.etag?.strength == .strong { return true }
            found = try await connection.listings.list(file, depth: .zero) { _ in }.folder
            return false
        }
        return found
    }

    @Test("a new file's ETag stays the same version when it becomes strong", arguments: ServerKind.all)
    func etags(_ kind: ServerKind) async throws {
        try await Served.running(kind, [:]) { served, connection in
            _ = try await connection.connect()
            var first: ListedItem?
            for round in 0..<20 {
                try await served.put("new", "round \(round)")
                first = try await connection.listings.list(path("/new"), depth: .zero) { _ in }.folder
                // On a busy machine the write may lie more than a second back.
                if kind.etags != .weakAtFirst || first?.etag?.strength == .weak { break }
            }
            let strengths: (ETag.Strength, ETag.Strength) =
                switch kind.etags {
                case .strong: (.strong, .strong)
                case .weakAtFirst: (.weak, .strong)
                case .none: (.substitute, .substitute)
                }
            #expect(first?.etag?.strength == strengths.0)
            let later = try await settled(path("/new"), connection, kind)
            #expect(later.etag == first?.etag && later.etag?.strength == strengths.1)
            let sink = MemorySink()
            _ = try await connection.downloads.get(
                path("/new"), request: .init(version: first?.etag, size: first?.size), into: sink)
            #expect(sink.head?.version == later.etag)
        }
    }

    @Test("Depth: infinity is granted whole or refused, and which is seen", arguments: ServerKind.all)
    func depthInfinity(_ kind: ServerKind) async throws {
        try await Served.running(kind, ["a/b/c": "x", "d": "y"]) { _, connection in
            _ = try await connection.connect()
            if kind.grantsDepthInfinity {
                let (all, listing) = try await connection.entries(of: .root, depth: .infinity)
                #expect(Set(all.map(\.path.text)) == ["/a", "/a/b", "/a/b/c", "/d"] && listing.reachesGrandchildren)
            } else {
                let error = await #expect(throws: ConnectionError.self) {
                    try await connection.entries(of: .root, depth: .infinity)
                }
                #expect(error?.kind == .forbidden)
            }
        }
    }

    @Test("C2: a wrong password is refused as such, once", arguments: ServerKind.all)
    func wrongPassword(_ kind: ServerKind) async throws {
        try await Served.running(kind, ["a": "x"]) { served, connection in
            connection.use(.basic(username: served.username, password: "wrong"))
            for _ in 0..<2 {
                let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
                #expect(error?.kind == .authentication && error?.description.contains("wrong") == false)
            }
            connection.use(.none)
            let nobody = await #expect(throws: ConnectionError.self) { try await connection.connect() }
            #expect(nobody?.kind == .authentication && nobody?.message.contains("asks for a name") == true)
            connection.use(.basic(username: served.username, password: served.password))
            _ = try await connection.connect()
        }
    }

    @Test("many downloads at once, over few connections", arguments: ServerKind.all)
    func parallel(_ kind: ServerKind) async throws {
        var files: [String: String] = [:]
        for number in 0..<200 { files["f\(number)"] = String(repeating: "\(number) ", count: number) }
        try await Served.running(kind, files, limits: Limits(connections: 4)) { _, connection in
            _ = try await connection.connect()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let sink = MemorySink()
                        _ = try await connection.downloads.get(path("/f\(number)"), into: sink)
                        #expect(sink.bytes == Array(String(repeating: "\(number) ", count: number).utf8))
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
