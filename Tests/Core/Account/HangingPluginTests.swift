import Model
import Testing

@testable import Core
@testable import PluginHost

@Suite struct HangingPluginTests {
    @Test("G17: a hanging call may keep the database's log up to a named length; then its account ends for good")
    func longLog() throws {
        let record = CallRecord(plugin: PluginID("a.b"), library: "/nowhere.so")
        Array("/x".utf8).withUnsafeBufferPointer { record.begin("performAction", .item($0)) }
        let note = try #require(record.markHanging(at: Timestamp(seconds: 1)))
        #expect(Failure(hanging: note, logSize: Failure.longestLog) == nil)
        let failure = try #require(Failure(hanging: note, logSize: Failure.longestLog + 1))
        #expect(failure.message.contains("a.b hangs: performAction of /x did not return"))
        for isAlone in [true, false] {
            var restarts = Restarts(isAlone: isAlone)
            #expect(restarts.next(after: failure, worked: .seconds(100)) == .ends)
        }
    }
}
