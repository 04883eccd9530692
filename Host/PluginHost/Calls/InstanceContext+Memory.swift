import CLinux
import Logging

/// The memory that stays taken after a plugin's runs of calls.
///
/// Other threads take and free memory meanwhile. What they do evens out over many runs, other than what a plugin loses
/// in each call.
extension InstanceContext {
    /// The growth from which the log tells of it, in bytes.
    static let muchMemory: Int64 = 256 << 20

    func beginMeasure() { memoryBefore = linux_data_memory() }

    func endMeasure() {
        let memory = linux_data_memory()
        guard memory > 0, memoryBefore > 0 else { return }
        grown += memory - memoryBefore
        guard grown >= toldGrowth + Self.muchMemory else { return }
        toldGrowth = grown
        log.write(
            .warning,
            "the memory of the host has grown by \(grown >> 20) MiB during the plugin's calls; "
                + "it may not free what it takes")
    }
}
