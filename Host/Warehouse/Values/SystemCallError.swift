import Glibc

/// An error of a system call.
public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name, such as `fsync`.
    public var call: String
    /// The path that the call was made for.
    public var path: String
    /// The error number, as in `errno`.
    public var code: Int32

    /// Creates an error of a system call.
    public init(call: String, path: String, code: Int32) {
        self.call = call
        self.path = path
        self.code = code
    }

    public var description: String { "\(call) \(path): \(String(cString: strerror(code)))" }
}
