import Connection
import Model

/// When folders that could not be listed are asked for again: each alone, after pauses that grow. A value without I/O; times are on the
/// monotonic clock.
package struct FolderRetries {
    package static let firstPause: Duration = .seconds(2)
    static let longestPause: Duration = .seconds(3600)

    private var folders: [ItemPath: (failures: Int, due: Duration)] = [:]

    /// Whether a folder is left alone.
    func waits(_ folder: ItemPath, at now: Duration) -> Bool { folders[folder].map { $0.due > now } ?? false }

    /// When the next folder is due; nil: none failed.
    var next: Duration? { folders.values.map(\.due).min() }

    /// A scan has ended.
    /// - Parameter ofAll: whether it listed all folders; else those that do not wait.
    mutating func take(_ failed: [ItemPath: ConnectionError], ofAll: Bool, at now: Duration) {
        var folders = self.folders.filter { !ofAll && $0.value.due > now }
        for (path, error) in failed {
            let failures = (self.folders[path]?.failures ?? 0) + 1
            folders[path] = (failures, now + max(Self.pause(afterFailures: failures), error.retryAfter ?? .zero))
        }
        self.folders = folders
    }

    package static func pause(afterFailures failures: Int) -> Duration {
        var pause = firstPause
        for _ in 1..<max(1, failures) where pause < longestPause { pause = min(pause * 2, longestPause) }
        return pause
    }
}
