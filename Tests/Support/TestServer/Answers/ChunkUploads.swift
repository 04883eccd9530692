import Synchronization

/// The folders in which the server gathers the parts of uploads.
final class ChunkUploads: Sendable {
    private let folders = Mutex<[String: [String: [UInt8]]]>([:])
    private let misuse = Mutex<[String]>([])

    /// The number of folders.
    var count: Int { folders.withLock { $0.count } }

    /// The requests that no client of the server's may send.
    var violations: [String] { misuse.withLock { $0 } }

    func noteViolation(_ text: String) { misuse.withLock { $0.append(text) } }

    /// Makes a folder.
    /// - Returns: Whether there was none of that name.
    func make(_ name: String) -> Bool {
        folders.withLock { folders in
            guard folders[name] == nil else { return false }
            folders[name] = [:]
            return true
        }
    }

    /// Keeps a part.
    /// - Returns: Whether its folder is there.
    func put(_ bytes: [UInt8], _ part: String, in name: String) -> Bool {
        folders.withLock { folders in
            guard folders[name] != nil else { return false }
            folders[name]?[part] = bytes
            return true
        }
    }

    /// Returns the parts in a folder by name; nil if it is not there.
    func parts(in name: String) -> [String: [UInt8]]? { folders.withLock { $0[name] } }

    /// Removes a folder.
    /// - Returns: Whether it was there.
    @discardableResult func remove(_ name: String) -> Bool { folders.withLock { $0.removeValue(forKey: name) != nil } }

    func removeAll() { folders.withLock { $0 = [:] } }
}
