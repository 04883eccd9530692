import HTTP
import TestSupport
import Testing

struct EventStreamParserTests {
    typealias Event = EventStreamParser.Event

    static let sample =
        "\u{feff}event: share-created\ndata: {\"a\":1}\n\n: keep-alive\n\ndata\r\ndata:  two\r\ndata:three\r\n\r\n"
        + "id: 7\rretry: 9\revent:x\rdata: é\r\revent: lost\n\nevent: cut\ndata: off"

    static func read(_ pieces: [[UInt8]]) throws -> [Event] {
        var parser = EventStreamParser(longest: 65_536)
        var events: [Event] = []
        for piece in pieces { events += try parser.read(piece) }
        return events
    }

    @Test("O08: events come with their names, however lines end; comments and what is cut off are none")
    func reads() throws {
        #expect(
            try Self.read([Array(Self.sample.utf8)]) == [
                Event(name: "share-created", data: Array("{\"a\":1}".utf8)),
                Event(name: "message", data: Array("\n two\nthree".utf8)), Event(name: "x", data: Array("é".utf8)),
            ])
    }

    @Test("a stream reads the same wherever it is cut")
    func cuts() throws {
        var mutator = Mutator()
        let whole = try Self.read([Array(Self.sample.utf8)])
        for _ in 0..<200 {
            #expect(try Self.read(mutator.cut(Array(Self.sample.utf8))) == whole, "LARDER_TEST_SEED=\(mutator.seed)")
        }
        #expect(try Self.read(Self.sample.utf8.map { [$0] }) == whole)
    }

    @Test("a line or an event without end is refused before it fills the memory")
    func endless() {
        for text in ["aaaaaaaa", "data: aaaaaaaa\n"] {
            var parser = EventStreamParser(longest: 65_536)
            let piece = Array(String(repeating: text, count: 1_000).utf8)
            #expect(throws: EventStreamParser.TooLong.self) { for _ in 0..<20 { _ = try parser.read(piece) } }
        }
    }

    @Test("the limit of an event holds for its lines together and for each alone, and begins anew with the next")
    func limit() throws {
        for (text, isLong) in [
            ("data:\(String(repeating: "a", count: 95))\n\n", false),
            ("data:\(String(repeating: "a", count: 96))\n\n", true),
            (String(repeating: "data:\(String(repeating: "a", count: 39))\n", count: 2) + "\n", false),
            (String(repeating: "data:\(String(repeating: "a", count: 39))\n", count: 3) + "\n", true),
        ] {
            for pieces in [[Array(text.utf8)], text.utf8.map { [$0] }] {
                var parser = EventStreamParser(longest: 100)
                var isRefused = false
                do {
                    for piece in pieces + pieces { _ = try parser.read(piece) }
                } catch { isRefused = true }
                #expect(isRefused == isLong, "\(text)")
            }
        }
    }

    @Test("a stream is between two events before its first line and after each empty one")
    func between() throws {
        for (text, isBetween) in [
            ("", true), ("d", false), ("data: x\n", false), ("data: x\n\n", true), (": comment\n", false),
            ("data: x\n\nevent: y\n", false), ("data: x\r\n\r\n", true),
        ] {
            var parser = EventStreamParser(longest: 100)
            _ = try parser.read(text.utf8)
            #expect(parser.isBetweenEvents == isBetween, "\(text)")
        }
    }
}

@Suite struct EventStreamMutationTests {
    @Test("a stream with mistakes is read the same however it is cut")
    func mutations() {
        var mutator = Mutator(words: ["event:", "data:", "\r", "\n\n", ":", "data: x\n\n"])
        for _ in 0..<SeededGenerator.rounds() {
            let bytes = mutator.mutate(EventStreamParserTests.sample.utf8)
            let whole = try? EventStreamParserTests.read([bytes])
            #expect(
                whole == (try? EventStreamParserTests.read(mutator.cut(bytes))), "LARDER_TEST_SEED=\(mutator.seed)")
        }
    }
}
