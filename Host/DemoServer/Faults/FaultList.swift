import Synchronization

/// The faults that are switched on, and the requests that they hold up.
final class FaultList: Sendable {
    private struct Entry {
        var fault: Fault
        /// How many requests fitted so far.
        var seen = 0
        var held: [CheckedContinuation<Void, Never>] = []
        var heldSoFar = 0
        var watchers: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    func add(_ fault: Fault) -> FaultID {
        state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(fault: fault)
            return FaultID(number: state.last)
        }
    }

    /// Switches a fault off and lets go what it held.
    func remove(_ id: FaultID) {
        let entry = state.withLock { $0.entries.removeValue(forKey: id.number) }
        for continuation in entry?.held ?? [] { continuation.resume() }
        for watcher in entry?.watchers ?? [] { watcher.1.resume() }
    }

    func removeAll() {
        let ids = state.withLock { $0.entries.keys.map(FaultID.init) }
        for id in ids { remove(id) }
    }

    /// The faults that concern a request, oldest first. Counts it for each that it fits.
    func faults(method: String, path: String) -> [(id: FaultID, kind: Fault.Kind)] {
        state.withLock { state in
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
        await withCheckedContinuation { continuation in
            let (gone, reached): (Bool, [CheckedContinuation<Void, Never>]) = state.withLock { state in
                guard var entry = state.entries[id.number] else { return (true, []) }
                entry.held.append(continuation)
                entry.heldSoFar += 1
                let count = entry.heldSoFar
                let reached = entry.watchers.filter { $0.count <= count }.map(\.1)
                entry.watchers.removeAll { $0.count <= count }
                state.entries[id.number] = entry
                return (false, reached)
            }
            if gone { continuation.resume() }
            for watcher in reached { watcher.resume() }
        }
    }

    /// Waits until a fault has held `count` requests up, or is gone.
    func untilHeld(_ id: FaultID, count: Int) async {
        await withCheckedContinuation { continuation in
            let already = state.withLock { state in
                guard let entry = state.entries[id.number], entry.heldSoFar < count else { return true }
                state.entries[id.number]?.watchers.append((count, continuation))
                return false
            }
            if already { continuation.resume() }
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
