import Testing

@testable import Transfer

/// The heads of answers that need no second thought.
@Suite struct OrdinaryHeadTests {
    private func kind(_ lines: String..., ends: String = "\r\n") -> OrdinaryHead {
        let head = Array((lines.joined(separator: ends) + ends + ends).utf8)
        return head.withUnsafeBytes { head in
            Array("\"v1\"".utf8).withUnsafeBytes { OrdinaryHead.of(head, tag: $0, size: 12) }
        }
    }

    @Test("S53: an answer is ordinary by its status, its ETag and its length, whatever else it says")
    func ordinary() {
        #expect(kind("HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12") == .ordinary)
        #expect(kind("HTTP/1.0 200", "content-length:12", "etag:\t\"v1\" \t", "X-A: b", ends: "\n") == .ordinary)
        let sum = (0..<20).map { UInt8($0 * 13) }
        let text = sum.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(
            kind("HTTP/1.1 200 OK", "OC-Checksum: SHA1:\(text.uppercased())", "ETag: \"v1\"", "Content-Length: 12")
                == .withSHA1(.init(bytes: sum)))
    }

    @Test(
        "S53: an answer that differs in anything that matters is not ordinary",
        arguments: [
            ["HTTP/1.1 206 Partial Content", "ETag: \"v1\"", "Content-Length: 12"],
            ["HTTP/1.1 2000 OK", "ETag: \"v1\"", "Content-Length: 12"],
            ["HTTP/2 200", "ETag: \"v1\"", "Content-Length: 12"],
            ["HTTP/1.1 404 Not Found", "ETag: \"v1\"", "Content-Length: 12"],
            ["HTTP/1.1 200 OK", "ETag: \"v2\"", "Content-Length: 12"],
            ["HTTP/1.1 200 OK", "ETag: W/\"v1\"", "Content-Length: 12"],
            ["HTTP/1.1 200 OK", "ETag: \"v1-gzip\"", "Content-Length: 12"],
            ["HTTP/1.1 200 OK", "ETag: v1", "Content-Length: 12"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "ETag: \"v2\"", "Content-Length: 12"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 13"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12", "Content-Length: 13"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12, 12"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: +12"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 99999999999999999999999999"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\""],
            ["HTTP/1.1 200 OK", "Content-Length: 12"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12", "Content-Encoding: gzip"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12", "Transfer-Encoding: chunked"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12", "Content-Range: bytes 0-11/12"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12", "OC-Checksum: MD5:00"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12", "OC-Checksum: SHA1:zz"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12", " folded"],
            ["HTTP/1.1 200 OK", " folded", "ETag: \"v1\"", "Content-Length: 12"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12", "no field"],
            ["HTTP/1.1 200 OK", "ETag: \"v1\"", "Content-Length: 12", ": nothing"],
            ["ICY 200 OK", "ETag: \"v1\"", "Content-Length: 12"],
        ])
    func other(_ lines: [String]) {
        let head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        let kind = head.withUnsafeBytes { head in
            Array("\"v1\"".utf8).withUnsafeBytes { OrdinaryHead.of(head, tag: $0, size: 12) }
        }
        #expect(kind == .other)
    }
}
