import Glibc

/// A system call that failed.
public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name, such as `fsync`.
    public var call: String
    public var path: String
    /// As in `errno`.
    public var code: Int32

    public init(call: String, path: String, code: Int32) {
        self.call = call
        self.path = path
        self.code = code
    }

    public var description: String { "\(call) \(path): \(String(cString: strerror(code)))" }
}
