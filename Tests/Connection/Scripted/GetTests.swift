import Model
import Synchronization
import Testing
import Transfer

@testable import Connection

/// A body of a thousand pieces that counts the pieces that were read.
private final class LongBody: HTTPBody {
    private let count = Mutex(0)
    var read: Int { count.withLock { $0 } }

    func next() async throws(TransportError) -> [UInt8]? {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return number > 1000 ? nil : Array(repeating: 7, count: 16_384)
    }
}

/// A sink that keeps the received bytes.
final class MemorySink: DownloadSink {
    private(set) var head: DownloadHead?
    private(set) var bytes: [UInt8] = []
    private(set) var writes = 0
    var failure: (any Error)?

    func begin(_ head: DownloadHead) throws {
        self.head = head
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if let failure { throw failure }
        writes += 1
        self.bytes += bytes
    }
}

private let strong = ETag(opaque: "v1", strength: .strong)
private let weak = ETag(opaque: "v1", strength: .weak)

struct GetTests {
    private func get(
        _ request: DownloadRequest = DownloadRequest(),
        _ answer: @escaping @Sendable (HTTPRequest) throws(TransportError) -> HTTPAnswer
    ) async throws -> (sink: MemorySink, summary: DownloadSummary, asked: [HTTPRequest]) {
        let sink = MemorySink()
        let (transport, connection) = try await connect(answer)
        let summary = try await connection.downloads.get(path("/a b"), request: request, into: sink)
        return (sink, summary, Array(transport.requests.dropFirst(2)))
    }

    private func connect(
        _ answer: @escaping @Sendable (HTTPRequest) throws(TransportError) -> HTTPAnswer
    ) async throws -> (ScriptedTransport, Connection) {
        let transport = ScriptedTransport { request, number throws(TransportError) in
            if number == 0 { return .status(404) }
            return number == 1 ? .status(207, [:], Document.multistatus(["/d/"])) : try answer(request)
        }
        let connection = Connection("https://h/d/", over: transport)
        _ = try await connection.connect()
        return (transport, connection)
    }

    private func error(
        _ request: DownloadRequest = DownloadRequest(),
        _ answer: @escaping @Sendable (HTTPRequest) throws(TransportError) -> HTTPAnswer
    ) async -> ConnectionError.Kind? {
        await #expect(throws: ConnectionError.self) { try await get(request, answer) }?.kind
    }

    @Test("a whole file, with all that its head says")
    func whole() async throws {
        let headers: HTTPHeaders = [
            "ETag": "\"v1\"", "Content-Length": "5", "Last-Modified": "Sat, 21 Nov 2026 10:12:00 GMT",
            "Date": "Sat, 21 Nov 2026 10:13:00 GMT", "Content-Type": "text/plain; x=y",
            "OC-Checksum": "ADLER32:05d1018b",
        ]
        let (sink, summary, asked) = try await get(DownloadRequest(version: strong, size: 5)) { _ in
            .status(200, headers, "hello")
        }
        #expect(sink.bytes == Array("hello".utf8) && summary.size == 5 && summary.received == 5)
        #expect(asked.map(\.address.path) == ["/d/a%20b"] && asked[0].headers.first(name: "If-Match") == "\"v1\"")
        #expect(!asked[0].headers.contains(name: "Range"))
        let head = try #require(sink.head)
        #expect(head.offset == 0 && head.size == 5 && head.version == strong && head.mimeType == "text/plain")
        #expect(head.checksums.count == 1 && head.lastModified?.description == "2026-11-21T10:12:00Z")
    }

    @Test("an answer without a length, and an empty file")
    func unknownLength() async throws {
        let (sink, summary, _) = try await get { _ in .status(200, [:], "hello") }
        #expect(sink.head?.size == nil && summary.size == 5 && sink.head?.version.strength == .substitute)
        let (empty, none, _) = try await get(DownloadRequest(size: 0)) { _ in .status(200, ["Content-Length": "0"]) }
        #expect(empty.head != nil && empty.writes == 0 && none.size == 0)
    }

