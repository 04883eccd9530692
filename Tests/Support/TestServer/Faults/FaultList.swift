import DemoServer
import Threads

/// The faults that are switched on, and the requests that they hold.
final class FaultList: Sendable {
    private struct Entry: Sendable {
        var fault: Fault
        /// The number of requests that have matched so far.
        var seen = 0
        /// The number of requests held since the fault was switched on.
        var held = 0
    }

    private struct State: Sendable {
        var entries: [Int: Entry] = [:]
        var last = 0
    }

    private let state = Monitor(State())

    func add(_ fault: Fault) -> FaultID {
        state.change { state in
            state.last += 1
            state.entries[state.last] = Entry(fault: fault)
            return FaultID(number: state.last)
        }
    }

    /// Switches a fault off and releases the requests that it held.
    func remove(_ id: FaultID) {
        state.change { $0.entries[id.number] = nil }
    }

    func removeAll() {
        state.change { $0.entries = [:] }
    }

    /// Returns the faults that apply to a request, oldest first. Counts the request for each fault that it matches.
    func faults(method: String, path: String) -> [(id: FaultID, kind: Fault.Kind)] {
        state.change { state in
            var found: [(FaultID, Fault.Kind)] = []
            for number in state.entries.keys.sorted() {
                guard var entry = state.entries[number], entry.fault.fits(method: method, path: path) else { continue }
                entry.seen += 1
                state.entries[number] = entry
                let index = entry.seen - entry.fault.from
                if index >= 0, index < entry.fault.times ?? .max {
                    found.append((FaultID(number: number), entry.fault.kind))
                }
            }
            return found
        }
    }

    /// Waits until a fault is removed.
    func hold(_ id: FaultID) async {
        state.change { $0.entries[id.number]?.held += 1 }
        await state.wait { $0.entries[id.number] == nil }
    }

    /// Waits until a fault has held `count` requests, or is removed.
    func untilHeld(_ id: FaultID, count: Int) async {
        await state.wait { state in
            guard let entry = state.entries[id.number] else { return true }
            return entry.held >= count
        }
    }
}

extension Fault {
    fileprivate func fits(method: String, path: String) -> Bool {
        if let wanted = self.method, wanted != method { return false }
        guard let wanted = self.path else { return true }
        let (wantedPath, given) = (TreePath(wanted), TreePath(path))
        return below ? wantedPath.contains(given) : wantedPath == given
    }
}
