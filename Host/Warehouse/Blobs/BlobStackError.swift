/// An error that SQLite reported for a ``BlobStack``.
public struct BlobStackError: Error, Hashable, Sendable, CustomStringConvertible {
    /// SQLite's extended result code.
    public var code: Int32
    /// SQLite's error message.
    public var message: String

    /// Creates an error from SQLite's result code and message.
    public init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(message) (SQLite \(code))" }
}
