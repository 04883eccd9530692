import Model
import Testing
import Transfer

@testable import Connection

@Suite("How much of a listing is taken")
struct ListingLimitsTests {
    /// Reads a listing of `/F` whose entries are made one by one, and passes batches of entries to `take`.
    private static func read(
        _ count: Int, limits: ListingLimits = ListingLimits(), status: String? = nil, href: (Int) -> String,
        take: (Int) -> Void = { _ in }
    ) throws -> Listing {
        let folder = try ItemPath("/F")
        let root = try ServerAddress("https://h/d/")
        let reader = try ListingReader(
            folder, depth: .one, root: root, asked: root.appending("F/"), limits: limits)
        try reader.read(Array(("<multistatus xmlns=\"DAV:\">" + own).utf8))
        for number in 0..<count {
            let rest = status.map { "<status>HTTP/1.1 \($0)</status>" } ?? file
            try reader.read(Array(("<response><href>\(href(number))</href>\(rest)</response>").utf8))
            while let batch = reader.nextBatch() { take(batch.count) }
        }
        try reader.read(Array(("</multistatus>").utf8))
        return try reader.finish().listing
    }

    private static let file =
        "<propstat><prop><resourcetype/></prop><status>HTTP/1.1 200 OK</status></propstat>"
    private static let own = """
        <response><href>/d/F/</href><propstat><prop><resourcetype><collection/></resourcetype></prop>\
        <status>HTTP/1.1 200 OK</status></propstat></response>
        """

    @Test("I16: of names that cannot be kept a few are held, shortened; all are counted")
    func refused() throws {
        let long = String(repeating: "n", count: 40_000)
        let listing = try Self.read(20_000) { "/d/F/\($0)%2F\($0 == 0 ? long : "x")" }
        #expect(listing.refusedCount == 20_000 && listing.entries == 0)
        #expect(listing.refused.count == ListingLimits().namedRefusals)
        #expect(listing.refused.allSatisfy { $0.href.utf8.count < 1_000 && $0.problem == .slashInName })
    }

    @Test(
        "C12: a listing that goes on for ever without an entry is given up, whatever it consists of",
        arguments: ["<x/>", "<!-- x -->", " \n", "<response><y>text</y>"])
    func endless(filler: String) throws {
        var limits = ListingLimits()
        limits.longestGap = 1 << 20
        let root = try ServerAddress("https://h/d/")
        let reader = try ListingReader(
            try ItemPath("/F"), depth: .one, root: root, asked: root.appending("F/"), limits: limits)
        try reader.read(Array(("<multistatus xmlns=\"DAV:\">" + Self.own).utf8))
        let isOpen = filler.hasPrefix("<response>")
        if isOpen { try reader.read(Array("<response>".utf8)) }
        let piece = isOpen ? String(filler.dropFirst(10)) : filler
        let chunk = Array((String(repeating: piece, count: 65_536 / piece.utf8.count).utf8))
        var read = 0
        let error = #expect(throws: ConnectionError.self) {
            while read < 10 << 20 {
                read += chunk.count
                try reader.read(chunk)
            }
        }
        #expect(error?.kind == .protocolViolation && read <= limits.longestGap + chunk.count)
        #expect(
            error?.message == "listing /F at https://h: the answer goes on for more than 1.0 MB without another entry")
    }

    @Test("C12: any number of entries may come, each a little later than the one before")
    func entriesBeginAnew() throws {
        var limits = ListingLimits()
        limits.longestGap = 1_000
        #expect(try Self.read(2_000, limits: limits) { "/d/F/\($0)" }.entries == 2_000)
    }

    @Test("I16: entries are handed out as they come, and more than the limit is an error that names it")
    func entries() throws {
        var handed = 0
        let listing = try Self.read(50_000) {
            "/d/F/\($0)"
        } take: {
            handed += $0
        }
        #expect(listing.entries == 50_000 && handed > 49_000)
        var limits = ListingLimits()
        limits.entries = 100
        #expect(try Self.read(100, limits: limits) { "/d/F/\($0)" }.entries == 100)
        for href in ["/d/F/a%2F", "/d/F/"] {
            let error = #expect(throws: ConnectionError.self) {
                try Self.read(101, limits: limits) { "\(href)\($0)" }
            }
            #expect(
                error?.kind == .protocolViolation && error?.failure.message.contains("more than 100 entries") == true)
        }
    }

    @Test("I16, I13: a server that fails for very many entries has told nothing")
    func unknown() throws {
        var limits = ListingLimits()
        limits.unknown = 50
        #expect(try Self.read(50, limits: limits, status: "500 Oops") { "/d/F/\($0)" }.unknown.count == 50)
        #expect(throws: ConnectionError.self) {
            try Self.read(51, limits: limits, status: "500 Oops") { "/d/F/\($0)" }
        }
    }
}
