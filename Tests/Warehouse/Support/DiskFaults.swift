import Glibc
import Synchronization

@testable import Warehouse

/// A filter in front of a storage's system calls that makes calls fail from a certain call on and records the calls.
final class DiskFaults: Sendable {
    struct Passed: Hashable, Sendable {
        var call: Disk.Call
        var path: String
    }

    private struct State {
        var passed: [Passed] = []
        var isArmed = false
        var failing: Range<Int> = Int.max..<Int.max
        var code: Int32 = 0
        var refused: [Disk.Call: Int32] = [:]
    }

    private let state = Mutex(State())

    /// The calls since the last `arm`.
    var passed: [Passed] { state.withLock { $0.passed } }

    /// Starts to count the calls and makes the calls with these numbers fail.
    func arm(failing numbers: Range<Int> = Int.max..<Int.max, with code: Int32 = 0) {
        state.withLock { state in
            state.passed = []
            state.isArmed = true
            state.failing = numbers
            state.code = code
        }
    }

    /// Makes every call from the n-th on fail, so that none of them has any effect, as if the process had been killed
    /// before the n-th call.
    func arm(stoppingAt number: Int) { arm(failing: number..<Int.max, with: ECANCELED) }

    func disarm() { state.withLock { $0.isArmed = false } }

    /// Makes every call of a kind fail, armed or not, as on a file system that does not support the call.
    func refuse(_ call: Disk.Call, with code: Int32) { state.withLock { $0.refused[call] = code } }

    func pass(_ call: Disk.Call, _ path: Path) throws(SystemCallError) {
        let code: Int32? = state.withLock { state in
            guard state.isArmed else { return state.refused[call] }
            state.passed.append(Passed(call: call, path: path.text))
            return state.failing.contains(state.passed.count - 1) ? state.code : state.refused[call]
        }
        if let code { throw SystemCallError(call: call.rawValue, path: path.text, code: code) }
    }
}
