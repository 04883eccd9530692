import Model
import Testing
import Transfer

@testable import Connection

struct FieldTests {
    @Test(
        "S23: Retry-After is read as seconds or as a date, and nonsense is passed over",
        arguments: [
            ("120", 120), ("0", 0), (" 7 ", 7), ("-5", nil), ("soon", nil), ("", nil), ("99999999", 86_400),
            ("Sat, 21 Nov 2026 10:12:30 GMT", 30), ("Sat, 21 Nov 2026 10:00:00 GMT", 0),
        ] as [(String, Int?)])
    func retryAfter(_ field: String, _ seconds: Int?) throws {
        let now = try #require(Timestamp(rfc3339: "2026-11-21T10:12:00Z"))
        #expect(RetryAfter.duration(field, now: now) == seconds.map { .seconds($0) })
    }

    @Test(
        "Content-Range",
        arguments: [
            ("bytes 10-19/1004", 10, 19, 1004), ("bytes 0-0/1", 0, 0, 1), ("BYTES 10-19/*", 10, 19, nil),
        ] as [(String, Int64, Int64, Int64?)])
    func contentRange(_ field: String, _ first: Int64, _ last: Int64, _ size: Int64?) throws {
        let range = try #require(ContentRange(field))
        #expect(range.first == first && range.last == last && range.size == size)
    }

    @Test(
        "a Content-Range that makes no sense is none",
        arguments: [
            "", "bytes", "bytes */1004", "bytes 19-10/1004", "bytes 10-19/19", "bytes -1-3/9", "items 1-2/3",
            "bytes 1-2",
        ])
    func badContentRange(_ field: String) {
        #expect(ContentRange(field) == nil)
    }

    @Test("checksums: the known ones of any length that fits, the others left out")
    func checksums() {
        let adler = ContentChecksum(.adler32, [0x05, 0xd1, 0x01, 0x8b])
        #expect(ContentChecksum.all(in: "ADLER32:05d1018B") == [adler])
        #expect(ContentChecksum.all(in: "SHA1:zz adler32:05d1018b CRC:00, MD5:00") == [adler])
        let sha = String(repeating: "ab", count: 20)
        #expect(ContentChecksum.all(in: "SHA1:\(sha)") == [ContentChecksum(.sha1, Array(repeating: 0xab, count: 20))])
        #expect(ContentChecksum.all(in: "").isEmpty)
    }

    @Test("S23: waits double up to a cap, lose a random part, and never undercut Retry-After")
    func backoff() {
        let backoff = Backoff(first: .seconds(1), cap: .seconds(60))
        for failures in 1...100 {
            let longest = min(60.0, Double(1 << min(failures - 1, 10)))
            let delay = backoff.delay(afterFailures: failures)
            #expect(delay >= .seconds(longest / 2) && delay <= .seconds(longest))
        }
        #expect(backoff.delay(afterFailures: 1, retryAfter: .seconds(300)) == .seconds(300))
        #expect(Set((0..<50).map { _ in backoff.delay(afterFailures: 8) }).count > 10)
    }

    @Test("credentials print as nothing")
    func secrets() {
        let credentials = Credentials.basic(username: "ada", password: "hunter2")
        #expect(!"\(credentials) \(String(reflecting: credentials))".contains("hunter2"))
    }
}
