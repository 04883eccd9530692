import Database
import Model
import PluginHost
import Synchronization
import Threads

/// Runs for the items that processors with a maximum of records left.
extension ItemPolicies {
    /// Requests a check, soon, whether there is room again for the items that were left. May be called on any thread.
    func checkCapacity() {
        guard processors.contains(where: \.isPending) else { return }
        state.change { $0.isCapacityDue = true }
        wake.yield()
    }

    /// Queues another run for each processor that left items, once about half of its records are done.
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
