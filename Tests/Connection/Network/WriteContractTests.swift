import Logging
import Model
import TestSupport
import Testing

@testable import Connection

/// Tests of what is written on every server: what is there afterwards, and what is refused.
@Suite(.serialized) struct WriteContractTests {
    private func text(_ name: String, _ connection: Connection) async throws -> String? {
        let sink = MemorySink()
        do { _ = try await connection.downloads.get(path(name), into: sink) } catch let error as ConnectionError {
            if error.kind == .notFound { return nil }
            throw error
        }
        return String(decoding: sink.bytes, as: UTF8.self)
    }

    private func names(_ folder: String, _ connection: Connection) async throws -> Set<String> {
        Set(try await connection.entries(of: path(folder)).entries.map(\.path.name))
    }

    private func put(
        _ name: String, _ text: String, _ connection: Connection, _ base: UploadRequest.Base = .new
    ) async throws -> WriteOutcome {
        try await connection.writes.put(
            path(name), UploadRequest(base: base, size: Int64(text.utf8.count)), from: MemorySource(text))
    }

    private func done(_ outcome: WriteOutcome, _ note: String = "") -> WriteAnswer? {
        if case .done(let answer) = outcome { return answer }
        Issue.record("\(outcome) \(note)")
        return nil
    }

    static let hardNames = [
        "spaces in it", "100%", "%41", "%2F", "#hash", "what?", "semi;colon", "pl+us", "apo'strophe", "a&b",
        "\u{e9} composed", "e\u{301} decomposed", "emoji \u{1f600}", "[brackets]", "~tilde", ".hidden",
        String(repeating: "n", count: 200), String(repeating: "\u{20ac}", count: 66),
    ]

