import Connection
import Model

/// The times at which folders that could not be listed are tried again: each folder for itself, after growing pauses. A
/// value without I/O. Times are on the monotonic clock.
package struct FolderRetries {
    /// The pause after the first failure.
    package static let firstPause: Duration = .seconds(2)
    static let longestPause: Duration = .seconds(3600)

    private var folders: [ItemPath: (failures: Int, due: Duration)] = [:]

    /// Tells whether a folder must not be listed yet.
    func waits(_ folder: ItemPath, at now: Duration) -> Bool { folders[folder].map { $0.due > now } ?? false }

    /// The time when the next folder is due, or nil if no folder failed.
    var next: Duration? { folders.values.map(\.due).min() }

    /// Takes the failures of a scan that has ended.
    /// - Parameter ofAll: Whether the scan tried all folders. Otherwise it tried the folders that do not wait.
    mutating func take(_ failed: [ItemPath: ConnectionError], ofAll: Bool, at now: Duration) {
        var folders = self.folders.filter { !ofAll && $0.value.due > now }
        for (path, error) in failed {
            let failures = (self.folders[path]?.failures ?? 0) + 1
            folders[path] = (failures, now + max(Self.pause(afterFailures: failures), error.retryAfter ?? .zero))
        }
        self.folders = folders
    }

    /// Returns the pause after a number of failures in a row.
    package static func pause(afterFailures failures: Int) -> Duration {
        var pause = firstPause
        for _ in 1..<max(1, failures) where pause < longestPause { pause = min(pause * 2, longestPause) }
        return pause
    }
}
