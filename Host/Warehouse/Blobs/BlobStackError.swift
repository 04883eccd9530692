/// SQLite's word on what failed in a ``BlobStack``.
public struct BlobStackError: Error, Hashable, Sendable, CustomStringConvertible {
    /// SQLite's extended result code.
    public var code: Int32
    public var message: String

    public init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(message) (SQLite \(code))" }
}
