import Connection
import Database
import LocalTree
import Model
import Synchronization
import Threads

/// A batch of uploads of small files under way, and its outcomes. One transaction marks the records as sent, before the
/// first request. The files of a folder are confirmed together and concluded in one transaction. What is not ordinary goes
/// on alone: see ``ChangeRun/goOn()``.
final class BatchUpload: UploadBatchReceiver {
    /// What became of an upload.
    enum Outcome: Sendable {
        case changed(Job, ChangeOutcome)
        /// An upload that goes on alone, with the answer to its first request if there is one.
        case goesOn(Job, FirstAnswer?)
    }

    private enum Stage {
        /// Not sent yet.
        case waiting
        case sent
        /// Taken by the server, which is to be asked what it has.
        case made(AnsweredUpload)
        /// Handed over.
        case left
    }

    private struct Entry {
        let job: Job
        let upload: Upload
        let file: BatchedUpload
        /// The number of its folder.
        let folder: Int
    }

    private struct State {
        /// The records of which nobody was told yet what became of them.
        var open: [SyncRecordID: Job]
        var entries: [Entry] = []
        var stages: [Stage] = []
        var folders: [ItemPath] = []
        var outcomes: [Outcome] = []
        var isSignalled = false
        /// Whether no request is under way.
        var isEnded = true
        var run: (any FileBatchRun)?
        var snapshots: SnapshotFolder?
        /// The files whose requests were to end before the requests were known.
        var endedEarly: [Int] = []
        /// Whether the batch goes on after a while, though nothing happens before: files wait for others of their folder.
        var isTimed = false

        /// Tells whether requests of a folder are under way, or to come.
        func isOpen(_ folder: Int) -> Bool {
            stages.indices.contains { file in
                guard entries[file].folder == folder else { return false }
                return switch stages[file] {
                case .waiting, .sent: !isEnded
                case .made, .left: false
                }
            }
        }

        /// Takes the files of a folder out of the batch that the server has taken.
        mutating func takeMade(in folder: Int) -> [(file: Int, answered: AnsweredUpload)] {
            stages.indices.compactMap { file in
                guard entries[file].folder == folder, case .made(let answered) = stages[file] else { return nil }
                stages[file] = .left
                return (file, answered)
            }
        }
    }

    /// Uploads of a folder that are to be confirmed.
    private struct Due {
        var folder: ItemPath
        var files: [(file: Int, answered: AnsweredUpload)] = []
    }

    /// The largest number of files in a batch.
    static let most = 64
    /// The number of small files that are handed out in batches. While the last answers of one batch come and its files are
    /// concluded, others are under way.
    static let handedAhead = 3 * most
    /// The time for which an answered upload waits for others of its folder. After a second the server's clock proves
    /// nothing any more.
    static let longestWait = Duration.milliseconds(300)

    private let jobs: [Job]
    private let context: ActionContext
    private let action: UploadAction
    private let news: Signal
    /// Sent when there may be something to confirm, or no request is under way any more.
    private let answered = Signal()
    private let state: Mutex<State>

