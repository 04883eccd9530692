import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import larder

@Suite struct ServiceNoticesTests {
    /// Returns the message for a state, and takes it as sent.
    private func tell(_ notices: inout ServiceNotices, _ state: ServiceState, at now: Duration) -> String? {
        guard let (message, after) = notices.next(state, at: now) else { return nil }
        notices = after
        return message
    }

    @Test("H10: ready and stopping are told once, a status when it changes, and not more often than every two seconds")
    func changes() {
        var notices = ServiceNotices(watchdog: nil)
        var state = ServiceState(status: "opening")
        #expect(tell(&notices, state, at: .zero) == "STATUS=opening")
        #expect(tell(&notices, state, at: .seconds(10)) == nil)
        state.isReady = true
        state.status = "online"
        #expect(tell(&notices, state, at: .seconds(11)) == "READY=1\nSTATUS=online")
        for (time, expected) in [(11.5, nil), (12.9, nil), (13, "STATUS=3 files"), (14, nil)] {
            state.status = "3 files"
            #expect(tell(&notices, state, at: .seconds(time)) == expected, "\(time)")
        }
        // A short return to an old status is not told, and an account that is opened again changes nothing.
        state.isReady = false
        #expect(tell(&notices, state, at: .seconds(20)) == nil)
        (state.isStopping, state.status) = (true, "closing")
        #expect(tell(&notices, state, at: .seconds(20)) == "STOPPING=1\nSTATUS=closing")
        state.isReady = true
        #expect(tell(&notices, state, at: .seconds(30)) == nil)
    }

    @Test("H8, H10: each reload is told, and its end, also of one that ended before it was told")
    func reloads() {
        var notices = ServiceNotices(watchdog: nil)
        var state = ServiceState(isReady: true)
        #expect(tell(&notices, state, at: .zero) == "READY=1")
        state.reloads.begin(at: .milliseconds(1500))
        #expect(tell(&notices, state, at: .seconds(1)) == "RELOADING=1\nMONOTONIC_USEC=1500000")
        #expect(tell(&notices, state, at: .seconds(1)) == nil)
        state.reloads.end()
        #expect(tell(&notices, state, at: .seconds(2)) == "READY=1")
        state.reloads.begin(at: .seconds(3))
        state.reloads.end()
        #expect(tell(&notices, state, at: .seconds(3)) == "RELOADING=1\nMONOTONIC_USEC=3000000")
        #expect(tell(&notices, state, at: .seconds(3)) == "READY=1")
        #expect(tell(&notices, state, at: .seconds(3)) == nil)
    }

    @Test("H10: a host is ready when no account is being opened and one goes on; its status names each, on one line")
    func phases() {
        let waiting = AccountPhase.waiting(Failure(.localIO, "the disk\nis full"))
        let cases: [([String: AccountPhase], Bool, String)] = [
            (["b": .opening, "a": waiting], false, "a: waits: the disk\\nis full; b: opening the vault"),
            (["b": .ended, "a": waiting], true, "a: waits: the disk\\nis full; b: ended"),
            (["a": .ended], false, "a: ended"),
        ]
        for (phases, isReady, status) in cases {
            let state = phases.state(isStopping: true)
            #expect(state == ServiceState(isReady: isReady, isStopping: true, status: status))
        }
    }

    @Test("H10: what could not be sent is told again")
    func unsent() {
        let notices = ServiceNotices(watchdog: .seconds(2))
        let state = ServiceState(isReady: true, status: "online")
        let first = notices.next(state, at: .zero)?.message
        #expect(first == "READY=1\nSTATUS=online\nWATCHDOG=1")
        #expect(notices.next(state, at: .seconds(1))?.message == first)
    }

    @Test("H10: a sign of life goes out when half the watchdog's time is over, and the pauses are made for it")
    func watchdog() {
        var notices = ServiceNotices(watchdog: .seconds(3))
        let state = ServiceState()
        var (now, signs) = (Duration.zero, [Duration]())
        for _ in 0..<100 where now < .seconds(12) {
            if tell(&notices, state, at: now) == "WATCHDOG=1" { signs.append(now) }
            now += notices.pause(at: now)
        }
        #expect(signs == (0..<8).map { .milliseconds(1500 * $0) })
        #expect(ServiceNotices(watchdog: nil).pause(at: .zero) == .seconds(1))
        var hasty = ServiceNotices(watchdog: .microseconds(1))
        _ = tell(&hasty, state, at: .zero)
        #expect(hasty.pause(at: .zero) == .milliseconds(10))
    }

    @Test("H10: the manager is the one that the environment names, and its watchdog is heeded by the process it means")
    func environment() {
        let all = ["NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "7"]
        #expect(ServiceManager(all, process: 7)?.watchdog == .seconds(2))
        #expect(ServiceManager(all, process: 8).map { $0.watchdog == nil } == true)
        #expect(ServiceManager(all.filter { $0.key != "WATCHDOG_PID" }, process: 8)?.watchdog == .seconds(2))
        for usec in ["", "0", "-1", "1s", "99999999999999999999", "9223372036854775807"] {
            let manager = ServiceManager(["NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": usec], process: 1)
            #expect(manager?.watchdog == nil || usec.hasPrefix("92"), "\(usec)")
        }
        for address in ["", "/", "@", "relative", "vsock:2:1234", "/" + String(repeating: "x", count: 107)] {
            #expect(ServiceManager(["NOTIFY_SOCKET": address], process: 1) == nil, "\(address)")
        }
        #expect(ServiceManager([:], process: 1) == nil)
    }

    @Test("H10: no sign of life goes out while the host's own threads do not answer; the last message is the stop")
    func proof() async throws {
        try await withTemporaryFolder { folder in
            let receiver = try NotifyReceiver("@\(folder)/notify")
            let environment = ["NOTIFY_SOCKET": receiver.address, "WATCHDOG_USEC": "1000000"]
            let manager = try #require(ServiceManager(environment, process: 1))
            let (clock, gate) = (TestClock(), Gate())
            let asked = Mutex(0)
            let state = Mutex(ServiceState(isReady: true, status: "online"))
            let reporter = ServiceReporter(
                manager, clock: clock.host, logger: Logger(label: "") { _ in SwiftLogNoOpLogHandler() },
                state: { state.withLock { $0 } },
                proof: {
                    let turn = asked.withLock { asked in
                        asked += 1
                        return asked
                    }
                    // Each message is followed by one more turn, because it may leave something to tell.
                    if turn == 5 { await gate.pass() }
                })
            let running = Task { await reporter.run() }
            await until { receiver.count("WATCHDOG=1") == 1 && clock.deadlines == [.milliseconds(500)] }
            #expect(receiver.lines == ["READY=1", "STATUS=online", "WATCHDOG=1"])
            clock.advance(.milliseconds(500))
            await until { receiver.count("WATCHDOG=1") == 2 && clock.deadlines == [.seconds(1)] }
            clock.advance(.seconds(60))
            await until { asked.withLock { $0 } == 5 }
            #expect(receiver.count("WATCHDOG=1") == 2)
            gate.open()
            await until { receiver.count("WATCHDOG=1") == 3 && clock.deadlines.count == 1 }
            // A check that is requested comes before its time.
            state.withLock { $0.isStopping = true }
            reporter.check()
            await until { receiver.count("STOPPING=1") == 1 }
            running.cancel()
            await running.value
            #expect(receiver.receive().last == "STOPPING=1")
        }
    }
}
