import Connection
import LocalTree
import Model
import Synchronization
import Threads

/// A batch of small downloads under way, and its outcomes. The source calls it for each file on one thread, with what it
/// has received; other threads take the outcomes, many at a time.
final class BatchDownload: FileBatchReceiver, @unchecked Sendable {
    /// What became of a download.
    enum Outcome: Sendable {
        case complete(BatchArrival)
        /// A download that goes on alone, with the answer to its first request if there is one.
        case goesOn(file: Int, FirstAnswer?)
        /// A download that was not started, or was ended for another reason than its own.
        case returned(SyncRecordID)
        /// A download whose record was taken away.
        case cancelled(SyncRecordID)
    }

    private struct UnderWayFile {
        /// Whether the record is marked as started.
        var isMarked = false
        /// The number of bytes that were received.
        var received: Int64 = 0
    }

    private struct State {
        var outcomes: [Outcome] = []
        /// The first file about which nobody has asked whether it may be requested.
        var next = 0
        var underWay: [Int: UnderWayFile] = [:]
        /// The files under way whose records were taken away.
        var takenAway: Set<Int> = []
        /// Whether all requests are to end.
        var isEnded = false
        /// Whether nothing more may start.
        var isRecalled = false
        var isSignalled = false
        /// Whether a file waits for a place.
        var isWaiting = false
        var run: (any FileBatchRun)?
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    let batch: DownloadBatch
    private let context: ActionContext
    private let pool: DownloadPool
    private let state = Mutex(State())
    private let owner: DownloadRoom.Owner
    /// The places in `incoming/`, which belong to the source's thread.
    private let places: IncomingPlaces

    /// - Parameter pool: The downloads that come alone, with which the batch shares the places, and whose signal tells of
    ///   outcomes.
    /// - Throws: `.localIO` if `incoming/` cannot be opened.
    init(_ batch: DownloadBatch, _ context: ActionContext, _ pool: DownloadPool) throws(Failure) {
        (self.batch, self.context, self.pool) = (batch, context, pool)
        owner = context.gauge.owner(batch.entries[0].record, ofBatch: true)
        places = try context.tree.incomingPlaces()
    }

