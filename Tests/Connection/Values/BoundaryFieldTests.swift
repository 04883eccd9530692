import Model
import TestSupport
import Testing
import Transfer

@testable import Connection

/// Tests that put a value outside the valid range into each numeric field of an answer.
struct BoundaryFieldTests {
    @Test("H12: a part of a file ends before an exbibyte, or is none", arguments: BoundaryNumbers.texts)
    func contentRange(_ text: String) {
        for field in ["bytes 5-\(text)/*", "bytes \(text)-9223372036854775807/*", "bytes 5-9/\(text)", "bytes \(text)"]
        {
            guard let range = ContentRange(field) else { continue }
            #expect(range.first >= 0 && range.first <= range.last && range.last <= OutsideNumber.largestSize)
        }
        #expect(ContentRange("bytes 5-9223372036854775807/*") == nil)
    }

    @Test(
        "H12: an answer's head of any numbers is refused, or has a size that makes sense",
        arguments: BoundaryNumbers.texts)
    func head(_ text: String) throws {
        let request = DownloadRequest(version: ETag(opaque: "v1", strength: .strong), offset: 5)
        for (status, name) in [(200, "Content-Length"), (206, "Content-Length"), (206, "Content-Range")] {
            var headers: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes 5-9/10", "Last-Modified": text]
            headers.replaceOrAdd(name: name, value: name == "Content-Range" ? "bytes 5-\(text)/*" : text)
            do throws(ConnectionError) {
                let head = try DownloadAnswer.head(
                    status: status, headers, to: request, wasRedirected: false, path: .root)
                #expect((head.size ?? 0) >= 0 && (head.size ?? 0) <= OutsideNumber.largestSize + 1)
            } catch {
                #expect(error.kind == .protocolViolation, "\(error)")
            }
        }
    }

    @Test("H12: what a server asks to be left alone for is at most a day", arguments: BoundaryNumbers.texts)
    func waits(_ text: String) {
        for now in [Timestamp(nanoseconds: .min), Timestamp(seconds: 0), Timestamp(nanoseconds: .max)] {
            for field in [text] + BoundaryNumbers.httpDates {
                let wait = RetryAfter.duration(field, now: now)
                #expect(wait.map { $0 >= .zero && $0 <= .seconds(86_400) } ?? true, "\(field)")
            }
        }
        for number in [text, "\"\(text)\""] {
            let json = #"{"ocs":{"data":{"capabilities":{"core":{"pollinterval":\#(number)}}}}}"#
            let wish = Capabilities(json: Array(json.utf8))?.pollWish
            #expect(wish.map { $0 > .zero && $0 <= .seconds(86_400) } ?? true)
        }
        var watch = ActivityWatch()
        let page = #"{"ocs":{"data":[{"activity_id":\#(text),"type":"x"}]}}"#
        for _ in 0..<3 {
            _ = watch.take(status: 200, ["X-Activity-Last-Given": text, "Link": "<a>; rel=\"next\""], Array(page.utf8))
            _ = watch.query
        }
    }

    @Test("H12: a listing of any numbers gives its entries, whose sizes make sense", arguments: BoundaryNumbers.texts)
    func listing(_ text: String) async throws {
        func entry(_ href: String, _ properties: String) -> String {
            "<d:response><d:href>\(href)</d:href><d:propstat><d:prop>\(properties)</d:prop>"
                + "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
        }
        let dates = BoundaryNumbers.httpDates
        let files = dates.indices.map { index in
            entry(
                "/d/\(index)",
                "<d:resourcetype/><d:getcontentlength>\(text)</d:getcontentlength><oc:size>\(text)</oc:size>"
                    + "<d:getlastmodified>\(dates[index])</d:getlastmodified>"
                    + "<d:quota-used-bytes>\(text)</d:quota-used-bytes>")
        }
        let document =
            #"<d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">"#
            + entry("/d/", "<d:resourcetype><d:collection/></d:resourcetype><oc:size>\(text)</oc:size>")
            + files.joined()
            + "<d:response><d:href>/d/x</d:href><d:status>HTTP/1.1 \(text) X</d:status></d:response></d:multistatus>"
        let transport = ScriptedTransport { _, number throws(TransportError) in
            if number == 0 { return .status(404) }
            return .status(207, ["Date": text], number == 1 ? Document.multistatus(["/d/"]) : document)
        }
        let connection = Connection("https://h/d/", over: transport)
        _ = try await connection.connect()
        let items = Items()
        do {
            _ = try await connection.listings.list(.root) { items.all += $0 }
        } catch let error as ConnectionError {
            // A status line may make the whole listing fail.
            #expect(error.kind == .protocolViolation, "\(error)")
            return
        }
        #expect(items.all.count >= dates.count, "\(items.all.count)")
        #expect(items.all.allSatisfy { $0.size == OutsideNumber.size(text.trimmingSpaces) })
    }

    private final class Items { var all: [ListedItem] = [] }
}

extension String {
    fileprivate var trimmingSpaces: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}
