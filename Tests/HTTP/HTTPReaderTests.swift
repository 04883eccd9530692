import Glibc
import Model
import TestSupport
import Testing
import Threads

@testable import HTTP

/// Messages that arrive on a connection, in whatever pieces.
@Suite struct HTTPReaderTests {
    private func pair() throws -> (PolledSocket, PolledSocket) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        return (try PolledSocket(ends[0]), try PolledSocket(ends[1]))
    }

    private func body(_ reader: HTTPReader) async throws -> String {
        var body: [UInt8] = []
        while let piece = try await reader.next() {
            #expect(!piece.isEmpty)
            body += piece
        }
        return String(decoding: body, as: UTF8.self)
    }

    @Test("Requests that arrive together, or byte by byte, are read one after the other", arguments: [1, 7, 1_000])
    func requests(size: Int) async throws {
        let (client, server) = try pair()
        let sent = Array(
            """
            PUT /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello\r\nGET /b HTTP/1.1\r\n\r\nPUT /c HTTP/1.1\r
            Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\nGET /d HTTP/1.1\r\n\r\n
            """.utf8)
        let writing = Task {
            for start in stride(from: 0, to: sent.count, by: size) {
                try await client.write(Array(sent[start..<min(start + size, sent.count)]))
            }
            client.endWriting()
        }
        let reader = HTTPReader(server)
        var requests: [[String]] = []
        while let head = try await reader.head() {
            reader.begin(try HTTPBody(after: head, isRequest: true))
            requests.append([String(head.words[1]), try await body(reader)])
        }
        try await writing.value
        #expect(requests == [["/a", "hello"], ["/b", ""], ["/c", "abcdefg"], ["/d", ""]])
    }

    @Test("A connection that ends in the middle of a head or of a body is no whole message")
    func cutOff() async throws {
        for text in [
            "GET / HT", "PUT / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhell", "PUT / HTTP/1.1\r\nContent-Length: 5\r\n",
        ] {
            let (client, server) = try pair()
            try await client.write(Array(text.utf8))
            client.endWriting()
            let reader = HTTPReader(server)
            await #expect(throws: HTTPReader.CutOff.self) {
                if let head = try await reader.head() { reader.begin(try HTTPBody(after: head, isRequest: true)) }
                _ = try await body(reader)
            }
        }
        // An answer that tells no length ends with its connection.
        let (server, client) = try pair()
        try await server.write(Array("HTTP/1.1 200 OK\r\n\r\nall".utf8))
        server.endWriting()
        let reader = HTTPReader(client)
        let head = try #require(try await reader.head())
        reader.begin(try HTTPBody(after: head, isRequest: false))
        #expect(try await body(reader) == "all")
    }

    @Test("What begins as no head is refused though its line does not end")
    func greeting() async throws {
        let (client, server) = try pair()
        try await client.write([5, 1, 0])
        await #expect(throws: Failure.self) { _ = try await HTTPReader(server).head() }
    }

    @Test("Empty lines before a head are passed over, and lines after a body have an end")
    func emptyLines() async throws {
        let (client, server) = try pair()
        let reader = HTTPReader(server)
        let writing = Task {
            for _ in 0..<200_000 { try await client.write([13, 10]) }
            let head = "GET /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
            try await client.write(Array(head.utf8))
            while true { try await client.write(Array("a: b\r\n".utf8)) }
        }
        let head = try #require(try await reader.head())
        #expect(head.words[1] == "/a")
        reader.begin(try HTTPBody(after: head, isRequest: true))
        await #expect(throws: Failure.self) { try await reader.skip() }
        writing.cancel()
        server.end()
        _ = await writing.result
    }

    @Test("A client that waits for the answer 100 gets it when its body is read, and none if it is passed over")
    func waiting() async throws {
        for isRead in [true, false] {
            let (client, server) = try pair()
            let head = "PUT / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"
            try await client.write(Array(head.utf8))
            let reader = HTTPReader(server)
            let read = try #require(try await reader.head())
            #expect(read.isWaiting)
            reader.begin(try HTTPBody(after: read, isRequest: true), isWaiting: true)
            let reading = Task {
                if isRead { return try await body(reader) }
                try await reader.skip()
                return ""
            }
            if isRead {
                let answer = try await client.read(atMost: 100)
                #expect(String(decoding: answer, as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
            }
            try await client.write(Array("ok".utf8))
            #expect(try await reading.value == (isRead ? "ok" : ""))
            server.end()
            #expect(try await client.read(atMost: 100).isEmpty)
        }
        #expect(!HTTPHead(line: "PUT / HTTP/1.0", fields: ["expect": "100-continue"]).isWaiting)
    }
}