    @Test("C5: the rest is asked for with Range and If-Range, by a strong ETag alone")
    func rest() async throws {
        let part: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes 3-4/5", "Content-Length": "2"]
        let (sink, summary, asked) = try await get(DownloadRequest(version: strong, size: 5, offset: 3)) { _ in
            .status(206, part, "lo")
        }
        #expect(
            asked[0].headers.first(name: "Range") == "bytes=3-" && asked[0].headers.first(name: "If-Range") == "\"v1\"")
        #expect(sink.head?.offset == 3 && sink.head?.size == 5 && summary.size == 5 && summary.received == 2)

        for version in [weak, ETag.substitute(size: 5, lastModified: nil), nil] {
            let (whole, _, asked) = try await get(DownloadRequest(version: version, size: 5, offset: 3)) { _ in
                .status(200, ["ETag": "W/\"v1\""], "hello")
            }
            for field in ["Range", "If-Range", "If-Match"] { #expect(!asked[0].headers.contains(name: field)) }
            #expect(whole.head?.offset == 0 && whole.bytes.count == 5)
        }
    }

    @Test("C5: a server that ignores Range, or has nothing after it, gives the file from its beginning")
    func restart() async throws {
        let wanted = DownloadRequest(version: strong, size: 5, offset: 3)
        let (ignored, _, _) = try await get(wanted) { _ in .status(200, ["ETag": "\"v1\""], "hello") }
        #expect(ignored.head?.offset == 0 && ignored.bytes == Array("hello".utf8))
        let (beyond, _, asked) = try await get(wanted) { request in
            request.headers.contains(name: "Range") ? .status(416) : .status(200, ["ETag": "\"v1\""], "hello")
        }
        #expect(beyond.head?.offset == 0 && beyond.bytes == Array("hello".utf8) && asked.count == 2)
    }

    @Test(
        "C5: a part that is not the rest is never taken, and the file is asked for whole",
        arguments: ["bytes 2-4/5", "bytes 3-3/5", "bytes 3-4/6", "nonsense", "bytes 0-4/5", "bytes 3-5/6", ""])
    func wrongPart(_ range: String) async throws {
        let headers: HTTPHeaders = [
            "ETag": "\"v1\"",
            range.isEmpty ? "Content-Type" : "Content-Range": range.isEmpty ? "multipart/byteranges" : range,
        ]
        let rest = DownloadRequest(version: strong, size: 5, offset: 3)
        let (sink, _, asked) = try await get(rest) { request in
            request.headers.contains(name: "Range")
                ? .status(206, headers, "lo") : .status(200, ["ETag": "\"v1\""], "hello")
        }
        #expect(sink.head?.offset == 0 && sink.bytes == Array("hello".utf8) && asked.count == 2)
        // A server that answers with a part of what nobody asked a part of is not asked again.
        #expect(await error(rest) { _ in .status(206, headers, "lo") } == .protocolViolation)
        #expect(await error { _ in .status(206, ["Content-Range": "bytes 0-4/5"], "hello") } == .protocolViolation)
    }

