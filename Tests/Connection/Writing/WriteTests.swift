import Model
import Synchronization
import Testing
import Transfer

@testable import Connection

/// A server that keeps what a script writes down: what it holds, and what it answers to a request that changes something.
private final class Held: Sendable {
    private let items = Mutex<[String: String]>([:])

    init(_ items: [String: String] = [:]) { self.items.withLock { $0 = items } }

    /// Answers a PROPFIND; nil for another request.
    func answer(_ request: HTTPRequest) -> HTTPAnswer? {
        guard request.method == "PROPFIND" else { return nil }
        let path = request.address.path
        guard path != "/d/" else {
            return .status(207, ["Date": "Sat, 21 Nov 2026 10:12:00 GMT"], Self.document("/d/"))
        }
        guard let properties = items.withLock({ $0[path] }) else { return .status(404) }
        return .status(207, ["Date": "Sat, 21 Nov 2026 10:12:00 GMT"], Self.document(path, properties))
    }

    static func document(_ path: String, _ properties: String = "folder") -> String {
        let kind = properties == "folder" ? "<D:resourcetype><D:collection/></D:resourcetype>" : "<D:resourcetype/>"
        return """
            <D:multistatus xmlns:D="DAV:" xmlns:oc="http://owncloud.org/ns"><D:response><D:href>\(path)</D:href>\
            <D:propstat><D:prop>\(kind)\(properties == "folder" ? "" : properties)</D:prop>\
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>
            """
    }

    static func file(_ size: Int, _ etag: String, modified: String = "Sat, 21 Nov 2026 10:12:00 GMT") -> String {
        "<D:getcontentlength>\(size)</D:getcontentlength><D:getetag>\(etag)</D:getetag>"
            + "<D:getlastmodified>\(modified)</D:getlastmodified>"
    }
}

/// How requests that change something are made, and what their answers mean.
struct WriteTests {
    private static let strong = ETag(opaque: "v1", strength: .strong)
    /// What mod_dav says of itself.
    private static let modDav: HTTPHeaders = ["DAV": "1,2", "DAV": "<http://apache.org/dav/propset/fs/1>"]

    /// Connects to a scripted server, and returns the connection with a function that tells what was asked since.
    private func connect(
        server: String? = "Apache/2.4", _ held: Held = Held(), family: Bool = false,
        _ answer: @escaping @Sendable (HTTPRequest) throws(TransportError) -> HTTPAnswer = { _ in .status(201) }
    ) async throws -> (connection: Connection, asked: @Sendable () -> [HTTPRequest]) {
        let status = #"{"installed":true,"maintenance":false,"version":"10.15.0.0","versionstring":"10.15.0"}"#
        let isModDav = server?.hasPrefix("Apache") == true
        let transport = ScriptedTransport { request, number throws(TransportError) in
            if number == 0 { return family ? .status(200, [:], status) : .status(404) }
            if number == 1 {
                return .status(207, server.map { ["Server": $0] } ?? [:], Document.multistatus([request.address.path]))
            }
            if isModDav, request.method == "OPTIONS" { return .status(200, Self.modDav) }
            if let told = held.answer(request) { return told }
            if Self.asksCapabilities(request) { return .status(200, [:], "{}") }
            return try answer(request)
        }
        let connection = Connection("https://h/d/remote.php/x/".replacing(family), over: transport)
        _ = try await connection.connect()
        return (
            connection,
            {
                transport.requests.dropFirst(2).filter {
                    (!isModDav || $0.method != "OPTIONS") && !Self.asksCapabilities($0)
                }
            }
        )
    }

    /// Whether a request asks which names the server does not take, which is done once.
    private static func asksCapabilities(_ request: HTTPRequest) -> Bool {
        request.method == "GET" && request.address.path.hasSuffix("/cloud/capabilities")
    }

    private func lines(_ requests: [HTTPRequest]) -> [String] { requests.map { "\($0.method) \($0.address.path)" } }

