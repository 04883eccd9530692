/// A value that a plugin stored.
public struct KeptValue: Hashable, Sendable {
    /// The key, 1 byte to 1 KiB of any bytes.
    public var key: [UInt8]
    /// The value, at most 1 MiB of any bytes.
    public var value: [UInt8]

    /// Creates a value.
    public init(key: [UInt8], value: [UInt8]) {
        self.key = key
        self.value = value
    }

    /// The bytes that the value takes with its key.
    public var size: Int64 { Int64(key.count + value.count) }
}