    @Test(
        "S16: a version that changed is seen by the status, the ETag, the length or the date, whatever the server heeds"
    )
    func changed() async throws {
        let wanted = DownloadRequest(version: strong, size: 5)
        #expect(await error(wanted) { _ in .status(412) } == .versionChanged)
        #expect(await error(wanted) { _ in .status(200, ["ETag": "\"v2\""], "hello") } == .versionChanged)
        #expect(
            await error(wanted) { _ in .status(200, ["ETag": "\"v1\"", "Content-Length": "6"], "hello!") }
                == .versionChanged)
        #expect(await error(wanted) { _ in .status(200, [:], "hello!") } == .versionChanged)
        let part: HTTPHeaders = ["ETag": "\"v2\"", "Content-Range": "bytes 3-4/5"]
        #expect(
            await error(DownloadRequest(version: strong, size: 5, offset: 3)) { _ in .status(206, part, "lo") }
                == .versionChanged)
        let noon = try #require(Timestamp(rfc3339: "2026-11-21T12:00:00Z"))
        let dated = DownloadRequest(version: .substitute(size: 5, lastModified: noon), size: 5)
        #expect(
            await error(dated) { _ in .status(200, ["Last-Modified": "Sat, 21 Nov 2026 12:00:01 GMT"], "hello") }
                == .versionChanged)
        let (same, _, _) = try await get(dated) { _ in
            .status(200, ["Last-Modified": "Sat, 21 Nov 2026 12:00:00 GMT", "ETag": "\"x\""], "hello")
        }
        #expect(same.head?.version == dated.version)
    }

    @Test("a date with a fraction of a second in a listing is that of the answer, which has none")
    func fractions() async throws {
        for (listed, date, isSame) in [
            ("12:00:00.25Z", "12:00:00 GMT", true), ("12:00:00.999999Z", "12:00:00 GMT", true),
            ("12:00:00.25Z", "12:00:01 GMT", false), ("11:59:59.75Z", "12:00:00 GMT", false),
        ] {
            let modified = try #require(Timestamp(rfc3339: "2026-11-21T\(listed)"))
            for size: Int64? in [5, nil] {
                let request = DownloadRequest(
                    version: .substitute(size: size, lastModified: modified), size: size, lastModified: modified)
                let headers: HTTPHeaders = ["Last-Modified": "Sat, 21 Nov 2026 \(date)"]
                if isSame {
                    let (sink, _, _) = try await get(request) { _ in .status(200, headers, "hello") }
                    #expect(sink.head?.version == request.version, "\(listed)")
                } else {
                    #expect(await error(request) { _ in .status(200, headers, "hello") } == .versionChanged)
                }
            }
        }
    }

    @Test("the same tag, weak in the listing and strong in the answer, is one version")
    func weakThenStrong() async throws {
        let (sink, _, _) = try await get(DownloadRequest(version: weak, size: 5)) { _ in
            .status(200, ["ETag": "\"v1\""], "hello")
        }
        #expect(sink.head?.version == weak)
        let (zipped, _, _) = try await get(DownloadRequest(version: strong, size: 5)) { _ in
            .status(200, ["ETag": "\"v1-gzip\""], "hello")
        }
        #expect(zipped.head?.version == strong)
    }

    @Test(
        "C15: an ETag with a coding's name is the listed one where length and date are as listed, and nowhere else",
        arguments: ["v1-br", "v1--gzip", "v1;gzip"])
    func codedETag(_ sent: String) async throws {
        let date = "Sat, 21 Nov 2026 10:12:00 GMT"
        let headers: HTTPHeaders = ["ETag": "\"\(sent)\"", "Content-Length": "5", "Last-Modified": date]
        var wanted = DownloadRequest(version: strong, size: 5, lastModified: Timestamp(httpDate: date))
        let (sink, summary, _) = try await get(wanted) { _ in .status(200, headers, "hello") }
        #expect(sink.bytes == Array("hello".utf8) && summary.head.version == strong && !summary.head.isResumable)
        #expect(
            await error(wanted) { _ in .status(200, ["ETag": "\"\(sent)\"", "Content-Length": "5"], "hello") }
                == .versionChanged)
        wanted.lastModified = wanted.lastModified.map { $0 + .seconds(1) }
        #expect(await error(wanted) { _ in .status(200, headers, "hello") } == .versionChanged)
        let other = DownloadRequest(
            version: ETag(opaque: "v2", strength: .strong), size: 5, lastModified: Timestamp(httpDate: date))
        #expect(await error(other) { _ in .status(200, headers, "hello") } == .versionChanged)
    }

    @Test("C15: a listed date that cannot be read does not stand in the way of one in the answer that can")
    func unreadableDate() async throws {
        let version = ETag.substitute(size: 5, dateText: "Sa, 21 Nov. 2026 10:12:00 GMT")
        for date in ["Sat, 21 Nov 2026 10:12:00 GMT", "Sa, 21 Nov. 2026 10:12:00 GMT", "21.11.2026"] {
            let (sink, summary, _) = try await get(DownloadRequest(version: version, size: 5)) { _ in
                .status(200, ["Content-Length": "5", "Last-Modified": date], "hello")
            }
            #expect(sink.bytes == Array("hello".utf8) && summary.head.version == version, "\(date)")
        }
    }

    @Test("S14: a body that ends too early is an error; what came of it has been handed on")
    func cutOff() async throws {
        for failure in [TransportError.closed, nil] {
            let (_, connection) = try await connect { _ in
                .status(200, ["Content-Length": "9"], "hello", failure: failure)
            }
            let sink = MemorySink()
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.downloads.get(path("/a"), into: sink)
            }
            #expect(error?.kind == .unreachable && error?.isTransient == true)
            #expect(sink.bytes == Array("hello".utf8))
        }
    }

    @Test("an answer in another coding is not taken for the file")
    func coded() async {
        #expect(await error { _ in .status(200, ["Content-Encoding": "gzip"], "hello") } == .protocolViolation)
    }

    @Test(
        "S14: a web page with neither version nor length is no file that was listed as something else; the error says what came",
        arguments: [ETag(opaque: "v1", strength: .strong), .substitute(size: nil, lastModified: nil)])
    func pageWithoutLength(_ version: ETag) async throws {
        let page: HTTPHeaders = ["Content-Type": "text/html; charset=utf-8", "ETag": "\"its own\""]
        let listings: [(mimeType: String?, size: Int64?)] = [
            ("application/pdf", nil), ("application/pdf", 5), (nil, nil),
        ]
        for (listed, size) in listings {
            let wanted = DownloadRequest(version: version, size: size, mimeType: listed)
            let (_, connection) = try await connect { _ in
                .status(200, version.strength == .strong ? ["Content-Type": "text/html"] : page, "login")
            }
            let sink = MemorySink()
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.downloads.get(path("/a"), request: wanted, into: sink)
            }
            #expect(error?.kind == .protocolViolation && error?.message.contains("text/html") == true)
            #expect(sink.head == nil)
        }
        // A file that was listed as a web page is a web page. A listed length or date identifies the file, whatever its
        // type.
        let noon = try #require(Timestamp(rfc3339: "2026-11-21T12:00:00Z"))
        let date: HTTPHeaders = ["Content-Type": "text/html", "Last-Modified": "Sat, 21 Nov 2026 12:00:00 GMT"]
        let files: [(wanted: DownloadRequest, headers: HTTPHeaders)] = [
            (DownloadRequest(version: version, mimeType: "text/html"), ["Content-Type": "text/html"]),
            (
                DownloadRequest(version: version.strength == .strong ? version : nil, size: 5, mimeType: "a/b"),
                ["Content-Type": "c/d", "Content-Length": "5"]
            ),
            (DownloadRequest(version: .substitute(size: 5, lastModified: noon), size: 5, mimeType: "a/b"), date),
        ]
        for (wanted, headers) in files {
            let (sink, _, _) = try await get(wanted) { _ in .status(200, headers, "hello") }
            #expect(sink.bytes == Array("hello".utf8))
        }
    }

    @Test("C5: what is to be gone on with later says itself which version it is and how long; a part says the former")
    func resumable() async throws {
        let wanted = DownloadRequest(version: strong, size: 5)
        let heads: [(headers: HTTPHeaders, isResumable: Bool)] = [
            (["ETag": "\"v1\"", "Content-Length": "5"], true), (["ETag": "\"v1\""], false),
            (["Content-Length": "5"], false), (["ETag": "W/\"v1\"", "Content-Length": "5"], false),
        ]
        for (headers, isResumable) in heads {
            let (sink, _, _) = try await get(wanted) { _ in .status(200, headers, "hello") }
            #expect(sink.head?.isResumable == isResumable)
        }
        let (whole, _, asked) = try await get(DownloadRequest(version: strong, size: 5, offset: 3)) { request in
            request.headers.contains(name: "Range")
                ? .status(206, ["Content-Range": "bytes 3-4/5"], "XX") : .status(200, ["ETag": "\"v1\""], "hello")
        }
        #expect(whole.bytes == Array("hello".utf8) && asked.count == 2)
    }

    @Test("C12, S16: of a body that is longer than was listed nothing that is over is handed on, or read")
    func tooLong() async throws {
        let answers: [(size: Int64, headers: HTTPHeaders, offset: Int64)] = [
            (10, [:], 0), (100_000, ["ETag": "\"v1\""], 0),
            (100_000, ["ETag": "\"v1\"", "Content-Range": "bytes 90000-99999/100000"], 90_000),
        ]
        for (size, headers, offset) in answers {
            let body = LongBody()
            let (_, connection) = try await connect { _ in
                HTTPAnswer(status: offset == 0 ? 200 : 206, headers: headers, body: body)
            }
            let sink = MemorySink()
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.downloads.get(
                    path("/a"), request: DownloadRequest(version: strong, size: size, offset: offset), into: sink)
            }
            #expect(error?.kind == .versionChanged && error?.message.contains("longer than was listed") == true)
            #expect(Int64(sink.bytes.count) + offset <= size)
            #expect(Int64(body.read) <= (size - offset) / 16_384 + 1)
        }
    }

    @Test("a redirect to a login page is no file; one to the file itself is")
    func loginPage() async throws {
        let wanted = DownloadRequest(version: strong, size: 5)
        let login: @Sendable (HTTPRequest) -> HTTPAnswer = {
            $0.address.path == "/login"
                ? .status(200, ["Content-Type": "text/html"], "login") : .status(302, ["Location": "/login"])
        }
        #expect(await error(wanted, login) == .protocolViolation)
        #expect(await error(DownloadRequest(), login) == .protocolViolation)
        let (moved, _, _) = try await get(wanted) {
            $0.address.path == "/real" ? .status(200, ["ETag": "\"v1\""], "hello") : .status(307, ["Location": "/real"])
        }
        #expect(moved.bytes.count == 5)
    }

    @Test(
        "errors are told by what can be done about them",
        arguments: [
            (404, ConnectionError.Kind.notFound), (410, .notFound), (403, .forbidden), (500, .serverError),
            (503, .serverError),
            (429, .serverError), (423, .serverError), (400, .protocolViolation), (204, .protocolViolation),
            (304, .protocolViolation),
            (501, .protocolViolation), (507, .serverError), (401, .authentication),
        ])
    func kinds(_ status: Int, _ kind: ConnectionError.Kind) async {
        #expect(await error { _ in .status(status) } == kind)
    }

    @Test("what the sink throws ends the download as it is")
    func sinkThrows() async throws {
        struct DiskFull: Error {}
        let (_, connection) = try await connect { _ in .status(200, [:], "hello") }
        let sink = MemorySink()
        sink.failure = DiskFull()
        await #expect(throws: DiskFull.self) { try await connection.downloads.get(path("/a"), into: sink) }
    }

    @Test("an ETag that no field can carry is compared, never sent", arguments: ["a b", "a\r\nX: y", "a\"b", "\u{e9}"])
    func oddETag(_ opaque: String) async throws {
        let version = ETag(opaque: opaque, strength: .strong)
        let (sink, _, asked) = try await get(DownloadRequest(version: version, size: 5, offset: 2)) { _ in
            .status(200, ["ETag": "\"\(opaque)\""], "hello")
        }
        for field in ["Range", "If-Range", "If-Match"] { #expect(!asked[0].headers.contains(name: field)) }
        #expect(sink.head?.offset == 0 && sink.head?.version == version)
    }

    @Test("small chunks reach the sink in few writes")
    func chunks() async throws {
        let (sink, _, _) = try await get { _ in
            HTTPAnswer(
                status: 200, headers: [:],
                body: ScriptedBody(chunks: Array(repeating: Array(repeating: 7, count: 16_384), count: 64)))
        }
        #expect(sink.bytes.count == 1 << 20 && sink.writes == 16)
    }
}
