import FoundationEssentials
import Glibc

/// A failure of a test's surroundings, as opposed to a failure of the code under test.
public struct SetupError: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }

    /// Makes the error of a system call that has just failed.
    init(call: String, path: String) {
        self.init("\(call) \(path): \(String(cString: strerror(errno)))")
    }
}

/// Gives `body` the path of a new empty folder. The folder is removed when the scope ends, however it ends.
///
/// Everybody may read the folder, so that servers which give up root's rights can enter it.
/// - Parameter isInMemory: Whether the folder lies in memory, where a sync costs nothing.
public func withTemporaryFolder<Result>(
    isInMemory: Bool = false, isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Result
) async throws -> Result {
    let path = try makeTemporaryFolder(in: isInMemory ? "/dev/shm" : nil)
    defer { Files.remove(path) }
    return try await body(path)
}

/// Gives `body`, which does not suspend, the path of a new empty folder. The folder is removed when the scope ends.
public func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let path = try makeTemporaryFolder()
    defer { Files.remove(path) }
    return try body(path)
}

private func makeTemporaryFolder(in parent: String? = nil) throws -> String {
    let parent = parent ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(parent)/larder-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SetupError(call: "mkdtemp", path: parent) }
    let path = template.withUnsafeBufferPointer {
        String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    guard chmod(path, 0o755) == 0 else { throw SetupError(call: "chmod", path: path) }
    return path
}
