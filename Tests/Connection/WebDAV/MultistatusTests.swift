import TestSupport
import Testing

@testable import Connection

struct MultistatusTests {
    /// Reads a document that arrives in these pieces.
    static func responses(_ pieces: [[UInt8]]) throws -> [DAVResponse] {
        let multistatus = Multistatus(ListedResponseBuilder())
        let xml = try XMLReader(handler: multistatus)
        for piece in pieces {
            try piece.withUnsafeBytes { try xml.read($0) }
            if let problem = multistatus.problem { throw problem }
        }
        try xml.finish()
        return multistatus.take()
    }

    static func responses(_ text: String) throws -> [DAVResponse] { try responses([Array(text.utf8)]) }

    static let rich = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- a comment --><x:multistatus xmlns:x="DAV:" xmlns:own="http://owncloud.org/ns" xmlns:z="urn:z">
          <x:response><x:href>
             /dav/a%20&amp;b/</x:href>
            <x:propstat><x:status>HTTP/1.1 200 OK</x:status><x:prop>\
            <x:resourcetype><z:odd><x:collection/></z:odd><x:collection/>
                </x:resourcetype><x:getetag>&quot;<![CDATA[f<1>]]>&#34;</x:getetag>\
              <own:id>0001oc</own:id><own:size>12</own:size>
              <own:permissions>RDNVCK</own:permissions><own:favorite>1</own:favorite>\
              <own:owner-id>ad\u{e9}</own:owner-id>
              <z:getetag>not this</z:getetag></x:prop></x:propstat>
            <x:propstat><x:prop><x:getcontentlength>7</x:getcontentlength></x:prop>\
            <x:status>HTTP/1.1 404 Not Found</x:status>
            </x:propstat></x:response>
          <response xmlns="DAV:"><href>/dav/caf\u{e9}.txt</href><propstat><prop><resourcetype/>
            <getlastmodified>Sat, 21 Nov 2026 10:12:00 GMT</getlastmodified><getcontentlength> 5 </getcontentlength>
            <getcontenttype>text/plain</getcontenttype></prop><status>HTTP/1.1 200 OK</status></propstat></response>
          <x:response><x:href>/dav/gone</x:href><x:status>HTTP/1.1 404 Not Found</x:status></x:response>
          <x:responsedescription>that is <z:b>all</z:b></x:responsedescription>
        </x:multistatus>
        """

    @Test(
        "any namespace prefix, CDATA, entities, layout; only properties with a success count, wherever their status stands"
    )
    func reads() throws {
        let found = try Self.responses(Self.rich)
        var folder = DAVResponse()
        folder.href = "/dav/a%20&b/"
        (folder.hasProperties, folder.hasKind, folder.isCollection) = (true, true, true)
        (folder.etag, folder.id, folder.size) = ("\"f<1>\"", "0001oc", "12")
        (folder.permissions, folder.favorite, folder.ownerID) = ("RDNVCK", "1", "ad\u{e9}")
        var file = DAVResponse()
        file.href = "/dav/caf\u{e9}.txt"
        (file.hasProperties, file.hasKind) = (true, true)
        (file.lastModified, file.length, file.contentType) = ("Sat, 21 Nov 2026 10:12:00 GMT", "5", "text/plain")
        var gone = DAVResponse()
        (gone.href, gone.status) = ("/dav/gone", 404)
        #expect(found == [folder, file, gone])
    }

    @Test("wherever the network cuts the answer, it reads the same")
    func chunks() throws {
        var random = SeededGenerator()
        let bytes = Array(Self.rich.utf8)
        for round in 0..<SeededGenerator.rounds(usually: 200) {
            var pieces: [[UInt8]] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: 1...(round % 2 == 0 ? 4 : 200), using: &random))
                pieces.append(Array(bytes[start..<end]))
                start = end
            }
            #expect(
                try Self.responses(pieces) == Self.responses(Self.rich), "LARDER_TEST_SEED=\(random.seed), \(round)")
        }
    }

    @Test("I13: no part of a document from its beginning is a document", arguments: [1, 2, 3])
    func truncated(_ step: Int) throws {
        let bytes = Array(Self.rich.utf8)
        for end in stride(from: 0, to: bytes.count, by: step) {
            #expect(throws: (any Error).self, "cut at \(end)") { try Self.responses([Array(bytes[..<end])]) }
        }
    }

    @Test("damage of any kind is an error or another answer, never a crash")
    func damaged() {
        var random = SeededGenerator()
        for _ in 0..<SeededGenerator.rounds(usually: 200) {
            var bytes = Array(Self.rich.utf8)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
                }
            }
            // The test passes if the call returns, with a result or an error.
            _ = try? Self.responses([bytes])
        }
    }

    @Test(
        "I13: another document is an error that says so",
        arguments: [
            ("<!DOCTYPE html><html><body>log in</body></html>", MultistatusProblem.otherDocument("html")),
            ("<multistatus/>", .otherDocument("multistatus")),
            ("<d:error xmlns:d=\"DAV:\"/>", .otherDocument("error")),
            ("<d:multistatus xmlns:d=\"DAV:\"><d:response/></d:multistatus>", .noHref),
            ("<m xmlns=\"DAV:\"/>", .otherDocument("m")),
        ])
    func others(_ text: String, _ problem: MultistatusProblem) {
        #expect(throws: problem) { try Self.responses(text) }
    }

    @Test(
        "I13: what is no XML is an error",
        arguments: [
            "", "   ", "{}", "<html><br></html>", "<a xmlns=\"DAV:\"><b></a>", "\u{0}",
            "<!DOCTYPE html><html><p>&nbsp;",
        ])
    func malformed(_ text: String) {
        #expect(throws: (any Error).self) { try Self.responses(text) }
    }

    @Test(
        "I16: a document type is refused, whatever it declares and wherever the answer is cut",
        arguments: [
            "x", #"d:multistatus [<!ENTITY f SYSTEM "file:///etc/passwd">]"#, #"x SYSTEM "http://127.0.0.1:1/x.dtd""#,
            "x [<!ENTITY e0 \"xxxxxxxxxx\"><!ENTITY e1 \"&e0;&e0;&e0;\">]",
        ])
    func documentType(_ declaration: String) throws {
        let name = try #require(declaration.split(separator: " ").first)
        let text = """
            <?xml version="1.0"?><!DOCTYPE \(declaration)><d:multistatus xmlns:d="DAV:"><d:response><d:href>/a</d:href>\
            </d:response></d:multistatus>
            """
        #expect(throws: MultistatusProblem.documentType(String(name))) { try Self.responses(text) }
        #expect(throws: MultistatusProblem.documentType(String(name))) {
            try Self.responses(text.utf8.map { [$0] })
        }
        #expect(MultistatusProblem.documentType("x").explanation.text.contains("DOCTYPE x"))
        // A web page is reported as a web page and not as a listing with a document type.
        #expect(throws: MultistatusProblem.otherDocument("html")) {
            try Self.responses(text.replacing("DOCTYPE \(declaration)", with: "DOCTYPE html"))
        }
    }

    @Test("I16: an error document with a document type names no condition")
    func errorDocument() {
        let text = #"<!DOCTYPE x><d:error xmlns:d="DAV:"><d:valid-sync-token/></d:error>"#
        #expect(DAVErrorReader.conditions(in: Array(text.utf8)) == [])
    }

    @Test("a property without end is an error before it fills the memory")
    func longText() {
        let text = "<d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>" + String(repeating: "a", count: 70_000)
        #expect(throws: MultistatusProblem.tooLong) { try Self.responses(text) }
    }

    @Test("elements where they do not belong are passed over")
    func misplaced() throws {
        let text = """
            <d:multistatus xmlns:d="DAV:"><d:href>/wrong</d:href>\
            <x><d:response><d:href>/inner</d:href></d:response></x>\
            <d:response><d:href>/a</d:href><d:prop><d:getetag>"no"</d:getetag></d:prop>\
            <d:propstat><d:prop><d:getetag><b>1</b>"e"</d:getetag></d:prop>\
            <d:status>nonsense</d:status></d:propstat></d:response></d:multistatus>
            """
        var expected = DAVResponse()
        expected.href = "/a"
        #expect(try Self.responses(text) == [expected])
    }
}
