import Model
import TestSupport
import Testing

@testable import HTTP

/// Messages as values.
@Suite struct HTTPHeadTests {
    @Test("A head is read when its end has come, whatever its lines end with, and never before")
    func read() throws {
        for end in ["\r\n", "\n"] {
            let text = ["GET /v1/host HTTP/1.1", "Host: x", "X-A:  one\t", "x-a:two", "", ""].joined(separator: end)
            let bytes = Array((text + "body").utf8)
            let (head, count) = try #require(try HTTPHead.read(bytes))
            #expect(head.words == ["GET", "/v1/host", "HTTP/1.1"] && head.fields == ["host": "x", "x-a": "one, two"])
            #expect(count == text.utf8.count)
            for count in 0..<text.utf8.count { #expect(try HTTPHead.read(bytes.prefix(count)) == nil) }
        }
    }

    @Test(
        "A head that makes no sense is refused in words",
        arguments: [
            "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\n: no name\r\n\r\n",
            "GET / HTTP/1.1\r\n folded\r\n\r\n",
            "GET / HTTP/1.1\r\nX y: z\r\n\r\n", "GET /\u{1} HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nX: a\rb\r\n\r\n",
            // The greeting of SOCKS5, after which a client waits.
            "\u{5}\u{1}",
            "GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 51) + "\r\n",
            String(repeating: "a", count: 65_536), "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 70_000),
        ])
    func refused(text: String) {
        let failure = #expect(throws: Failure.self) { try HTTPHead.read(Array(text.utf8)) }
        #expect(failure?.kind == .badData)
    }

    @Test("A head of bytes that are not UTF-8 is refused")
    func bytes() {
        #expect(throws: Failure.self) { try HTTPHead.read(Array("GET /".utf8) + [0xFF, 13, 10, 13, 10]) }
    }

    @Test("A body is the same in one piece and byte by byte, and ends where it should", arguments: [true, false])
    func body(isWhole: Bool) throws {
        let cases: [(fields: [String: String], bytes: String, body: String, isWhole: Bool, rest: String)] = [
            (["content-length": "3"], "abcdef", "abc", true, "def"),
            (["content-length": "3, 3"], "abc", "abc", true, ""),
            (["content-length": "0"], "abc", "", true, "abc"),
            (["content-length": "9"], "abc", "abc", false, ""),
            ([:], "abc", "", true, "abc"),
            (
                ["transfer-encoding": "Chunked"], "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\nrest", "abc0123456789",
                true, "rest"
            ),
            (["transfer-encoding": "chunked"], "1\na\n0\nTrailer: x\n\n", "a", true, ""),
            (["transfer-encoding": "chunked"], "3\r\nabc\r\n0\r\n", "abc", false, ""),
        ]
        for example in cases {
            var reader = try HTTPBody(after: HTTPHead(line: "", fields: example.fields), isRequest: true)
            var body: [UInt8] = []
            var rest = ArraySlice<UInt8>()
            for part in isWhole ? [Array(example.bytes.utf8)] : example.bytes.utf8.map({ [$0] }) {
                rest += part
                body += try reader.take(&rest)
            }
            #expect(body == Array(example.body.utf8) && reader.isWhole == example.isWhole, "\(example)")
            #expect(rest.elementsEqual(example.rest.utf8), "\(example)")
        }
        var answer = try HTTPBody(after: HTTPHead(line: ""), isRequest: false)
        var two: ArraySlice<UInt8> = [1, 2]
        #expect(try answer.take(&two) == [1, 2] && answer.endsWithConnection && !answer.isWhole)
    }

    @Test(
        "A body whose length is told twice, or makes no sense, is refused",
        arguments: [
            (["content-length": "1, 2"], ""), (["content-length": "-1"], ""), (["content-length": ""], ""),
            (["content-length": "99999999999999999999"], ""), (["content-length": "+1"], ""),
            (["content-length": "1", "transfer-encoding": "chunked"], ""), (["transfer-encoding": "gzip"], ""),
            (["transfer-encoding": "chunked"], "x\r\n"), (["transfer-encoding": "chunked"], "\r\n"),
            (["transfer-encoding": "chunked"], "1\r\nab\r\n"), (["transfer-encoding": "chunked"], "FFFFFFFF\r\n"),
            (["transfer-encoding": "chunked"], "-1\r\n"),
        ] as [([String: String], String)])
    func refusedBody(fields: [String: String], bytes: String) {
        let failure = #expect(throws: Failure.self) {
            var reader = try HTTPBody(after: HTTPHead(line: "", fields: fields), isRequest: true)
            var rest = Array(bytes.utf8)[...]
            _ = try reader.take(&rest)
        }
        #expect(failure?.kind == .badData)
    }

    @Test("What is written in pieces is read back, and the last piece ends it")
    func pieces() throws {
        var reader = try HTTPBody(after: HTTPHead(line: "", fields: ["transfer-encoding": "chunked"]), isRequest: false)
        let texts = ["a", String(repeating: "b", count: 70_000), ""]
        var rest = texts.flatMap { HTTPBody.piece(Array($0.utf8)) }[...]
        #expect(try reader.take(&rest) == Array(texts.joined().utf8))
        #expect(reader.isWhole)
    }
}
