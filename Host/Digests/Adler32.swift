/// An Adler-32 checksum (RFC 1950, section 8.2), computed while the bytes stream in.
package struct Adler32: Sendable {
    private var low: UInt32 = 1
    private var high: UInt32 = 0

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        while start < bytes.count {
            // This number of bytes cannot overflow 32 bits before the remainder is taken.
            let end = min(start + 5552, bytes.count)
            for index in start..<end {
                low &+= UInt32(bytes[index])
                high &+= low
            }
            (low, high) = (low % 65_521, high % 65_521)
            start = end
        }
    }

    /// The checksum of the bytes so far, 4 bytes.
    package var value: [UInt8] { [UInt8(high >> 8), UInt8(high & 255), UInt8(low >> 8), UInt8(low & 255)] }
}
