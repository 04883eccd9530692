import HTTP
import Model
import TestSupport
import Testing

@testable import larder

/// The reader of a host's answer, by itself.
@Suite struct EventReaderTests {
    private func read(
        _ pieces: [[UInt8]], isStream: Bool = true, status: Int = 200, longest: Int = 100
    ) throws -> (events: [ControlClient.Event], isWhole: Bool) {
        var reader = EventReader(isStream: isStream, status: status, longest: longest)
        var events: [ControlClient.Event] = []
        for piece in pieces { try reader.add(piece) { events.append($0) } }
        let isWhole = try reader.finish { events.append($0) }
        return (events, isWhole)
    }

    @Test("A stream's events are heard one by one, without signs of life, and an end in an event is told")
    func stream() throws {
        let text = ": alive\n\nevent: progress\ndata: {\"a\":1}\n\ndata:\n\ndata: é\n\n"
        let expected = [
            ControlClient.Event(name: "progress", data: Array(#"{"a":1}"#.utf8)),
            ControlClient.Event(name: "message", data: Array("é".utf8)),
        ]
        for pieces in [[Array(text.utf8)], text.utf8.map { [$0] }] {
            let answer = try read(pieces)
            #expect(answer.events == expected && answer.isWhole)
        }
        for end in text.utf8.indices.dropFirst() {
            let answer = try read([Array(text.utf8[..<end])])
            #expect(answer.isWhole == text.utf8[..<end].suffix(2).elementsEqual("\n\n".utf8))
        }
    }

    @Test("An answer that is no stream is one event with its status, and one that is too long is refused")
    func others() throws {
        let answer = try read([Array("{}".utf8), Array("\n".utf8)], isStream: false, status: 404)
        #expect(answer.events == [ControlClient.Event(name: "404", data: Array("{}\n".utf8))] && answer.isWhole)
        for isStream in [true, false] {
            let long = Array(repeating: UInt8(ascii: "a"), count: 101)
            #expect(throws: Failure.self) { try read([long], isStream: isStream) }
            #expect(throws: Failure.self) { try read(long.map { [$0] }, isStream: isStream) }
            #expect(throws: ControlClient.Busy.self) { try read([], isStream: isStream, status: 503) }
        }
    }
}
