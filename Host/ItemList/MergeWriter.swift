import Database
import Threads

/// Collects what parallel listings have to write and commits it together: few transactions, whatever the number of folders.
actor MergeWriter {
    private struct Work {
        var body: @Sendable (Transaction) throws -> Void
        var done: CheckedContinuation<Void, any Error>
    }

    private let database: Database
    private var waiting: [Work] = []
    private var isWriting = false

    init(database: Database) { self.database = database }

    /// Runs the work in a transaction that may hold others' work too, and returns after the commit.
    /// - Throws: what any work of the transaction threw; then none of it is in the database.
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
