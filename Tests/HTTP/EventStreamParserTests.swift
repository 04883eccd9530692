import Model
import TestSupport
import Testing

@testable import Connection

struct EventStreamParserTests {
    typealias Event = EventStreamParser.Event

    static let sample =
        "\u{feff}event: share-created\ndata: {\"a\":1}\n\n: keep-alive\n\ndata\r\ndata:  two\r\ndata:three\r\n\r\n"
        + "id: 7\rretry: 9\revent:x\rdata: é\r\revent: lost\n\nevent: cut\ndata: off"

    static func read(_ pieces: [[UInt8]]) throws -> [Event] {
        var parser = EventStreamParser()
        var events: [Event] = []
        for piece in pieces { events += try parser.read(piece) }
        return events
    }

    @Test("O08: events come with their names, however lines end; comments and what is cut off are none")
    func reads() throws {
        #expect(
            try Self.read([Array(Self.sample.utf8)]) == [
                Event(name: "share-created", data: "{\"a\":1}"), Event(name: "message", data: "\n two\nthree"),
                Event(name: "x", data: "é"),
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
            var parser = EventStreamParser()
            let piece = Array(String(repeating: text, count: 1_000).utf8)
            #expect(throws: EventStreamParser.TooLong.self) { for _ in 0..<20 { _ = try parser.read(piece) } }
        }
    }

    @Test("O08: what an event concerns is told by its name")
    func names() {
        for name in ["postprocessing-finished", "item-moved", "folder-created", "file-touched"] {
            #expect(HintSet(streamEvent: name) == .items)
        }
        for name in ["share-removed", "link-created"] { #expect(HintSet(streamEvent: name) == .shares) }
        #expect(HintSet(streamEvent: "space-member-added") == [.shares, .account])
        for name in ["backchannel-logout", "userlog-notification", "message", ""] {
            #expect(HintSet(streamEvent: name) == .account)
        }
        #expect(HintSet(activity: "file_changed") == .items && HintSet(activity: "remote_share") == .shares)
        #expect(HintSet(activity: "shared") == .shares && HintSet(activity: "calendar") == .account)
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
