import Database
import Threads

/// A writer that collects the writes of parallel listings and commits them together, so that there are few
/// transactions, whatever the number of folders.
actor MergeWriter {
    private struct Work {
        var body: @Sendable (Transaction) throws -> Void
        var done: CheckedContinuation<Void, any Error>
    }

    private let database: Database
    private var waiting: [Work] = []
    private var isWriting = false

    init(database: Database) { self.database = database }

    /// Runs a write in a transaction that may contain other writes too. Returns after the commit.
    /// - Throws: The error that any write of the transaction threw. None of the writes is in the database then.
    func write(_ body: @escaping @Sendable (Transaction) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append(Work(body: body, done: continuation))
            guard !isWriting else { return }
            isWriting = true
            writer = Task(executorPreference: Workplace.single) { await self.writeAll() }
        }
    }

    private var writer: Task<Void, Never>?

    private func writeAll() async {
        while !waiting.isEmpty {
            let taken = waiting
            waiting = []
            do {
                try await database.write { tx in
                    for work in taken { try work.body(tx) }
                }
                for work in taken { work.done.resume() }
            } catch {
                for work in taken { work.done.resume(throwing: error) }
            }
        }
        isWriting = false
        writer = nil
    }
}