    /// - Parameter news: Sent when there are outcomes.
    init(_ jobs: [Job], _ context: ActionContext, news: Signal) {
        (self.jobs, self.context, self.news, action) = (jobs, context, news, UploadAction(context))
        state = Mutex(State(open: Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0) })))
    }

    /// Divides changes into those that can be uploaded together and the others.
    static func divide(_ jobs: [Job], _ context: ActionContext) -> (batches: [[Job]], others: [Job]) {
        guard context.server.takesUploadBatches else { return ([], jobs) }
        var (together, others): ([Job], [Job]) = ([], [])
        for job in jobs { if file(of: job.record, context) != nil { together.append(job) } else { others.append(job) } }
        let batches = stride(from: 0, to: together.count, by: most).map {
            Array(together[$0..<min($0 + most, together.count)])
        }
        return (batches, others)
    }

    /// Tells whether a record is that of an upload that can go in a batch, as far as the record tells.
    static func isOrdinary(_ record: SyncRecord) -> Bool {
        guard case .upload(let upload) = record.action else { return false }
        return upload.size <= BatchedUpload.largest && !record.mayHaveArrived && record.evidence.isCancelled != true
            && upload.begun == nil && (upload.isNew || upload.base != nil)
    }

    /// Returns the file that goes in a batch for a record; nil if it cannot.
    private static func file(of record: SyncRecord, _ context: ActionContext) -> BatchedUpload? {
        guard isOrdinary(record), case .upload(let upload) = record.action else { return nil }
        let file = BatchedUpload(record.path, UploadAction.request(for: upload))
        return context.server.mayUploadInBatch(file) ? file : nil
    }

    // MARK: The run

    /// Uploads the files, and returns when none is in the batch any more. If the task is cancelled, the requests end.
    func run() async throws {
        do {
            try await begin()
            guard !entries.isEmpty else { return }
            context.underWay.begin(self)
            defer { context.underWay.end(self) }
            try await withTaskCancellationHandler {
                send()
                try await conclude()
                try await takeBackUnsent()
            } onCancel: {
                state.withLock { $0.run }?.cancel()
            }
        } catch {
            // No request is under way any more when the engine may go on with the records.
            state.withLock { $0.run }?.cancel()
            await untilEnded()
            guard let failure = error as? Failure, failure.kind == .localIO else { throw error }
            // What is not known to be done is found out by asking the server.
            for job in state.withLock({ $0.open.values.sorted { $0.id < $1.id } }) {
                tell(.changed(job, .failed(.disk(failure))))
            }
        }
    }

    private var entries: [Entry] { state.withLock { $0.entries } }

    /// Marks the records as sent.
    private func begin() async throws {
        let begun = try await context.database.writeTogether { [self] tx in
            try context.records.begin(jobs, in: tx)
        }
        var entries: [Entry] = []
        var folders: [ItemPath] = []
        var numbers: [ItemPath: Int] = [:]
        for (job, record) in zip(jobs, begun) {
            guard let record else {
                tellStale(job)
                continue
            }
            var job = job
            job.record = record
            // The record may have changed since it was read.
            guard case .upload(let upload) = record.action, let file = Self.file(of: record, context) else {
                tell(.goesOn(job, nil))
                continue
            }
            let folder = record.path.parent
            let number = numbers[folder] ?? folders.count
            if number == folders.count {
                folders.append(folder)
                numbers[folder] = number
            }
            entries.append(Entry(job: job, upload: upload, file: file, folder: number))
        }
        let stages = Array(repeating: Stage.waiting, count: entries.count)
        state.withLock { ($0.entries, $0.stages, $0.folders) = (entries, stages, folders) }
        let ended = context.controls.with { state in
            for (file, entry) in entries.enumerated() {
                state.changeEnders[entry.job.id] = { [weak self] in self?.end(file) }
            }
            return entries.indices.filter { state.endedChanges.contains(entries[$0].job.id) }
        }
        for file in ended { end(file) }
    }

    private func send() {
        let files = entries.map(\.file)
        let snapshots = context.tree.openSnapshots()
        state.withLock { ($0.isEnded, $0.snapshots) = (false, snapshots) }
        guard let run = context.server.upload(files, for: self) else {
            for job in leaveAll() { tell(.goesOn(job, nil)) }
            return ended()
        }
        let endedEarly = state.withLock { state in
            if !state.isEnded { state.run = run }
            return state.endedEarly
        }
        for file in endedEarly { run.end(file) }
        if Task.isCancelled { run.cancel() }
    }

    /// Ends the request of a file, for a person who has cancelled the upload.
    private func end(_ file: Int) {
        let (run, unsent) = state.withLock { state -> ((any FileBatchRun)?, Job?) in
            guard case .waiting = state.stages[file] else {
                if state.run == nil { state.endedEarly.append(file) }
                return (state.run, nil)
            }
            state.stages[file] = .left
            return (nil, state.entries[file].job)
        }
        run?.end(file)
        if let unsent { tellEnded(unsent) }
    }

    /// Has the engine read the record of an upload again that a person has cancelled. It then asks what the server has.
    private func tellEnded(_ job: Job) {
        context.controls.with { _ = $0.endedChanges.remove(job.id) }
        tellStale(job)
    }

    /// Takes all files out that are in the batch.
    private func leaveAll() -> [Job] {
        state.withLock { state in
            var left: [Job] = []
            for file in state.entries.indices {
                if case .left = state.stages[file] { continue }
                state.stages[file] = .left
                left.append(state.entries[file].job)
            }
            return left
        }
    }

    /// Has the records of files that were not sent say so.
    private func takeBackUnsent() async throws {
        let unsent = leaveAll()
        guard !unsent.isEmpty else { return }
        try await context.database.writeTogether { tx in
            for job in unsent {
                guard var record = try tx.journal.record(id: job.id) else { continue }
                (record.mayHaveArrived, record.state) = (false, .ready)
                try tx.journal.update(record)
            }
        }
        for job in unsent { tellStale(job) }
    }

    // MARK: Confirming

    /// Confirms and concludes the uploads that the server has taken, folder by folder, until no request is under way.
    private func conclude() async throws {
        try await withThrowingDiscardingTaskGroup { folders in
            while true {
                let (due, isOver, wait) = takeDue()
                for due in due {
                    folders.addTask { [self] in
                        do { try await conclude(due) } catch {
                            // Ends the requests, and with them the wait for answers.
                            state.withLock { $0.run }?.cancel()
                            throw error
                        }
                    }
                }
                if isOver { return }
                if let wait {
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask { [answered] in await answered.wait() }
                        group.addTask { [clock = context.clock] in try? await clock.sleep(wait) }
                        await group.next()
                        group.cancelAll()
                    }
                } else {
                    await answered.wait()
                }
                if Task.isCancelled { await untilEnded() }
            }
        }
    }

    /// Waits for the end of the requests, which were told to end.
    private func untilEnded() async {
        await Task { [self] in while !state.withLock(\.isEnded) { await answered.wait() } }.value
    }

    /// Returns the folders whose uploads are to be confirmed now.
    /// - Returns: The folders; whether nothing comes after them, since no request is under way; and the time after which
    ///   there is more to confirm, if nothing happens before.
    private func takeDue() -> (due: [Due], isOver: Bool, wait: Duration?) {
        let now = context.clock.monotonic()
        return state.withLock { state in
            var first: [Duration?] = Array(repeating: nil, count: state.folders.count)
            for file in state.stages.indices {
                guard case .made(let answer) = state.stages[file] else { continue }
                let folder = state.entries[file].folder
                first[folder] = min(first[folder] ?? answer.time, answer.time)
            }
            var due: [Due] = []
            var wait: Duration?
            for (folder, first) in first.enumerated() {
                guard let first else { continue }
                let age = now - first
                guard state.isOpen(folder), age < Self.longestWait else {
                    due.append(Due(folder: state.folders[folder], files: state.takeMade(in: folder)))
                    continue
                }
                wait = min(wait ?? .seconds(1), Self.longestWait - age)
            }
            state.isTimed = wait != nil
            return (due, state.isEnded, wait)
        }
    }

    /// Asks the server what it has in a folder, and records that.
    private func conclude(_ due: Due) async throws {
        let entries = entries
        var made: [UploadAction.Made] = []
        for (file, result) in await confirm(due, entries) {
            let job = entries[file].job
            if case .success(.made(let effect)) = result {
                made.append(
                    .init(
                        job: job, upload: entries[file].upload, item: effect.item, hasReplaced: effect.hasReplaced))
            } else if context.controls.with({ $0.endedChanges.contains(job.id) }) {
                tellEnded(job)
            } else {
                tell(.changed(job, try await ChangeRun(action, job).conclude(result)))
            }
        }
        guard !made.isEmpty else { return }
        context.callbacks.tell(.changed(made.flatMap { $0.job.record.changedPlaces }))
        let outcomes = try await action.conclude(made)
        await context.snapshots.removeSpent()
        context.controls.with { state in for made in made { state.endedChanges.remove(made.job.id) } }
        for (made, outcome) in zip(made, outcomes) { tell(.changed(made.job, outcome)) }
    }

    /// Finds out what the server has in a folder.
    private func confirm(
        _ due: Due, _ entries: [Entry]
    ) async -> [(Int, Result<ChangeResult<UploadAction.Effect>, any Error>)] {
        let found = await context.server.confirm(in: due.folder, due.files.map(\.answered)) { [action] in
            await action.countEntries(of: due.folder)
        }
        return await withTaskGroup(of: (Int, Result<ChangeResult<UploadAction.Effect>, any Error>).self) { group in
            var results: [(Int, Result<ChangeResult<UploadAction.Effect>, any Error>)] = []
            for (file, answered) in due.files {
                if let found = found[answered.path], let result = action.made(answered, found) {
                    results.append((file, .success(result)))
                    continue
                }
                group.addTask { [action, upload = entries[file].upload] in
                    do {
                        return (file, .success(try await action.confirm(upload, answered, found[answered.path])))
                    } catch {
                        return (file, .failure(error))
                    }
                }
            }
            for await result in group { results.append(result) }
            return results
        }
    }

    // MARK: Outcomes

    func takeOutcomes() -> [Outcome] {
        state.withLock { state in
            defer { (state.outcomes, state.isSignalled) = ([], false) }
            return state.outcomes
        }
    }

    private func tellStale(_ job: Job) {
        tell(.changed(job, .resolved(RecordOutcome(record: job.id, resolution: .stale))))
    }

    private func tell(_ outcome: Outcome) {
        let job =
            switch outcome {
            case .changed(let job, _), .goesOn(let job, _): job
            }
        // Before anybody hears of it: who goes on with the upload alone can be ended otherwise.
        context.controls.with { $0.changeEnders[job.id] = nil }
        let signals = state.withLock { state in
            state.open[job.id] = nil
            state.outcomes.append(outcome)
            defer { state.isSignalled = true }
            return !state.isSignalled
        }
        if signals { news.send() }
    }

    /// The transfers under way.
    var transfers: [TransferUnderWay] {
        let (entries, stages) = state.withLock { ($0.entries, $0.stages) }
        return zip(entries, stages).compactMap { entry, stage in
            guard case .sent = stage else { return nil }
            return TransferUnderWay(
                .upload, record: entry.job.id, path: entry.job.path, bytes: 0, size: entry.upload.size)
        }
    }

    // MARK: The server's thread

    func mayStart(_ file: Int) -> Bool {
        let isWaiting = state.withLock { state in
            guard case .waiting = state.stages[file] else { return false }
            state.stages[file] = .sent
            return true
        }
        guard isWaiting else { return false }
        // Nobody else changes the record of a change that may have been sent.
        guard context.controls.with({ $0.flags.isOnline }) else {
            state.withLock { $0.stages[file] = .waiting }
            return false
        }
        return true
    }

    func read(_ file: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool {
        let (snapshots, name) = state.withLock { ($0.snapshots, $0.entries[file].upload.snapshot) }
        do {
            guard let snapshot = try snapshots?.snapshot(name) else { return false }
            let source = SnapshotSource(snapshot)
            guard source.size == memory.count else { return false }
            var done = 0
            while done < memory.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done...])
                let count = try source.read(at: Int64(done), into: rest)
                guard count > 0 else { return false }
                done += count
            }
            try source.check()
            return true
        } catch {
            return false
        }
    }

    func end(_ file: Int, _ end: UploadBatchEnd) {
        let now = context.clock.monotonic()
        let (entry, isDue) = state.withLock { state in
            let entry = state.entries[file]
            state.stages[file] =
                if case .made(let answer) = end {
                    .made(AnsweredUpload(entry.file.path, entry.file.request, answer, at: now))
                } else {
                    .left
                }
            return (entry, !state.isTimed || !state.isOpen(entry.folder))
        }
        switch end {
        case .made: context.counters.change { $0.bytesDone = $0.bytesDone.adding(entry.upload.size) }
        case .first(let answer): tell(.goesOn(entry.job, answer))
        case .unread: tell(.goesOn(entry.job, nil))
        case .cancelled: tellEnded(entry.job)
        }
        if isDue { answered.send() }
    }

    func ended() {
        state.withLock { ($0.isEnded, $0.run, $0.snapshots) = (true, nil, nil) }
        answered.send()
    }
}
