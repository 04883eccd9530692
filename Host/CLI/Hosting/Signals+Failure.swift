import Model
import Threads

extension Signals {
    /// Begins to heed signals.
    /// - Throws: `localIO` if the system lacks a thread or a descriptor.
    init(heeding signals: Int32...) throws(Model.Failure) {
        do throws(ThreadError) { try self.init(signals) } catch {
            throw Model.Failure(.localIO, "the process cannot heed signals: \(errorText(error.code))")
        }
    }
}
