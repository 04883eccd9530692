import Model
import TestSupport
import Testing
import Transfer

@testable import Connection

@Suite struct MultistatusMutationTests {
    private static let words = [
        "<x:response>", "</x:response>", "<x:href>", "</x:multistatus>", "<![CDATA[", "]]>", "&amp;", "&#0;", "&lol;",
        "<!DOCTYPE a [<!ENTITY b \"cc\">]>", "<?xml version=\"1.1\"?>", "HTTP/1.1 200 OK", "%00", "%2f", "/../", "<!--",
    ]

    private static let listing = """
        <?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">
        <d:response><d:href>/dav/Docs/</d:href><d:propstat><d:prop><d:resourcetype><d:collection/></d:resourcetype>
        <d:getetag>"1"</d:getetag><oc:id>1</oc:id></d:prop>\
        <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>
        <d:response><d:href>/dav/Docs/a%20b</d:href><d:propstat><d:prop><d:resourcetype/>
        <d:getcontentlength>12</d:getcontentlength><d:getetag>W/"2"</d:getetag>
        <d:getlastmodified>Sat, 21 Nov 2026 10:12:00 GMT</d:getlastmodified></d:prop>\
        <d:status>HTTP/1.1 200 OK</d:status>
        </d:propstat></d:response>
        <d:response><d:href>/dav/Docs/sub/</d:href><d:propstat><d:prop><d:resourcetype><d:collection/></d:resourcetype>
        </d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>
        """

    @Test("A multistatus with mistakes is read the same or refused the same, however it is cut")
    func multistatus() throws {
        var mutator = Mutator(words: Self.words)
        var read = 0
        for _ in 0..<SeededGenerator.rounds() {
            let bytes = mutator.mutate(MultistatusTests.rich.utf8)
            let whole = Result { try MultistatusTests.responses([bytes]) }
            let inPieces = Result { [pieces = mutator.cut(bytes)] in try MultistatusTests.responses(pieces) }
            switch (whole, inPieces) {
            case (.success(let a), .success(let b)):
                #expect(a == b, "LARDER_TEST_SEED=\(mutator.seed)")
                read += 1
            case (.failure, .failure): break
            default: Issue.record("\(String(decoding: bytes, as: UTF8.self)) LARDER_TEST_SEED=\(mutator.seed)")
            }
        }
        #expect(read > 0 && read < SeededGenerator.rounds())
    }

    @Test("K13: a calendar server's answer with mistakes is read the same or refused, however it is cut")
    func sync() throws {
        var mutator = Mutator(words: Self.words + ["<sync-token>", "<error>", "507", "<href>../", "%2"])
        let properties = [Sync.etag, "{DAV:}resourcetype", "{http://owncloud.org/ns}owner-id"]
        var (read, refused) = (0, 0)
        for round in 0..<SeededGenerator.rounds() {
            let bytes = mutator.mutate([Sync.sabre, Sync.radicale, MultistatusTests.rich][round % 3].utf8)
            let whole = Result { try Sync.read([bytes], properties) }
            let inPieces = Result { [pieces = mutator.cut(bytes)] in try Sync.read(pieces, properties) }
            switch (whole, inPieces) {
            case (.success(let a), .success(let b)):
                #expect(a == b, "LARDER_TEST_SEED=\(mutator.seed)")
                for response in a.responses {
                    // An empty segment is part of a name only inside the name of something in the collection.
                    let isInside = response.href.hasPrefix("/cal/ada/") && !response.href.hasPrefix("/cal/ada//")
                    #expect(
                        response.href.hasPrefix("/") && (isInside || !response.href.contains("//")),
                        "LARDER_TEST_SEED=\(mutator.seed)")
                    #expect(response.values.count == properties.count, "LARDER_TEST_SEED=\(mutator.seed)")
                }
                read += 1
            case (.failure, .failure): refused += 1
            default: Issue.record("\(String(decoding: bytes, as: UTF8.self)) LARDER_TEST_SEED=\(mutator.seed)")
            }
            _ = DAVErrorReader.conditions(in: bytes)
        }
        #expect(read > 0 && refused > 0)
    }

    @Test("I13: a listing with mistakes never names what is not in its folder, and is whole or none")
    func names() throws {
        var mutator = Mutator(words: Self.words)
        let root = try ServerAddress("https://cloud.example.org/dav/")
        let asked = try ServerAddress("https://cloud.example.org/dav/Docs/")
        let folder = ItemPath(unchecked: "/Docs")
        var (whole, refused) = (0, 0)
        for _ in 0..<SeededGenerator.rounds() {
            let bytes = mutator.mutate(Self.listing.utf8)
            let reader = try ListingReader(folder, depth: .one, root: root, asked: asked)
            var entries: [ListedItem] = []
            do throws(ConnectionError) {
                for piece in mutator.cut(bytes) {
                    try reader.read(Array(piece))
                    while let batch = reader.nextBatch() { entries += batch }
                }
                let end = try reader.finish()
                entries += end.rest
                #expect(end.listing.folder.path == folder, "LARDER_TEST_SEED=\(mutator.seed)")
                #expect(end.listing.entries == entries.count, "LARDER_TEST_SEED=\(mutator.seed)")
                whole += 1
            } catch {
                refused += 1
            }
            for entry in entries {
                #expect(entry.path.parent == folder, "\(entry.path) LARDER_TEST_SEED=\(mutator.seed)")
                #expect(throws: Never.self, "LARDER_TEST_SEED=\(mutator.seed)") { _ = try ItemPath(entry.path.text) }
            }
        }
        #expect(whole > 0 && refused > 0)
    }
}
