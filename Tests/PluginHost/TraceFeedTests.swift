import Model
import Synchronization
import Testing

@testable import PluginHost

@Suite struct TraceFeedTests {
    private static let plugin = PluginID("a.b")

    @Test("Calls are traced while somebody listens and there is no file, and go to the listeners of that account alone")
    func wanted() {
        let feeds = TraceFeeds()
        let calls = AccountTrace(to: nil, feeds, of: "home").calls(of: Self.plugin)
        #expect(!calls.isWanted)
        let other = feeds.listen(to: Self.plugin, in: "work") { _ in }
        #expect(!calls.isWanted)
        let woken = Mutex(0)
        let listeners = (0..<2).map { _ in
            feeds.listen(to: Self.plugin, in: "home") { _ in woken.withLock { $0 += 1 } }
        }
        #expect(calls.isWanted)
        let time = Timestamp(seconds: 1_795_255_920)
        for _ in 0..<2 { calls.begin(TracedCall(plugin: Self.plugin, call: "start"), at: time) }
        // What is there to take is told once.
        #expect(woken.withLock(\.self) == 2)
        let members =
            #""account":"home","time":"2026-11-21T10:12:00Z","plugin":"a.b","call":"start","trigger":null,"path":null,"#
            + #""loop":null,"phase":"begin"}"#
        for listener in listeners {
            #expect(listener.take() == [#"{"seq":1,"# + members, #"{"seq":2,"# + members])
            #expect(listener.take().isEmpty)
        }
        calls.begin(TracedCall(plugin: Self.plugin, call: "start"), at: time)
        #expect(woken.withLock(\.self) == 4)
        #expect(other.take().isEmpty)
        for listener in listeners { listener.end() }
        #expect(!calls.isWanted)
        #expect(!AccountTrace(to: nil, nil, of: "home").calls(of: Self.plugin).isWanted)
    }

    @Test("What a listener does not take is left out above a size, in one piece, and counted")
    func leftOut() {
        let feeds = TraceFeeds()
        let trace = AccountTrace(to: nil, feeds, of: "home")
        let listener = feeds.listen(to: Self.plugin, in: "home") { _ in }
        let path = "/" + String(repeating: "x", count: 10_000)
        func drop(_ count: Int) {
            for _ in 0..<count {
                trace.dropped("download", path: { path }, by: Self.plugin, because: "", at: Timestamp(seconds: 0))
            }
        }
        drop(1_000)
        let taken = listener.take()
        let kept = taken.count - 1
        #expect(taken.dropLast().reduce(0) { $0 + $1.utf8.count } < TraceListener.mostBytes + 30_000)
        #expect(kept > 50)
        #expect(taken.last == #"{"account":"home","plugin":"a.b","phase":"leftOut","count":\#(1_000 - kept)}"#)
        drop(1)
        // The numbers tell of the gap too.
        let next = listener.take()
        #expect(next.count == 1 && next[0].hasPrefix(#"{"seq":1001,"#))
    }
}
