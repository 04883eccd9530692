import TestSupport
import Testing

@testable import Connection

struct DNSAnswerTests {
    private static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }

    private static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    /// Returns pieces of a name, or of a text, of one length each.
    private static func labels(of length: Int, count: Int) -> [UInt8] {
        let label = [UInt8(length)] + [UInt8](repeating: 97, count: length)
        return Array([[UInt8]](repeating: label, count: count).joined())
    }

    private static func record(_ type: UInt16, _ data: [UInt8]) -> [UInt8] {
        // The record's name is a pointer to the name of the question.
        [0xc0, 12] + number(Int(type)) + number(1) + [0, 0, 0, 9] + number(data.count) + data
    }

    private static func service(_ priority: Int, _ weight: Int, _ port: Int, _ host: [UInt8]) -> [UInt8] {
        record(DNSAnswer.srv, number(priority) + number(weight) + number(port) + host)
    }

    private static func message(_ records: [[UInt8]], code: UInt8 = 0) -> [UInt8] {
        [1, 2, 0x81, 0x80 | code] + number(1) + number(records.count) + number(0) + number(0)
            + name("_caldavs._tcp.example.org")
            + number(33) + number(1) + records.flatMap { $0 }
    }

    private static let rich = message([
        service(10, 1, 443, name("Last.Example.ORG")), service(0, 1, 8443, name("second.example.org")),
        record(5, name("alias.org")), service(0, 5, 443, Array("\u{5}first".utf8) + [0xc0, 26]),
        service(0, 0, 0, [0]), record(DNSAnswer.txt, Array("\u{5}path=".utf8) + Array("\u{4}/dav".utf8)),
    ])

    @Test("D02: services come in the order to try them, names compressed or not, and texts whole")
    func reads() throws {
        let answer = try #require(DNSAnswer(Self.rich))
        #expect(answer.services.map(\.host) == ["first.example.org", "second.example.org", "last.example.org"])
        #expect(answer.services.map(\.port) == [443, 8443, 443] && answer.texts == ["path=/dav"])
        #expect(answer.texts.compactMap(ServiceResolver.path) == ["/dav"])
        #expect(ServiceResolver.path("path=dav") == nil && ServiceResolver.path("txtvers=1") == nil)
    }

    @Test("what is no answer, an error or cut off tells nothing")
    func nonsense() {
        #expect(DNSAnswer([]) == nil && DNSAnswer(Self.message([], code: 3)) == nil)
        for end in Self.rich.indices { #expect(DNSAnswer(Self.rich[..<end]) == nil, "cut at \(end)") }
        // The name in this record points to itself.
        let circle = Self.message([Self.service(0, 0, 1, [0xc0, 61])])
        #expect(DNSAnswer(circle) == nil)
    }

    @Test("names that point in circles, out of the message or on for too long are refused")
    func names() {
        let host = Self.message([]).count + 18
        for name: [UInt8] in [
            [0xc0, UInt8(host)], [0xc0, UInt8(host + 2), 0xc0, UInt8(host)], [1, 97, 0xc0, UInt8(host)], [0xff, 0xff],
            [0xc0], [0x40, 0], [0x80, 0], [3, 97], [1, 97], [],
            Self.labels(of: 63, count: 4) + [0],
        ] {
            #expect(DNSAnswer(Self.message([Self.service(0, 0, 1, name)])) == nil, "\(name)")
        }
        let longest = Self.labels(of: 49, count: 5) + [0]
        #expect(DNSAnswer(Self.message([Self.service(0, 0, 1, longest)]))?.services.first?.host.utf8.count == 249)
    }

    @Test("an answer with other counts than records, or records of other lengths, is refused")
    func counts() {
        let good = Self.message([Self.record(DNSAnswer.txt, Array("\u{4}text".utf8))])
        #expect(DNSAnswer(good)?.texts == ["text"])
        for (at, value) in [(5, 0), (5, 2), (5, 255), (7, 0), (7, 2), (6, 255), (9, 1), (11, 1)] {
            var message = good
            message[at] = UInt8(value)
            #expect(DNSAnswer(message) == nil, "byte \(at) is \(value)")
        }
        #expect(DNSAnswer(good + [0]) == nil)
        #expect(DNSAnswer(Self.message([Self.record(DNSAnswer.txt, [5, 97])])) == nil)
        #expect(DNSAnswer(Self.message([Self.record(DNSAnswer.srv, [0, 1, 0, 1, 0])])) == nil)
        #expect(DNSAnswer(Self.message([Self.record(DNSAnswer.txt, [])]))?.texts == [""])
    }

    @Test("a huge answer is read in time that grows with its length")
    func huge() {
        let text = Self.labels(of: 255, count: 200)
        #expect(DNSAnswer(Self.message([Self.record(DNSAnswer.txt, text)]))?.texts.first?.utf8.count == 51_000)
        let many = Self.message(Array(repeating: Self.service(0, 0, 1, [0xc0, 26]), count: 50_000))
        #expect(DNSAnswer(many)?.services.count == 50_000)
    }
}

@Suite struct DNSAnswerMutationTests {
    @Test("a name server's answer with mistakes is read or refused")
    func mutations() {
        var mutator = Mutator()
        var read = 0
        for _ in 0..<SeededGenerator.rounds() {
            guard let answer = DNSAnswer(mutator.mutate(DNSAnswerTests.sample)) else { continue }
            read += 1
            #expect(answer.services.allSatisfy { $0.host.utf8.count < 1_024 }, "LARDER_TEST_SEED=\(mutator.seed)")
        }
        #expect(read > 0 && read < SeededGenerator.rounds())
    }
}

extension DNSAnswerTests {
    static var sample: [UInt8] { rich }
}
