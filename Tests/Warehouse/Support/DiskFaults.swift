import Glibc
import Synchronization

@testable import Warehouse

/// Stands before a storage's system calls, lets them fail from a certain one on, and writes down which there were.
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

    /// Begins to count, and lets the calls with these numbers fail.
    func arm(failing numbers: Range<Int> = Int.max..<Int.max, with code: Int32 = 0) {
        state.withLock { state in
            state.passed = []
            state.isArmed = true
            state.failing = numbers
            state.code = code
        }
    }

    /// As when the process is killed before its n-th call: nothing that comes after has any effect.
    func arm(stoppingAt number: Int) { arm(failing: number..<Int.max, with: ECANCELED) }

    func disarm() { state.withLock { $0.isArmed = false } }

    /// Lets every call of a kind fail, armed or not, as on a file system that does not have it.
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