    @Test("a folder is made with a closing slash, and every request is sent once as it stands")
    func requests() async throws {
        let (connection, asked) = try await connect { request in
            .status(201, ["ETag": "\"e\"", "OC-FileId": "0007oc", "Date": "Sat, 21 Nov 2026 10:13:00 GMT"])
        }
        let made = try await connection.writes.makeFolder(path("/a b"))
        guard case .done(let answer) = made else { throw Failed(made) }
        #expect(answer.status == 201 && answer.etag == ETag(field: "\"e\"") && answer.fileID == FileID("0007oc"))
        #expect(answer.date?.description == "2026-11-21T10:13:00Z" && !answer.hasReplaced)
        _ = try await connection.writes.delete(path("/a"), isFolder: false)
        _ = try await connection.writes.delete(path("/a"), isFolder: true)
        _ = try await connection.writes.move(path("/100%/e\u{301}"), to: path("/x/#?\u{1f600}"), isFolder: false)
        _ = try await connection.writes.copy(path("/a"), to: path("/b c"), isFolder: true)
        #expect(
            lines(asked()) == [
                "MKCOL /d/a%20b/", "DELETE /d/a", "DELETE /d/a/", "MOVE /d/100%25/e%CC%81", "COPY /d/a/",
            ])
        let (move, copy) = (asked()[3].headers, asked()[4].headers)
        #expect(move["Destination"] == ["https://h/d/x/%23%3F%F0%9F%98%80"] && move["Overwrite"] == ["F"])
        #expect(!move.contains(name: "Depth"))
        #expect(copy["Destination"] == ["https://h/d/b%20c/"] && copy["Overwrite"] == ["F"])
        #expect(copy["Depth"] == ["infinity"])
        // The root is never a target.
        #expect(try await connection.writes.delete(.root, isFolder: true) == .refused(.notAllowed))
        #expect(try await connection.writes.move(path("/a"), to: .root, isFolder: true) == .refused(.notAllowed))
        #expect(asked().count == 5)
    }

    @Test("each status of a refusal has one meaning for each request", arguments: 0..<Self.statuses.count)
    func meanings(_ number: Int) async throws {
        let (status, document, write, expected) = Self.statuses[number]
        let held = Held(["/d/folder": "folder", "/d/there": Held.file(3, "\"v1\""), "/d/folder/x": "folder"])
        let (connection, _) = try await connect(held) { _ in .status(status, [:], document) }
        let outcome: WriteOutcome =
            switch write {
            case .makeFolder(let path): try await connection.writes.makeFolder(path)
            case .delete(let path): try await connection.writes.delete(path, isFolder: false, version: Self.strong)
            case .move(let path, let target): try await connection.writes.move(path, to: target, isFolder: false)
            case .copy(let path, let target): try await connection.writes.copy(path, to: target, isFolder: false)
            case .setFavorite(let path): try await connection.writes.setFavorite(path, true)
            case .setModificationTime(let path):
                try await connection.writes.setModificationTime(path, Timestamp(seconds: 1), version: nil)
            case .put(let path):
                try await connection.writes.put(path, UploadRequest(base: .new, size: 3), from: MemorySource("abc"))
            }
        #expect(outcome == .refused(expected))
        let failure = expected.failure(of: write)
        #expect(failure.message.hasPrefix(write.doing) && failure.hint != nil && !failure.message.hasSuffix("."))
    }

    private static let lock = """
        <D:error xmlns:D="DAV:"><D:lock-token-submitted><D:href>/d/there</D:href></D:lock-token-submitted>\
        <D:activelock><D:owner> Grace <b/></D:owner></D:activelock></D:error>
        """
    private static let quota = #"<D:error xmlns:D="DAV:"><D:quota-not-exceeded/></D:error>"#
    private static let new = path("/folder/new")
    private static let there = path("/there")
    private static let lost = path("/missing/new")

    static let statuses: [(Int, String, WriteRequest, WriteRefusal)] = [
        (405, "", .makeFolder(there), .exists), (405, "", .makeFolder(new), .notAllowed),
        (409, "", .makeFolder(lost), .parentMissing), (404, "", .makeFolder(lost), .parentMissing),
        (409, "", .makeFolder(new), .conflict), (415, "", .makeFolder(new), .unsupportedType),
        (404, "", .delete(there), .notFound), (410, "", .delete(there), .notFound),
        (412, "", .delete(there), .versionChanged), (423, lock, .delete(there), .locked(owner: "Grace")),
        (424, "", .delete(there), .locked(owner: nil)), (405, "", .delete(there), .notAllowed),
        (409, "", .delete(there), .conflict),
        (404, "", .move(lost, to: new), .notFound), (404, "", .move(there, to: lost), .parentMissing),
        (409, "", .copy(there, to: lost), .parentMissing), (409, "", .move(there, to: path("/folder/x")), .exists),
        (412, "", .move(there, to: new), .exists), (412, "", .copy(there, to: new), .exists),
        (403, "", .move(there, to: new), .forbidden), (423, "<html>", .copy(there, to: new), .locked(owner: nil)),
        (412, "", .put(new), .exists), (404, "", .put(lost), .parentMissing), (409, "", .put(lost), .parentMissing),
        (409, "", .put(path("/folder/x")), .exists), (405, "", .put(path("/folder/x")), .exists),
        (405, "", .put(new), .notAllowed), (409, "", .put(new), .conflict), (403, "", .put(new), .forbidden),
        (403, quota, .put(new), .noRoom(available: nil)), (507, "", .put(new), .noRoom(available: nil)),
        (413, "", .put(new), .tooLarge), (415, "", .put(new), .unsupportedType), (422, "", .put(new), .unprocessable),
        (400, "", .put(new), .invalid), (414, "", .put(new), .invalid), (501, "", .put(new), .notAllowed),
        (400, "<s:message>The computed Checksum does not match", .put(new), .checksumDiffers),
        (460, "", .put(new), .checksumDiffers), (460, "", .makeFolder(new), .other(status: 460)),
        (418, "", .put(new), .other(status: 418)), (403, "", .copy(lost, to: new), .notFound),
        (400, "", .makeFolder(there), .exists), (400, "", .makeFolder(new), .invalid),
        (404, "", .put(path("/folder/x")), .exists), (500, "", .copy(there, to: lost), .parentMissing),
    ]

    @Test("an answer that says nothing about the request is an error, and tells whether it may have been carried out")
    func transient() async throws {
        for (status, mayHaveArrived) in [
            (408, false), (425, false), (429, false), (503, false), (500, true), (502, true), (504, true),
        ] {
            let (connection, asked) = try await connect { _ in .status(status, ["Retry-After": "7"]) }
            for isPut in [false, true] {
                let error = await #expect(throws: ConnectionError.self) {
                    if isPut {
                        try await connection.writes.put(
                            path("/a"), UploadRequest(base: .new, size: 1), from: MemorySource("x"))
                    } else {
                        try await connection.writes.move(path("/a"), to: path("/b"), isFolder: false)
                    }
                }
                #expect(error?.kind == .serverError && error?.retryAfter == .seconds(7), "\(status)")
                #expect(error?.mayHaveArrived == mayHaveArrived, "\(status)")
            }
            #expect(asked().count { $0.method != "PROPFIND" } == 2, "\(status)")
        }
    }

    @Test("S10: a request whose answer was lost is sent once, and the error says that it may have arrived")
    func lost() async throws {
        for (failure, mayHaveArrived) in [
            (TransportError.closed, true), (.timedOut(.head), true), (.cannotConnect("x"), false),
            (.timedOut(.connecting), false), (.unknownHost("h"), false),
        ] {
            let (connection, asked) = try await connect { _ throws(TransportError) in throw failure }
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.writes.delete(path("/a"), isFolder: false)
            }
            #expect(error?.kind == .unreachable && error?.mayHaveArrived == mayHaveArrived, "\(failure)")
            #expect(asked().count == 1, "\(failure)")
            // Questions are repeated as before, and change nothing.
            let question = await #expect(throws: ConnectionError.self) {
                try await connection.listings.list(path("/a")) { _ in }
            }
            #expect(question?.mayHaveArrived == false)
        }
    }

    @Test("C8: a redirect of a request that changes something is followed only if it keeps method and body")
    func redirects() async throws {
        for status in [301, 302, 303, 307, 308] {
            let (connection, asked) = try await connect { request throws(TransportError) in
                guard request.address.path == "/d/a" else {
                    let body = try request.upload?.all() ?? []
                    return .status(201, [:], String(decoding: body, as: UTF8.self))
                }
                return .status(status, ["Location": "/d/b"])
            }
            let put = { () async throws in
                try await connection.writes.put(
                    path("/a"), UploadRequest(base: .new, size: 3), from: MemorySource("abc"))
            }
            if status > 303 {
                guard case .done = try await put() else { throw Failed(status) }
                #expect(lines(asked()) == ["PUT /d/a", "PUT /d/b"] && asked()[1].headers["If-None-Match"] == ["*"])
            } else {
                let error = await #expect(throws: ConnectionError.self) { try await put() }
                #expect(error?.kind == .redirectRefused && asked().count == 1)
            }
        }
        let (connection, asked) = try await connect { _ in .status(307, ["Location": "https://elsewhere/d/b"]) }
        let error = await #expect(throws: ConnectionError.self) { try await connection.writes.makeFolder(path("/a")) }
        #expect(error?.kind == .redirectRefused && asked().count == 1)
    }

    @Test("a 502 for MOVE and COPY over TLS says what a proxy before the server has to do; other requests do not")
    func proxyWithoutTLS() async throws {
        let (connection, _) = try await connect { _ in .status(502) }
        let (a, b) = (path("/a"), path("/b"))
        let requests: [(Bool, () async throws -> WriteOutcome)] = [
            (true, { try await connection.writes.move(a, to: b, isFolder: false) }),
            (true, { try await connection.writes.copy(a, to: b, isFolder: false) }),
            (false, { try await connection.writes.makeFolder(b) }),
            (false, { try await connection.writes.delete(a, isFolder: true) }),
        ]
        for (tells, request) in requests {
            let error = await #expect(throws: ConnectionError.self) { try await request() }
            // An issue has the message alone.
            #expect(error?.message.contains("the proxy has to rewrite the field Destination") == tells)
            #expect(error?.kind == .serverError && error?.status == 502)
        }
    }

    @Test("a folder that is deleted, moved or copied in part says where it stopped, and why")
    func partly() async throws {
        let document = """
            <D:multistatus xmlns:D="DAV:"><D:response><D:href>/d/f/x%20y</D:href><D:status>HTTP/1.1 423 Locked</D:status>\
            </D:response></D:multistatus>
            """
        let (connection, _) = try await connect { _ in .status(207, [:], document) }
        let refusal = WriteRefusal.partly(path("/f/x y"), .locked(owner: nil))
        #expect(try await connection.writes.delete(path("/f"), isFolder: true) == .refused(refusal))
        #expect(try await connection.writes.move(path("/f"), to: path("/g"), isFolder: true) == .refused(refusal))
        #expect(
            refusal.failure(of: .delete(path("/f"))).message
                == "deleting /f was done in part, and stopped at /f/x y: /f/x y is locked by somebody")

        let (fine, _) = try await connect { _ in .status(207, [:], document.replacing("423 Locked", "204 No Content")) }
        guard case .done = try await fine.writes.delete(path("/f"), isFolder: true) else { throw Failed("done") }
        let (broken, _) = try await connect { _ in .status(207, [:], "<D:multistatus") }
        let error = await #expect(throws: ConnectionError.self) {
            try await broken.writes.delete(path("/f"), isFolder: true)
        }
        #expect(error?.kind == .protocolViolation && error?.mayHaveArrived == true)
        // An answer about nothing, and one that was cut short, do not say that all was done.
        let (silent, _) = try await connect { _ in .status(207, [:], #"<D:multistatus xmlns:D="DAV:"/>"#) }
        guard case .unclear(let doubt) = try await silent.writes.delete(path("/f"), isFolder: true) else {
            throw Failed("unclear")
        }
        #expect(doubt.mayHaveArrived)
        let full = document.replacing("/d/f/x%20y", "/d/f/").replacing("423 Locked", "507 Insufficient Storage")
        let (short, _) = try await connect { _ in .status(207, [:], full) }
        #expect(try await short.writes.delete(path("/f"), isFolder: true) == .refused(.noRoom(available: nil)))
    }

    @Test(
        "S52: a server without room is understood by either condition, whatever the status", arguments: [403, 409, 507])
    func noRoom(status: Int) async throws {
        for condition in ["quota-not-exceeded", "sufficient-disk-space"] {
            let (connection, _) = try await connect { _ in
                .status(status, [:], "<D:error xmlns:D=\"DAV:\"><D:\(condition)/></D:error>")
            }
            let outcome = try await connection.writes.put(
                path("/p"), UploadRequest(base: .new, size: 1), from: MemorySource("x"))
            guard case .refused(let refusal) = outcome else { throw Failed(outcome) }
            #expect(refusal.meaning == .noRoom(available: nil), "\(condition)")
        }
    }

    @Test("favorites are set on servers of the ownCloud family alone")
    func favorites() async throws {
        let done = """
            <d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:response><d:href>/d/a</d:href>\
            <d:propstat><d:prop><oc:favorite/></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>\
            </d:multistatus>
            """
        let (plain, none) = try await connect { _ in .status(207, [:], done) }
        #expect(try await plain.writes.setFavorite(path("/a"), true) == .refused(.notAllowed))
        #expect(none().isEmpty)
        let (connection, asked) = try await connect(family: true) { _ in .status(207, [:], done) }
        guard case .done = try await connection.writes.setFavorite(path("/a"), true) else { throw Failed("done") }
        #expect(String(decoding: asked()[0].body, as: UTF8.self).contains("<oc:favorite>1</oc:favorite>"))
        _ = try await connection.writes.setFavorite(path("/a"), false)
        #expect(String(decoding: asked()[1].body, as: UTF8.self).contains("<oc:favorite>0</oc:favorite>"))
        let (refusing, _) = try await connect(family: true) { _ in
            .status(207, [:], done.replacing("200 OK", "403 Forbidden"))
        }
        #expect(try await refusing.writes.setFavorite(path("/a"), true) == .refused(.forbidden))
    }

    @Test("the modification time of a version is set on servers of the ownCloud family alone")
    func modificationTime() async throws {
        let done = """
            <d:multistatus xmlns:d="DAV:"><d:response><d:href>/d/a</d:href>\
            <d:propstat><d:prop><d:lastmodified/></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>\
            </d:multistatus>
            """
        let time = Timestamp(nanoseconds: 1_000_000_000_500_000_000)
        let (plain, none) = try await connect { _ in .status(207, [:], done) }
        #expect(try await plain.writes.setModificationTime(path("/a"), time, version: nil) == .refused(.notAllowed))
        #expect(none().isEmpty)
        let (connection, asked) = try await connect(family: true) { _ in .status(207, [:], done) }
        guard case .done = try await connection.writes.setModificationTime(path("/a"), time, version: Self.strong)
        else {
            throw Failed("done")
        }
        #expect(asked()[0].headers["If-Match"] == ["\"v1\""])
        #expect(
            String(decoding: asked()[0].body, as: UTF8.self).contains("<d:lastmodified>1000000000</d:lastmodified>"))
        _ = try await connection.writes.setModificationTime(
            path("/a"), time, version: ETag(opaque: "v1", strength: .weak))
        #expect(asked()[1].headers["If-Match"].isEmpty)
        let (refusing, _) = try await connect(family: true) { _ in
            .status(207, [:], done.replacing("200 OK", "403 Forbidden"))
        }
        #expect(try await refusing.writes.setModificationTime(path("/a"), time, version: nil) == .refused(.forbidden))
        let (changed, _) = try await connect(family: true) { _ in .status(412) }
        #expect(
            try await changed.writes.setModificationTime(path("/a"), time, version: Self.strong)
                == .refused(.versionChanged))
    }

    @Test("S18: a version is deleted by If-Match, and where that is not heeded or not possible after a question")
    func deleteVersion() async throws {
        let held = Held(["/d/a": Held.file(3, "\"v1\""), "/d/w": Held.file(3, "W/\"v1\"")])
        let (apache, asked) = try await connect(held) { _ in .status(204) }
        _ = try await apache.writes.delete(path("/a"), isFolder: false, version: Self.strong)
        #expect(lines(asked()) == ["DELETE /d/a"] && asked()[0].headers["If-Match"] == ["\"v1\""])
        // The listing had a weak ETag; the server's present one is strong.
        _ = try await apache.writes.delete(path("/a"), isFolder: false, version: ETag(opaque: "v1", strength: .weak))
        #expect(lines(asked()).suffix(2) == ["PROPFIND /d/a", "DELETE /d/a"])
        #expect(asked()[2].headers["If-Match"] == ["\"v1\""])
        _ = try await apache.writes.delete(path("/w"), isFolder: false, version: ETag(opaque: "v1", strength: .weak))
        #expect(lines(asked()).last == "DELETE /d/w" && !asked()[4].headers.contains(name: "If-Match"))
        for server in ["nginx/1.22.1", "rclone/v1.60.1", nil] {
            let (other, asked) = try await connect(server: server, held) { _ in .status(204) }
            let changed = ETag(opaque: "v0", strength: .strong)
            #expect(
                try await other.writes.delete(path("/a"), isFolder: false, version: changed)
                    == .refused(.versionChanged))
            #expect(try await other.writes.delete(path("/b"), isFolder: false, version: changed) == .refused(.notFound))
            #expect(lines(asked()) == ["PROPFIND /d/a", "PROPFIND /d/b"])
            _ = try await other.writes.delete(path("/a"), isFolder: false, version: Self.strong)
            #expect(lines(asked()).suffix(2) == ["PROPFIND /d/a", "DELETE /d/a"])
        }
    }

    @Test("S8: a new file goes out with If-None-Match, a changed one with If-Match, and each with what is known of it")
    func put() async throws {
        let held = Held(["/d/remote.php/x/a": Held.file(3, "\"v1\"")])
        let bytes = Mutex<[[UInt8]]>([])
        let (connection, asked) = try await connect(held, family: true) { request throws(TransportError) in
            let body = try request.upload?.all() ?? request.body
            bytes.withLock { $0.append(body) }
            return .status(201, ["ETag": "\"v2\"", "X-OC-MTime": "accepted"])
        }
        let told = Mutex<[Int64]>([])
        var request = UploadRequest(
            base: .new, size: 5, checksums: [ContentChecksum(.md5, [1]), ContentChecksum(.sha1, [0x0a, 0xff])],
            modified: Timestamp(seconds: 1_700_000_000), mimeType: "text/plain")
        let new = try await connection.writes.put(path("/n"), request, from: MemorySource("hello")) { count in
            told.withLock { $0.append(count) }
        }
        guard case .done(let answer) = new else { throw Failed(new) }
        #expect(answer.etag == ETag(field: "\"v2\"") && answer.tookModified && told.withLock { $0 } == [0, 5])
        let headers = asked()[0].headers
        #expect(asked().count == 1 && headers["If-None-Match"] == ["*"] && headers["Content-Type"] == ["text/plain"])
        #expect(headers["OC-Checksum"] == ["SHA1:0aff"] && headers["X-OC-Mtime"] == ["1700000000"])
        request.base = .version(Self.strong)
        _ = try await connection.writes.put(path("/a"), request, from: MemorySource("hello"))
        #expect(asked()[1].headers["If-Match"] == ["\"v1\""] && !asked()[1].headers.contains(name: "If-None-Match"))
        request.size = 0
        _ = try await connection.writes.put(path("/empty"), request, from: MemorySource(""))
        #expect(asked()[2].upload == nil && asked()[2].body.isEmpty)
        #expect(bytes.withLock { $0 } == [Array("hello".utf8), Array("hello".utf8), []])
        for field in ["Content-Range", "Expect"] { #expect(!asked().contains { $0.headers.contains(name: field) }) }
    }

    @Test("S8 S9: where a condition is not heeded or not possible, the version is asked for before, on each server")
    func askedBefore() async throws {
        let held = Held(["/d/a": Held.file(3, "\"v1\""), "/d/w": Held.file(3, "W/\"v1\""), "/d/f": "folder"])
        func put(_ server: String?, _ name: String, _ base: UploadRequest.Base) async throws -> (WriteOutcome, [String])
        {
            let (connection, asked) = try await connect(server: server, held) { _ in .status(201) }
            let outcome = try await connection.writes.put(
                path(name), UploadRequest(base: base, size: 3), from: MemorySource("abc"))
            return (outcome, lines(asked()))
        }
        let weak = UploadRequest.Base.version(ETag(opaque: "v1", strength: .weak))
        for server in ["nginx", "rclone/v1.60.1", "something", nil] {
            #expect(try await put(server, "/a", .new) == (.refused(.exists), ["PROPFIND /d/a"]))
            #expect(try await put(server, "/f", .version(Self.strong)) == (.refused(.exists), ["PROPFIND /d/f"]))
            let changed = UploadRequest.Base.version(ETag(opaque: "v0", strength: .strong))
            #expect(try await put(server, "/a", changed) == (.refused(.versionChanged), ["PROPFIND /d/a"]))
            #expect(try await put(server, "/gone", changed) == (.refused(.versionChanged), ["PROPFIND /d/gone"]))
            #expect(try await put(server, "/a", .version(Self.strong)).1 == ["PROPFIND /d/a", "PUT /d/a"])
            #expect(try await put(server, "/n", .new).1 == ["PROPFIND /d/n", "PUT /d/n"])
        }
        for server in ["Apache/2.4.62 (Debian)", "WsgiDAV/4.4.0"] {
            // A name alone proves nothing.
            let isKnown = server.hasPrefix("Apache")
            #expect(try await put(server, "/n", .new).1 == (isKnown ? [] : ["PROPFIND /d/n"]) + ["PUT /d/n"])
            let before = isKnown ? [] : ["PROPFIND /d/a"]
            #expect(try await put(server, "/a", .version(Self.strong)).1 == before + ["PUT /d/a"])
            #expect(try await put(server, "/w", weak).1 == ["PROPFIND /d/w", "PUT /d/w"])
        }
        // An equal version that has become strong since stands in the condition.
        let (connection, asked) = try await connect(server: "Apache", held)
        _ = try await connection.writes.put(path("/a"), UploadRequest(base: weak, size: 3), from: MemorySource("abc"))
        #expect(asked().last?.headers.first(name: "If-Match") == "\"v1\"")
    }

    @Test("a large file is asked for before it goes out: its version, its folder and the room for it")
    func large() async throws {
        let size = Writes.largeUpload
        let held = Held(["/d/a": Held.file(1_000_000, "\"v1\"")])
        let (connection, asked) = try await connect(server: "Apache", held) { _ in .status(201) }
        func put(_ name: String, _ base: UploadRequest.Base = .new) async throws -> WriteOutcome {
            try await connection.writes.put(
                path(name), UploadRequest(base: base, size: size),
                from: MemorySource([UInt8](repeating: 1, count: Int(size))))
        }
        #expect(try await put("/a") == .refused(.exists))
        #expect(try await put("/missing/a") == .refused(.parentMissing))
        #expect(lines(asked()) == ["PROPFIND /d/a", "PROPFIND /d/missing/a", "PROPFIND /d/missing"])
        guard case .done = try await put("/n") else { throw Failed("done") }
        #expect(lines(asked()).suffix(3) == ["PROPFIND /d/n", "PROPFIND /d/", "PUT /d/n"])
        // The folder told no quota, so it is not asked for it again soon.
        guard case .done = try await put("/o") else { throw Failed("done") }
        #expect(lines(asked()).suffix(2) == ["PROPFIND /d/o", "PUT /d/o"])
    }

    @Test("S52: after a 507 the room is asked for anew, for a small file too, until the folder has taken one")
    func fullFolder() async throws {
        let answers = Mutex<[Int]>([507, 201])
        let held = Held([:])
        let (connection, asked) = try await connect(server: "Apache", held) { _ in
            .status(answers.withLock { $0.isEmpty ? 201 : $0.removeFirst() })
        }
        func put(_ name: String, _ size: Int64) async throws -> WriteOutcome {
            try await connection.writes.put(
                path(name), UploadRequest(base: .new, size: size),
                from: MemorySource([UInt8](repeating: 1, count: Int(size))))
        }
        #expect(try await put("/n", Writes.largeUpload) == .refused(.noRoom(available: nil)))
        guard case .done = try await put("/n", 10) else { throw Failed("done") }
        #expect(lines(asked()).suffix(3) == ["PROPFIND /d/n", "PROPFIND /d/", "PUT /d/n"])
        guard case .done = try await put("/o", 10) else { throw Failed("done") }
        #expect(lines(asked()).suffix(2) == ["PUT /d/n", "PUT /d/o"])
    }

    @Test("a server without the room for a large file gets none of it")
    func quota() async throws {
        let transport = ScriptedTransport { request, number throws(TransportError) in
            if number == 0 { return .status(404) }
            guard request.method == "PROPFIND" else { return .status(201) }
            if request.address.path == "/d/n" { return .status(404) }
            let listing = Document.multistatus([request.address.path])
            let quota = "<D:quota-available-bytes>1048576</D:quota-available-bytes><D:getetag>"
            return .status(207, [:], number == 1 ? listing : listing.replacing("<D:getetag>", quota))
        }
        let connection = Connection("https://h/d/", over: transport)
        _ = try await connection.connect()
        func put(_ name: String, _ size: Int64, _ base: UploadRequest.Base) async throws -> WriteOutcome {
            try await connection.writes.put(
                path(name), UploadRequest(base: base, size: size),
                from: MemorySource([UInt8](repeating: 1, count: Int(size))))
        }
        #expect(try await put("/n", 1_048_577, .new) == .refused(.noRoom(available: 1_048_576)))
        #expect(!transport.lines.contains { $0.hasPrefix("PUT") })
        // The folder is asked for its room before a small file too, until it has taken one.
        let before = transport.requests.count
        guard case .done = try await put("/n", 10, .new) else { throw Failed("done") }
        let since = transport.requests.dropFirst(before)
        #expect(since.contains { $0.method == "PROPFIND" && $0.address.path == "/d/" })
        guard case .done = try await put("/n", 1_048_576, .new) else { throw Failed("done") }
        // What it takes the place of makes room.
        guard case .done = try await put("/a", 1_048_579, .version(Self.strong)) else { throw Failed("done") }
    }

    @Test("a source that is not one version of a file ends the request, and nothing is filled up")
    func sources() async throws {
        let bytes = [UInt8](repeating: 7, count: 700_000)
        for change in [MemorySource.Change.shorter, .longer, .failing, .changed] {
            let sent = Mutex<Int?>(nil)
            let (connection, asked) = try await connect { request throws(TransportError) in
                let all = try request.upload?.all()
                sent.withLock { $0 = all?.count }
                return .status(201)
            }
            let source = MemorySource(bytes, change, after: 500_000)
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.writes.put(path("/a"), UploadRequest(base: .new, size: 700_000), from: source)
            }
            #expect(error?.isOfSource == true && error?.kind == .badRequest && sent.withLock { $0 } == nil, "\(change)")
            #expect(asked().count == 1)
        }
        let (connection, asked) = try await connect()
        let error = await #expect(throws: ConnectionError.self) {
            try await connection.writes.put(path("/a"), UploadRequest(base: .new, size: 4), from: MemorySource("abc"))
        }
        #expect(error?.isOfSource == true && asked().isEmpty)
    }

    @Test("C10: a login that is asked for again costs the body again from its beginning, and is no lost answer")
    func loginAgain() async throws {
        let challenge: HTTPHeaders = ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n2\", qop=\"auth\", stale=true"]
        let first: HTTPHeaders = ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n1\", qop=\"auth\""]
        let transport = ScriptedTransport { request, number throws(TransportError) in
            switch number {
            case 0: return .status(404)
            case 1: return .status(401, first)
            case 2: return .status(207, ["Server": "Apache"], Document.multistatus(["/d/"]))
            case 3: return .status(200, Self.modDav)
            case 4:
                _ = try request.upload?.all()
                return .status(401, challenge)
            default: return .status(try request.upload?.all() == Array("abc".utf8) ? 201 : 400)
            }
        }
        let connection = Connection(
            "https://h/d/", credentials: .digest(username: "ada", password: "x"), over: transport)
        _ = try await connection.connect()
        let told = Mutex<[Int64]>([])
        let outcome = try await connection.writes.put(
            path("/a"), UploadRequest(base: .new, size: 3), from: MemorySource("abc")
        ) { count in told.withLock { $0.append(count) } }
        guard case .done = outcome else { throw Failed(outcome) }
        #expect(told.withLock { $0 } == [0, 3, 0, 3] && transport.lines.suffix(2) == ["PUT /d/a", "PUT /d/a"])
    }

    @Test("what has been overwritten in spite of a condition is told, and the server is asked before from then on")
    func replaced() async throws {
        let (connection, asked) = try await connect { _ in .status(204) }
        let outcome = try await connection.writes.put(
            path("/a"), UploadRequest(base: .new, size: 1), from: MemorySource("x"))
        guard case .done(let answer) = outcome else { throw Failed(outcome) }
        #expect(answer.hasReplaced && !connection.writes.writingManners.heedsConditions)
        _ = try await connection.writes.put(path("/b"), UploadRequest(base: .new, size: 1), from: MemorySource("x"))
        #expect(lines(asked()) == ["PUT /d/a", "PROPFIND /d/b", "PUT /d/b"])
        // Where the server was asked a moment before, 204 is only its way to say that it is done.
        let (other, _) = try await connect { _ in .status(204) }
        let large = MemorySource([UInt8](repeating: 1, count: Int(Writes.largeUpload)))
        let told = try await other.writes.put(path("/c"), UploadRequest(base: .new, size: large.size), from: large)
        guard case .done(let fresh) = told else { throw Failed(told) }
        #expect(!fresh.hasReplaced && other.writes.writingManners.heedsConditions)
    }

    @Test("S8 S9: a proxy's name does not show that conditions are heeded: the server is asked before each upload")
    func proxysName() async throws {
        let held = Held(["/d/there": Held.file(3, "\"v2\"")])
        let transport = ScriptedTransport { request, number throws(TransportError) in
            if number == 0 { return .status(404) }
            if number == 1 {
                return .status(207, ["Server": "Apache/2.4.62 (Debian)"], Document.multistatus([request.address.path]))
            }
            if request.method == "OPTIONS" { return .status(200, ["DAV": "1, 2"]) }
            return held.answer(request) ?? .status(201)
        }
        let connection = Connection("https://h/d/", over: transport)
        _ = try await connection.connect()
        for base in [UploadRequest.Base.new, .version(Self.strong)] {
            let outcome = try await connection.writes.put(
                path("/there"), UploadRequest(base: base, size: 1), from: MemorySource("x"))
            #expect(outcome == .refused(base == .new ? .exists : .versionChanged))
        }
        let deleted = try await connection.writes.delete(path("/there"), isFolder: false, version: Self.strong)
        #expect(deleted == .refused(.versionChanged))
        #expect(!transport.requests.contains { ["PUT", "DELETE"].contains($0.method) })
        // It is asked once.
        #expect(transport.requests.count { $0.method == "OPTIONS" } == 1)
    }

    @Test("S49: a success that the request does not have, or that carries a page, proves nothing")
    func unproven() async throws {
        for (status, document, isDone) in [
            (200, "", true), (201, "<html>Created</html>", true), (204, "", true),
            (200, "<html>Back soon</html>", false),
            (202, "", false), (206, "", false), (299, "", false),
        ] {
            let (connection, _) = try await connect { _ in .status(status, [:], document) }
            let outcomes = [
                try await connection.writes.makeFolder(path("/n")),
                try await connection.writes.delete(path("/f"), isFolder: true),
                try await connection.writes.move(path("/a"), to: path("/b"), isFolder: false),
                try await connection.writes.copy(path("/a"), to: path("/b"), isFolder: false),
                try await connection.writes.put(
                    path("/p"), UploadRequest(base: .new, size: 1), from: MemorySource("x")),
            ]
            // Of those that make something, 200 is no answer, and of a deletion, 201 is none.
            for (number, outcome) in outcomes.enumerated() {
                let isProof = isDone && (number == 4 || status != (number == 1 ? 201 : 200))
                switch outcome {
                case .done: #expect(isProof, "\(status)")
                case .unclear(let error): #expect(!isProof && error.mayHaveArrived, "\(status)")
                case .refused: Issue.record("\(status): \(outcome)")
                }
            }
        }
    }

    @Test("a redirect from a file to its folder says that a folder is there")
    func folderInstead() async throws {
        let (connection, _) = try await connect(Held(["/d/f": "folder"])) { request in
            .status(301, ["Location": "https://h\(request.address.path)/"])
        }
        let request = UploadRequest(base: .new, size: 1)
        #expect(try await connection.writes.put(path("/f"), request, from: MemorySource("x")) == .refused(.exists))
        #expect(try await connection.writes.delete(path("/f"), isFolder: false) == .refused(.conflict))
    }

    @Test("nginx's 500 is a missing folder if the folder is missing, and an error if it is not")
    func nginx() async throws {
        let (connection, _) = try await connect(server: "nginx/1.22.1") { _ in .status(500) }
        let request = UploadRequest(base: .new, size: 1)
        #expect(
            try await connection.writes.put(path("/x/a"), request, from: MemorySource("x")) == .refused(.parentMissing))
        let error = await #expect(throws: ConnectionError.self) {
            try await connection.writes.put(path("/a"), request, from: MemorySource("x"))
        }
        #expect(error?.kind == .serverError && error?.mayHaveArrived == true)
    }

    @Test("nothing is written under a name that the server would not keep: a question mark in a target, a hidden name")
    func names() async throws {
        let (wsgidav, none) = try await connect(server: "WsgiDAV/4.4.0")
        #expect(
            try await wsgidav.writes.move(path("/a"), to: path("/b?c/d"), isFolder: false) == .refused(.nameNotKept))
        #expect(try await wsgidav.writes.copy(path("/a"), to: path("/b?"), isFolder: true) == .refused(.nameNotKept))
        for name in ["/b\tc", "/b\nc", "/b\rc/d"] {
            #expect(
                try await wsgidav.writes.move(path("/a"), to: path(name), isFolder: false) == .refused(.nameNotKept))
        }
        #expect(none().isEmpty)
        guard case .done = try await wsgidav.writes.makeFolder(path("/b?")) else { throw Failed("done") }
        for (classes, isRefused) in [("2", true), ("1, 2", false), ("1,3", false)] {
            let (nginx, asked) = try await connect(server: "nginx/1.22.1") { request in
                request.method == "OPTIONS" ? .status(200, ["DAV": classes]) : .status(201)
            }
            for name in ["/.a", "/.b/c"] {
                let outcome = try await nginx.writes.move(path("/x"), to: path(name), isFolder: false)
                #expect((outcome == .refused(.nameNotKept)) == isRefused, "\(classes)")
            }
            let outcome = try await nginx.writes.put(
                path("/.p"), UploadRequest(base: .new, size: 1), from: MemorySource("x"))
            #expect((outcome == .refused(.nameNotKept)) == isRefused, "\(classes)")
            #expect(try await nginx.writes.leavesOutDotNames() == isRefused)
            #expect(asked().count { $0.method == "OPTIONS" } == 1)
            guard case .done = try await nginx.writes.move(path("/x"), to: path("/a.b"), isFolder: false) else {
                throw Failed("done")
            }
        }
    }

    @Test(
        "an answer of the family without an ETag and an id is about nothing; elsewhere it is about a file",
        arguments: [true, false], ["", "&quot;&quot;"])
    func phantom(family: Bool, etag: String) async throws {
        let held = Held(["/d/remote.php/x/a.part".replacing(family): Held.file(0, etag)])
        let (connection, _) = try await connect(held, family: family)
        #expect((try await connection.listings.held(at: path("/a.part")) == nil) == family)
    }

    @Test("small changes wait for no listing, download or upload")
    func gates() async throws {
        let (connection, asked) = try await connect()
        for kind in RequestGate.Kind.allCases where kind != .change {
            while connection.wire.gate(kind).tryEnter(kind) {}
        }
        guard case .done = try await connection.writes.makeFolder(path("/a")) else { throw Failed("done") }
        #expect(try await connection.listings.held(at: path("/a")) == nil)
        #expect(lines(asked()) == ["MKCOL /d/a/", "PROPFIND /d/a"])
    }

    @Test("what the server holds: version, size, checksums and room; nothing is only what it says is not there")
    func held() async throws {
        let file =
            Held.file(3, "\"v1\"")
            + "<oc:checksums><oc:checksum>SHA1:0000000000000000000000000000000000000001 ADLER32:0a0b0c0d</oc:checksum>"
            + "</oc:checksums>"
        let (connection, asked) = try await connect(Held(["/d/a": file])) { _ in .status(500) }
        let held = try #require(try await connection.listings.held(at: path("/a")))
        #expect(held.item.etag == Self.strong && held.item.size == 3 && held.item.kind == .file)
        #expect(held.checksums.map(\.algorithm) == [.sha1, .adler32] && held.checksums[1].value == [10, 11, 12, 13])
        #expect(held.date?.description == "2026-11-21T10:12:00Z" && asked()[0].headers["Depth"] == ["0"])
        for status in [403, 405, 500, 503] {
            let transport = ScriptedTransport { _, number in
                number == 1 ? .status(207, [:], Document.multistatus(["/d/"])) : .status(number == 0 ? 404 : status)
            }
            let connection = Connection("https://h/d/", over: transport)
            _ = try await connection.connect()
            await #expect(throws: ConnectionError.self) { try await connection.listings.held(at: path("/a")) }
        }
    }
}

private struct Failed: Error {
    let what: String
    init(_ what: some Sendable) { self.what = "\(what)" }
}

extension String {
    fileprivate func replacing(_ old: String, _ new: String) -> String {
        split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
    }

    /// Returns the address of a family's server as it is, and of another without what marks it.
    fileprivate func replacing(_ isFamily: Bool) -> String { isFamily ? self : replacing("remote.php/x/", "") }
}
