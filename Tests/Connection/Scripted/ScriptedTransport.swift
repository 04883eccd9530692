import Logging
import Model
import Synchronization
import TestSupport
import Transfer

@testable import Connection

/// A transport that answers as a test's script says and records the requests.
final class ScriptedTransport: HTTPTransport {
    typealias Script = @Sendable (_ request: HTTPRequest, _ number: Int) throws(TransportError) -> HTTPAnswer

    private let script: Script
    private let asked = Mutex<[HTTPRequest]>([])

    /// Makes a transport that follows a script.
    /// - Parameter script: A function that gets each request and the number of requests before it.
    init(_ script: @escaping Script) { self.script = script }

    var requests: [HTTPRequest] { asked.withLock { $0 } }
    /// The requests in order, each as `GET /path`.
    var lines: [String] { requests.map { "\($0.method) \($0.address.path)" } }

    func execute(_ request: HTTPRequest, limits: AnswerLimits) async throws(TransportError) -> HTTPAnswer {
        let number = asked.withLock { asked in
            asked.append(request)
            return asked.count - 1
        }
        return try script(request, number)
    }

    func shutdown() async {}
}

/// A body that arrives in pieces and may end with an error.
struct ScriptedBody: HTTPBody {
    var chunks: [[UInt8]]
    var failure: TransportError?

    mutating func next() async throws(TransportError) -> [UInt8]? {
        if !chunks.isEmpty { return Array(chunks.removeFirst()) }
        if let failure { throw failure }
        return nil
    }
}

/// A counter of the answers that are being read.
final class Traffic: Sendable {
    private let counts = Mutex((now: 0, most: 0, total: 0))
    var most: Int { counts.withLock { $0.most } }
    var total: Int { counts.withLock { $0.total } }

    /// Makes an answer that takes a few turns to read. The answer is counted until it has been read.
    func answer(_ headers: HTTPHeaders, _ text: String) -> HTTPAnswer {
        counts.withLock { counts in
            counts.now += 1
            counts.total += 1
            counts.most = max(counts.most, counts.now)
        }
        return HTTPAnswer(status: 207, headers: headers, body: Body(bytes: Array(text.utf8)[...], traffic: self))
    }

    private struct Body: HTTPBody {
        var bytes: ArraySlice<UInt8>
        let traffic: Traffic

        mutating func next() async throws(TransportError) -> [UInt8]? {
            await Task.yield()
            guard !bytes.isEmpty else {
                traffic.counts.withLock { $0.now -= 1 }
                return nil
            }
            let chunk = bytes.prefix(20)
            bytes = bytes.dropFirst(20)
            return Array(chunk)
        }
    }
}

extension HTTPAnswer {
    static func status(
        _ status: Int, _ headers: HTTPHeaders = [:], _ text: String = "", failure: TransportError? = nil
    ) -> HTTPAnswer {
        let chunks = text.isEmpty ? [] : [Array(text.utf8)]
        return HTTPAnswer(status: status, headers: headers, body: ScriptedBody(chunks: chunks, failure: failure))
    }
}

extension TestClock {
    /// Makes a clock on which waits end at once and are recorded.
    static func skipping() -> TestClock { TestClock { _ in .skipped } }
}

extension Bookmark {
    static func at(_ url: String, username: String? = "ada", trust: Trust = .system) -> Bookmark {
        Bookmark(name: "test", url: url, username: username, trust: trust, vault: "/vault", files: "/files")
    }
}

extension Connection {
    /// Makes a connection to a scripted server.
    convenience init(
        _ url: String, username: String? = "ada",
        credentials: Credentials = .basic(username: "ada", password: "secret"),
        clock: HostClock = TestClock.skipping().host, connections: Int = 8, over transport: ScriptedTransport
    ) {
        self.init(
            bookmark: .at(url, username: username), credentials: credentials,
            limits: Limits(connections: connections), clock: clock, logger: Logger(label: "test"),
            timeLimits: TimeLimits(), transport: transport)
    }

    /// Returns the entries that a listing passed on, together with the listing's result.
    func entries(of folder: ItemPath, depth: Depth = .one) async throws -> (entries: [ListedItem], listing: Listing) {
        var all: [ListedItem] = []
        let listing = try await listings.list(folder, depth: depth) { all += $0 }
        return (all, listing)
    }
}

/// Listings as a plain server sends them.
enum Document {
    /// Returns a multistatus document with these entries.
    /// - Parameter entries: The encoded hrefs. An href that ends with a slash is a folder.
    static func multistatus(_ entries: [String]) -> String {
        let responses = entries.map { href in
            let kind = href.hasSuffix("/") ? "<D:collection/>" : ""
            return """
                <D:response><D:href>\(href)</D:href><D:propstat><D:prop><D:resourcetype>\(kind)</D:resourcetype>\
                <D:getcontentlength>3</D:getcontentlength><D:getetag>"v1"</D:getetag></D:prop>\
                <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
                """
        }
        return "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">\(responses.joined())</D:multistatus>"
    }
}

func path(_ text: String) -> ItemPath { ItemPath(unchecked: text) }
