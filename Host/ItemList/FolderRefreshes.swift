package import Model
import Synchronization

/// The folders that a reader of their list wants listed, and when which folder was listed last.
///
/// A folder is asked for once, however many readers want it, and not at all if it has just been listed.
package final class FolderRefreshes: Sendable {
    /// The age up to which a listing is new enough for a reader.
    static let newEnough = Duration.seconds(10)
    /// The number of folders whose times are kept. A folder whose time was dropped may be listed once more than needed.
    private static let mostTimes = 4_096

    private struct State {
        /// When a folder was listed: the time while the machine is awake.
        var times: [ItemPath: Duration] = [:]
        /// The folders that are to be listed.
        var asked: Set<ItemPath> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Notes that a reader wants a folder listed.
    /// - Parameter now: The time while the machine is awake.
    /// - Returns: Whether the folder has to be asked for: it was not listed just now, and nobody has asked for it.
    package func ask(for folder: ItemPath, at now: Duration) -> Bool {
        state.withLock { state in
            if let time = state.times[folder], now - time <= Self.newEnough { return false }
            return state.asked.insert(folder).inserted
        }
    }

    /// The folders that readers wanted listed and that have not been listed yet.
    package var awaited: Set<ItemPath> { state.withLock { $0.asked } }

    /// Notes that a folder was listed.
    /// - Returns: Whether a reader wanted it.
    func noteListed(_ folder: ItemPath, at now: Duration) -> Bool {
        state.withLock { state in
            if state.times.count >= Self.mostTimes {
                state.times = state.times.filter { now - $0.value <= Self.newEnough }
                if state.times.count >= Self.mostTimes { state.times = [:] }
            }
            state.times[folder] = now
            return state.asked.contains(folder)
        }
    }

    /// Notes that all that is known of folders is in the database, or that they are not there.
    package func noteDone(_ folders: Set<ItemPath>) { state.withLock { $0.asked.subtract(folders) } }
}
