import Model
import TestSupport
import Testing

@testable import SyncEngine

/// Tests of what keeps downloads that were handed out from starting.
struct ControlsTests {
    @Test("P29: after a change of policies nothing starts before the downloads that were handed out are recalled")
    func recalling() {
        let (controls, record) = (Controls(), 1 as SyncRecordID)
        let mayStart = { controls.with { $0.mayStart(record) } }
        #expect(!mayStart(), "nothing has been read")
        _ = controls.takeFlags()
        controls.letStart()
        #expect(mayStart())

        controls.update { $0.isStale = true }
        #expect(!mayStart())
        #expect(controls.takeFlags().isStale && !mayStart(), "the engine was told, and has not acted")
        // What is told meanwhile takes nothing back.
        controls.update { $0.hasNews = true }
        #expect(!controls.takeFlags().isStale && !mayStart())
        controls.letStart()
        #expect(mayStart())
    }

    @Test("Offline, and for a record that somebody changes, nothing starts either")
    func others() {
        let controls = Controls()
        controls.suspend(1, cancels: false)
        _ = controls.takeFlags()
        controls.letStart()
        #expect(controls.with { !$0.mayStart(1) && $0.mayStart(2) })
        controls.update { $0.isOnline = false }
        controls.letStart()
        #expect(controls.with { !$0.mayStart(2) })
    }
}