    /// Requests the files, and returns when none is under way any more. If the task is cancelled, the requests end.
    /// - Returns: False if the files cannot be requested in a batch.
    func run() async -> Bool {
        context.gauge.measure(isForced: false)
        let hasRoom = context.room.withLock { room in
            guard room.fits(batch.bytes), !room.holds(owner) else { return false }
            room.begin(owner, missing: batch.bytes)
            return true
        }
        guard hasRoom else {
            returnRest()
            return true
        }
        context.underWay.begin(self)
        context.controls.with { $0.batches.append(self) }
        defer {
            context.underWay.end(self)
            context.controls.with { $0.batches.removeAll { $0 === self } }
            context.room.withLock { $0.end(owner) }
        }
        guard let run = context.source.download(batch.files, for: self) else {
            returnRest()
            return false
        }
        // What was ended before the requests were known is ended now.
        let (isRecalled, isEnded, takenAway) = state.withLock { state in
            if !state.hasEnded { state.run = run }
            return (state.isRecalled, state.isEnded, state.takenAway)
        }
        for file in takenAway { run.end(file) }
        if isEnded { run.cancel() } else if isRecalled { run.stop() } else { goOn() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.waiter = continuation }
                    return state.hasEnded
                }
                if hasEnded { continuation.resume() }
            }
        } onCancel: {
            run.cancel()
        }
        return true
    }

    // MARK: Any thread

    /// Starts no more downloads.
    /// - Returns: Those that were not started.
    func recall() -> [SyncRecordID] {
        let (rest, run) = state.withLock { state in (takeRest(of: &state), state.run) }
        run?.stop()
        return rest
    }

    private func takeRest(of state: inout State) -> [SyncRecordID] {
        guard !state.isRecalled else { return [] }
        state.isRecalled = true
        return batch.entries[state.next...].map(\.record)
    }

    private func returnRest() {
        state.withLock { state in state.outcomes += takeRest(of: &state).map { .returned($0) } }
    }

    func takeOutcomes() -> [Outcome] {
        state.withLock { state in
            defer { (state.outcomes, state.isSignalled) = ([], false) }
            return state.outcomes
        }
    }

    /// Begins requests for which there was no place.
    func goOn() {
        let run = state.withLock { state -> (any FileBatchRun)? in
            guard state.isWaiting, let run = state.run else { return nil }
            state.isWaiting = false
            return run
        }
        run?.goOn()
    }

    /// Ends the request of a record that was taken away, if it is under way.
    func takeAway(_ record: SyncRecordID) {
        let (file, run) = state.withLock { state in
            let file = state.underWay.keys.first { batch.entries[$0].record == record }
            if let file { state.takenAway.insert(file) }
            return (file, state.run)
        }
        if let file { run?.end(file) }
    }

    /// Ends all requests. What was not started is returned.
    func endAll() {
        let run = state.withLock { state in
            state.isEnded = true
            return state.run
        }
        run?.cancel()
    }

    /// Whether records under way are not marked as started.
    var hasUnmarked: Bool { state.withLock { $0.underWay.values.contains { !$0.isMarked } } }

    /// Returns the records under way that must be marked as started. Returns each record once.
    func takeUnmarked() -> [SyncRecordID] {
        state.withLock { state in
            let unmarked = state.underWay.filter { !$0.value.isMarked }.keys
            for file in unmarked { state.underWay[file]?.isMarked = true }
            return unmarked.map { batch.entries[$0].record }
        }
    }

    /// The transfers under way.
    var transfers: [TransferUnderWay] {
        state.withLock { $0.underWay }.map { file, now in
            TransferUnderWay(
                .download, record: batch.entries[file].record, path: batch.path(of: file), bytes: now.received,
                size: batch.files.files[file].size)
        }
    }

    // MARK: The source's thread

    func mayStart(_ file: Int) -> FileBatchStart {
        let record = batch.entries[file].record
        // Noted before, so that a place that becomes free meanwhile is told of.
        state.withLock { $0.isWaiting = true }
        guard pool.takePlace() else { return state.withLock { $0.isRecalled ? .never : .later } }
        // First it is under way, and then nobody may have suspended the record: whoever suspends it later finds it here.
        let isNext = state.withLock { state in
            state.isWaiting = false
            guard !state.isRecalled else { return false }
            (state.next, state.underWay[file]) = (file + 1, UnderWayFile())
            return true
        }
        guard isNext else {
            pool.leavePlace()
            return .never
        }
        // What was recalled since is under way here, and was not brought back.
        let mayStart = context.controls.with { $0.mayStart(record) } && !state.withLock(\.isRecalled)
        // The room was taken for all files when the batch began, and others may have taken it since.
        guard mayStart, !context.gauge.measure(isForced: false).isOverdrawn else {
            finish(file, .returned(record))
            return .never
        }
        tell { _ in }
        return .now
    }

    func begin(_ file: Int, at place: Int, sha1: [UInt8]?) -> Bool {
        places[place].begin(batch.incomingName(of: file), sha1: sha1)
    }

    func take(_ bytes: UnsafeRawBufferPointer, of file: Int, at place: Int) -> Bool {
        do throws(Failure) { try places[place].append(bytes) } catch { return false }
        state.withLock { $0.underWay[file]?.received += Int64(bytes.count) }
        count(Int64(bytes.count))
        return true
    }

    private func count(_ bytes: Int64) {
        context.counters.change { $0.bytesDone += bytes }
        context.room.withLock { $0.received(bytes, by: owner) }
    }

    /// Takes the counted bytes of a download back, since it is not done.
    private func uncount(_ file: Int) {
        let received = state.withLock { $0.underWay[file]?.received ?? 0 }
        if received > 0 { count(-received) }
    }

    func end(_ file: Int, at place: Int, _ end: FileBatchEnd) {
        let entry = batch.entries[file]
        switch end {
        case .complete:
            do throws(Failure) {
                if let result = try places[place].finish(modified: entry.lastModified) {
                    return finish(file, .complete(BatchArrival(batch: batch, file: file, result: result)))
                }
            } catch {
                // Alone, the download finds out what is the matter with the disk.
            }
            uncount(file)
            context.tree.abandonIncoming(batch.incomingName(of: file))
            finish(file, .goesOn(file: file, nil))
        case .first(let answer): finish(file, .goesOn(file: file, answer))
        case .brokenOff:
            uncount(file)
            places[place].leave()
            finish(file, .goesOn(file: file, nil))
        case .cancelled:
            uncount(file)
            places[place].leave()
            let isGone = state.withLock { $0.takenAway.remove(file) != nil }
            if isGone { context.tree.abandonIncoming(batch.incomingName(of: file)) }
            finish(file, isGone ? .cancelled(entry.record) : .returned(entry.record))
        }
    }

    func ended() {
        let waiter = state.withLock { state in
            state.outcomes += takeRest(of: &state).map { .returned($0) }
            (state.hasEnded, state.run) = (true, nil)
            return state.waiter.take()
        }
        waiter?.resume()
    }

    private func finish(_ file: Int, _ outcome: Outcome) {
        // A download that goes on alone keeps its place.
        if case .goesOn = outcome {} else { pool.leavePlace() }
        tell { state in
            state.underWay[file] = nil
            state.outcomes.append(outcome)
        }
    }

    /// Changes the state, and tells the engine that there are outcomes or records to mark, unless it knows.
    private func tell(_ change: (inout sending State) -> Void) {
        let signals = state.withLock { state in
            change(&state)
            defer { state.isSignalled = true }
            return !state.isSignalled
        }
        if signals { pool.signal.send() }
    }
}
