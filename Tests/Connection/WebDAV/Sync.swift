import Model
import Testing

@testable import Connection

/// Answers of calendar servers, and functions that read them.
enum Sync {
    static let etag = "{DAV:}getetag"

    /// An answer as sabre sends it, with a changed member, a removed member and the token at the end.
    static let sabre = """
        <?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">\
        <d:response><d:href>/cal/ada/1.ics</d:href><d:propstat><d:prop><d:getetag>&quot;a&quot;</d:getetag></d:prop>\
        <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>\
        <d:response><d:href>/cal/ada/2.ics</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>\
        <d:sync-token>http://sabre.io/ns/sync/5</d:sync-token></d:multistatus>
        """

    /// The same answer as Radicale sends it, with the token at the beginning.
    static let radicale = """
        <?xml version='1.0' encoding='utf-8'?>
        <multistatus xmlns="DAV:"><sync-token>http://radicale.org/ns/sync/0d</sync-token>\
        <response><href>/cal/ada/1.ics</href><propstat><prop><getetag>"a"</getetag></prop>\
        <status>HTTP/1.1 200 OK</status></propstat></response>\
        <response><href>/cal/ada/2.ics</href><status>HTTP/1.1 404 Not Found</status></response></multistatus>
        """

    struct Read: Equatable {
        var responses: [MultistatusResponse] = []
        var end = MultistatusEnd()
    }

    /// Reads a document that arrives in these pieces.
    static func read(
        _ pieces: [[UInt8]], _ properties: [String] = [etag], asked: String = "https://h/cal/ada/"
    ) throws -> Read {
        var read = Read()
        let reader = try MultistatusReader(AskedProperties(properties), asked: ServerAddress(asked))
        for piece in pieces { read.responses += try piece.withUnsafeBytes { try reader.read($0) } }
        read.end = try reader.finish()
        return read
    }

    static func read(
        _ text: String, _ properties: [String] = [etag], asked: String = "https://h/cal/ada/"
    ) throws -> Read {
        try read([Array(text.utf8)], properties, asked: asked)
    }

    /// Returns the text that is read from one property with these contents.
    static func text(_ contents: String, of property: String = "{DAV:}x") throws -> String? {
        let name = try #require(ElementName(clark: property))
        let element = name.emptyElement.dropLast(2) + ">" + contents + "</\(name.local)>"
        let document = """
            <D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:response><D:href>/a</D:href>\
            <D:propstat><D:prop>\(element)</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>\
            </D:response></D:multistatus>
            """
        return try read(document, [property]).responses[0].values[0]
    }
}