    @Test(
        "hard names are made, uploaded, moved, copied and deleted, as files and as folders", arguments: ServerKind.all)
    func hardNames(_ kind: ServerKind) async throws {
        try await Served.running(kind, [:]) { _, connection in
            _ = try await connection.connect()
            _ = done(try await connection.writes.makeFolder(path("/made")))
            _ = done(try await connection.writes.makeFolder(path("/target")))
            let names = Self.hardNames.filter {
                kind.lists($0) && !(kind.cutsQuestionMarks && ($0.contains("?") || $0.contains(";")))
            }
            for name in names {
                _ = done(try await connection.writes.makeFolder(path("/made/\(name)")), "\(name)")
                _ = done(try await put("/made/\(name)/file", "in \(name)", connection), "\(name)")
                _ = done(try await put("/\(name)", "file \(name)", connection), "\(name)")
                _ = done(
                    try await connection.writes.copy(
                        path("/made/\(name)"), to: path("/target/\(name)"), isFolder: true),
                    "\(name)")
                #expect(try await text("/target/\(name)/file", connection) == "in \(name)")
                _ = done(
                    try await connection.writes.move(
                        path("/\(name)"), to: path("/target/\(name)/\(name)"), isFolder: false),
                    "\(name)")
                #expect(try await text("/target/\(name)/\(name)", connection) == "file \(name)")
                #expect(try await text("/\(name)", connection) == nil)
                #expect(try await self.names("/target/\(name)", connection) == ["file", name])
            }
            #expect(try await self.names("/made", connection) == Set(names))
            #expect(try await self.names("/", connection) == ["made", "target"])
            for name in names {
                _ = done(
                    try await connection.writes.move(path("/target/\(name)"), to: path("/\(name)"), isFolder: true),
                    "\(name)")
                #expect(try await text("/\(name)/\(name)", connection) == "file \(name)")
                _ = done(try await connection.writes.delete(path("/\(name)/file"), isFolder: false), "\(name)")
                #expect(try await self.names("/\(name)", connection) == [name])
                _ = done(try await connection.writes.delete(path("/\(name)"), isFolder: true), "\(name)")
            }
            #expect(try await self.names("/", connection) == ["made", "target"])
            #expect(try await self.names("/target", connection) == [])
            // A name that would be another one there is not sent, and the file stays where it is.
            if kind.cutsQuestionMarks || kind.hidesDotNames {
                _ = done(try await put("/stays", "stays", connection))
                let target = path(kind.hidesDotNames ? "/.stays" : "/stays?")
                #expect(
                    try await connection.writes.move(path("/stays"), to: target, isFolder: false)
                        == .refused(.nameNotKept))
                #expect(try await text("/stays", connection) == "stays")
            }
        }
    }

    @Test(
        "S20: what exists at the target stays: nothing is made, moved, copied or uploaded there",
        arguments: ServerKind.all)
    func existing(_ kind: ServerKind) async throws {
        let files = ["a": "one", "b": "other", "folder/x": "x", "other/y": "y"]
        try await Served.running(kind, files) { _, connection in
            _ = try await connection.connect()
            let refused = WriteOutcome.refused(.exists)
            #expect(try await connection.writes.makeFolder(path("/folder")) == refused)
            #expect(try await connection.writes.makeFolder(path("/a")) == refused)
            #expect(try await put("/a", "new", connection) == refused)
            #expect(try await put("/folder", "new", connection) == refused)
            for (from, to, isFolder) in [
                ("/a", "/b", false), ("/a", "/folder", false), ("/folder", "/other", true), ("/folder", "/b", true),
            ] {
                #expect(
                    try await connection.writes.move(path(from), to: path(to), isFolder: isFolder) == refused,
                    "\(from) \(to)")
                #expect(
                    try await connection.writes.copy(path(from), to: path(to), isFolder: isFolder) == refused,
                    "\(from) \(to)")
            }
            for (name, content) in files { #expect(try await text("/\(name)", connection) == content) }
            #expect(try await names("/", connection) == ["a", "b", "folder", "other"])
        }
    }

    @Test("S9: an upload follows the version it names, and no other, whether small or large", arguments: ServerKind.all)
    func versions(_ kind: ServerKind) async throws {
        try await Served.running(kind, ["a": "one"]) { _, connection in
            _ = try await connection.connect()
            let base = try #require(try await connection.listings.held(at: path("/a"))?.item.etag)
            _ = done(try await put("/a", "second", connection, .version(base)))
            #expect(try await text("/a", connection) == "second")
            #expect(try await put("/a", "third", connection, .version(base)) == .refused(.versionChanged))
            let large = String(repeating: "0123456789abcdef", count: 70_000)
            #expect(try await put("/a", large, connection, .version(base)) == .refused(.versionChanged))
            #expect(try await put("/a", large, connection, .new) == .refused(.exists))
            #expect(try await put("/gone", "x", connection, .version(base)) == .refused(.versionChanged))
            #expect(try await text("/a", connection) == "second")
            #expect(try await text("/gone", connection) == nil)

            let current = try #require(try await connection.listings.held(at: path("/a"))?.item.etag)
            _ = done(try await put("/a", large, connection, .version(current)))
            #expect(try await text("/a", connection) == large)
            _ = done(try await put("/empty", "", connection))
            #expect(try await text("/empty", connection) == "")
        }
    }

    @Test("S18: only the named version is deleted, and a folder goes with everything in it", arguments: ServerKind.all)
    func deletions(_ kind: ServerKind) async throws {
        try await Served.running(kind, ["a": "one", "f/b/c": "c", "f/d": "d"]) { served, connection in
            _ = try await connection.connect()
            let base = try #require(try await connection.listings.held(at: path("/a"))?.item.etag)
            try await served.put("a", "changed")
            #expect(
                try await connection.writes.delete(path("/a"), isFolder: false, version: base)
                    == .refused(.versionChanged))
            #expect(try await text("/a", connection) == "changed")
            let current = try #require(try await connection.listings.held(at: path("/a"))?.item.etag)
            _ = done(try await connection.writes.delete(path("/a"), isFolder: false, version: current))
            #expect(try await text("/a", connection) == nil)
            #expect(try await connection.writes.delete(path("/a"), isFolder: false) == .refused(.notFound))
            _ = done(try await connection.writes.delete(path("/f"), isFolder: true))
            #expect(try await names("/", connection) == [])
            #expect(try await connection.writes.delete(path("/f"), isFolder: true) == .refused(.notFound))
        }
    }

    @Test("without its parent or its source nothing is written, and the reason is named", arguments: ServerKind.all)
    func missing(_ kind: ServerKind) async throws {
        try await Served.running(kind, ["a": "one", "f/b": "b"]) { _, connection in
            _ = try await connection.connect()
            let refused = WriteOutcome.refused(.parentMissing)
            #expect(try await connection.writes.makeFolder(path("/no/x")) == refused)
            #expect(try await put("/no/x", "x", connection) == refused)
            #expect(try await put("/no/x", String(repeating: "x", count: 1_100_000), connection) == refused)
            for isFolder in [false, true] {
                let from = path(isFolder ? "/f" : "/a")
                if !kind.makesMissingFolders {
                    #expect(try await connection.writes.move(from, to: path("/no/x"), isFolder: isFolder) == refused)
                    #expect(try await connection.writes.copy(from, to: path("/no/x"), isFolder: isFolder) == refused)
                }
                let gone = path("/gone")
                #expect(
                    try await connection.writes.move(gone, to: path("/x"), isFolder: isFolder) == .refused(.notFound))
                #expect(
                    try await connection.writes.copy(gone, to: path("/x"), isFolder: isFolder) == .refused(.notFound))
            }
            #expect(try await names("/", connection) == ["a", "f"])
            #expect(try await text("/f/b", connection) == "b")
        }
    }

    @Test(
        "S35: after an upload the version that the server holds is known, and listings have it",
        arguments: ServerKind.all)
    func confirmed(_ kind: ServerKind) async throws {
        try await Served.running(kind, [:]) { served, connection in
            _ = try await connection.connect()
            let content = Array("content".utf8)
            let request = UploadRequest(base: .new, size: 7)
            guard let answer = done(try await connection.writes.put(path("/a"), request, from: MemorySource(content)))
            else {
                return
            }
            let (confirmation, held) = try await connection.writes.confirm(
                path("/a"), request, answer: answer, among: { 0 })
            #expect(confirmation == .made)
            let version = held?.item.etag
            #expect(try await connection.entries(of: .root).entries.first?.etag == version)
            // What somebody else writes then is another version.
            try await served.put("a", "content of somebody else")
            #expect(try await connection.listings.held(at: path("/a"))?.item.etag != version)
        }
    }

    @Test(
        "S10: an upload whose answer was lost is found again, or what was there before, or another",
        arguments: ServerKind.all)
    func lost(_ kind: ServerKind) async throws {
        try await Served.running(kind, ["a": "before"]) { served, connection in
            _ = try await connection.connect()
            let base = try #require(try await connection.listings.held(at: path("/a"))?.item.etag)
            let request = UploadRequest(base: .version(base), size: 8)
            func found() async throws -> ChangeConfirmation {
                .ofUpload(
                    request, shown: try await connection.listings.held(at: path("/a")),
                    manners: connection.writes.writingManners)
            }
            #expect(try await found() == .undone)
            _ = done(try await connection.writes.put(path("/a"), request, from: MemorySource("uploaded")))
            #expect(try await found() == .unproven)
            // Sent again as it was, it is refused and changes nothing.
            #expect(
                try await connection.writes.put(path("/a"), request, from: MemorySource("uploaded"))
                    == .refused(.versionChanged))
            try await served.put("a", "of somebody else")
            #expect(try await found() == .foreign)
        }
    }

    @Test("many small changes go over few connections at once", arguments: ServerKind.all)
    func parallel(_ kind: ServerKind) async throws {
        try await Served.running(kind, [:], limits: Limits(connections: 4)) { _, connection in
            _ = try await connection.connect()
            _ = done(try await connection.writes.makeFolder(path("/f")))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        _ = done(try await put("/f/\(number)", "content \(number)", connection))
                        _ = done(
                            try await connection.writes.move(
                                path("/f/\(number)"), to: path("/f/m\(number)"), isFolder: false))
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await names("/f", connection) == Set((0..<60).map { "m\($0)" }))
            #expect(try await text("/f/m59", connection) == "content 59")
        }
    }
}
