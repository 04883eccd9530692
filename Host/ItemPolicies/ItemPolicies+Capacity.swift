import Database
import Model
import PluginHost
import Synchronization
import Threads

/// Runs for what processors with a maximum left.
extension ItemPolicies {
    /// It is to be seen soon if there is room again. May be called on any thread.
    func checkCapacity() {
        guard processors.contains(where: \.isPending) else { return }
        state.change { $0.isCapacityDue = true }
        wake.yield()
    }

    /// Another run for each processor that left items, once about half of its records are done.
    func queueWhatWasLeft() async {
        for processor in processors where processor.isPending {
            guard let pacing = Pacing(processor) else { continue }
            do {
                let now = clock.now()
                let isHalfDone = try await database.read { reads in
                    var pacing = pacing
                    try pacing.count(in: reads, now: now)
                    return pacing.isHalfDone
                }
                guard isHalfDone else { continue }
                processor.isPending = false
                state.change { $0.queue.add(capacityOf: processor.plugin) }
            } catch is CancellationError {
                return
            } catch {
                report(Failure(.internal, "The records of \(processor.plugin) cannot be counted: \(error)"))
            }
        }
    }
}
