import Foundation
import Model
import TestSupport
import Testing

@testable import PluginHost

/// Tests of how long the host holds back libraries that ended it. The time is injected.
@Suite struct HeldLibrariesTests {
    private let start = Timestamp(seconds: 1_795_255_920)
    private let day = Duration.seconds(86_400)

    private func withLibrary(_ body: (String) throws -> Void) throws {
        try withTemporaryFolder { folder in
            try Files.write("bytes", to: "\(folder)/a.so")
            try body("\(folder)/a.so")
        }
    }

    /// Returns the note that a crash leaves in a record.
    private func note(_ library: String, at time: Timestamp, _ state: UInt32 = 4) -> CallNote? {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: CallBoard.recordSize, alignment: 64)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: CallBoard.recordSize)
        let record = CallRecord(
            memory.assumingMemoryBound(to: CallRecord.Call.self), on: nil, plugin: PluginID("a.b"), library: library)
        Array("/x".utf8).withUnsafeBufferPointer { record.begin("performAction", .item($0)) }
        memory.storeBytes(of: state, as: UInt32.self)
        memory.storeBytes(of: 11, toByteOffset: 4, as: Int32.self)
        memory.storeBytes(of: time.nanoseconds, toByteOffset: 8, as: Int64.self)
        return CallNote(reading: UnsafeRawPointer(memory))
    }

    @Test("G17: a library that crashed is held for ten minutes, and not a second longer")
    func tenMinutes() throws {
        try withLibrary { library in
            var held = HeldLibraries()
            held.add([try #require(note(library, at: start))], now: start)
            let hold = try #require(held.hold(of: library, now: start + .seconds(599)))
            #expect(hold.until == start + .seconds(600))
            #expect(hold.reason.contains("it crashed (SIGSEGV) in performAction of /x"))
            #expect(held.nextEnd(after: start) == start + .seconds(600))
            #expect(held.hold(of: library, now: start + .seconds(600)) == nil)
            #expect(held.nextEnd(after: start + .seconds(600)) == nil)
            // If the clock was set back by more than ten minutes, the library is no longer held.
            #expect(held.hold(of: library, now: start - .seconds(601)) == nil)
        }
    }

    @Test("G17: what an earlier build stored about held libraries is read, and is stored under the same names again")
    func storedNames() throws {
        let call =
            #""plugin":"a.b","library":"/a.so","looks":"1 2 3","call":"performAction","subject":"/x","isAboutLoop":false,"#
            + #""end":"crashed","signal":11,"nanoseconds":5"#
        let stored =
            #"{"libraries":[{"digest":"00ff","path":"/a.so","looks":"1 2 3","isQuarantined":true,"#
            + #""ends":[{"# + call + #"}]}]}"#
        let held = try JSONDecoder().decode(HeldLibraries.self, from: Data(stored.utf8))
        #expect(held.libraries.map(\.mark) == ["1 2 3"] && held.libraries[0].ends.map(\.mark) == ["1 2 3"])
        let written = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(held)) as? NSDictionary
        #expect(written == (try JSONSerialization.jsonObject(with: Data(stored.utf8)) as? NSDictionary))
    }

    @Test("G17: the third end within a day quarantines for good; three over a longer time do not")
    func threeInADay() throws {
        try withLibrary { library in
            var held = HeldLibraries()
            for hours in [0, 11, 23] {
                let time = start + .seconds(hours * 3_600)
                held.add([try #require(note(library, at: time))], now: time)
            }
            let hold = try #require(held.hold(of: library, now: start + day * 100))
            #expect(hold.until == nil && hold.count == 3)
            #expect(held.nextEnd(after: start) == nil)
            var slow = HeldLibraries()
            for hours in [0, 13, 25] {
                let time = start + .seconds(hours * 3_600)
                slow.add([try #require(note(library, at: time))], now: time)
            }
            #expect(slow.hold(of: library, now: start + .seconds(26 * 3_600)) == nil)
            // A note that is found several times counts once.
            let twice = try #require(note(library, at: start))
            var one = HeldLibraries()
            for _ in 0..<3 { one.add([twice], now: start) }
            #expect(one.hold(of: library, now: start)?.count == 1)
        }
    }

    @Test("G17: the same bytes elsewhere are held, other bytes are not, and retry lets go")
    func bytes() throws {
        try withLibrary { library in
            var held = HeldLibraries()
            held.add([try #require(note(library, at: start))], now: start)
            try Files.write("bytes", to: "\(library).copy")
            try Files.write("other bytes", to: "\(library).other")
            #expect(held.hold(of: "\(library).copy", now: start) != nil)
            #expect(held.hold(of: "\(library).other", now: start) == nil)
            let isAnothers = held.release(PluginID("c.d"), library: "/elsewhere")
            let isReleased = held.release(PluginID("a.b"), library: "/elsewhere")
            #expect(!isAnothers && isReleased && held.isEmpty)
            // The library that ended the host no longer exists with the same content.
            let gone = try #require(note(library, at: start))
            try Files.write("yet other bytes", to: library)
            held.add([gone], now: start)
            #expect(held.isEmpty)
        }
    }

    @Test(
        "G17: what was under way when the host was killed holds nothing; a hang and an exit do",
        arguments: [1, 2, 3, 4])
    func kinds(state: UInt32) throws {
        try withLibrary { library in
            var held = HeldLibraries()
            held.add([try #require(note(library, at: start, state))], now: start)
            #expect((held.hold(of: library, now: start) == nil) == (state == 1))
            #expect(note(library, at: start, 0) == nil)
        }
    }

    @Test("G41: a host that vanished holds nothing until the third time in a day; a closed descriptor or fork does")
    func vanished() throws {
        try withLibrary { library in
            var held = HeldLibraries()
            for hour in 0..<3 {
                let now = start + .seconds(hour * 3_600)
                var end = try #require(note(library, at: now))
                end.end = .vanished
                #expect(held.hold(of: library, now: now) == nil)
                held.add([end], now: now)
                #expect(held.remark(on: library, now: now)?.contains("the third time in a day") == true)
            }
            #expect(held.hold(of: library, now: start + day)?.until == nil)
            #expect(held.hold(of: library, now: start + day)?.count == 3)
            for how in [CallNote.End.closed, .forked] {
                var other = HeldLibraries()
                var end = try #require(note(library, at: start))
                end.end = how
                other.add([end], now: start)
                #expect(other.hold(of: library, now: start)?.until == start + .seconds(600))
            }
        }
    }

    @Test("G17: the calls under way are read from the file that the last process left, and its successor begins anew")
    func board() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/calls"
            #expect(CallBoard.notes(at: path).isEmpty)
            let board = try CallBoard(path: path, room: 2)
            let one = try #require(board.record(of: PluginID("a.b"), in: "/a.so"))
            let two = try #require(board.record(of: PluginID("c.d"), in: "/c.so"))
            #expect(board.record(of: PluginID("e.f"), in: "/e.so") == nil)
            let long = Array(repeating: UInt8(ascii: "x"), count: 10_000)
            long.withUnsafeBufferPointer { one.begin("performAction", .item($0)) }
            Array("core".utf8).withUnsafeBufferPointer { two.begin("poll", .loop($0)) }
            #expect(one.markHanging(at: start)?.end == .hung)
            let notes = CallBoard.notes(at: path)
            #expect(notes.map(\.plugin) == ["a.b", "c.d"] && notes.map(\.call) == ["performAction", "poll"])
            #expect(notes.first?.subject?.utf8.count == 3_584 && notes.first?.library == "/a.so")
            // What was in the host's own code, or in a call when another one ended the host, did nothing.
            #expect(notes.map(\.end) == [.hung, .vanished])
            #expect(notes.last?.sentence == "the host ended without a word in poll of the loop core")
            two.setInHost(true)
            #expect(CallBoard.notes(at: path).last?.sentence == "poll of the loop core was under way")
            two.setInHost(false)
            one.end()
            two.end()
            #expect(CallBoard.notes(at: path).isEmpty && one.hanging == nil && one.markHanging(at: start) == nil)
            two.begin("poll", .nothing)
            let next = try CallBoard(path: path, room: 1)
            #expect(CallBoard.notes(at: path).isEmpty)
            withExtendedLifetime((board, next)) {}
        }
    }
}
