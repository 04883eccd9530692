/// Borrowed UTF-8 text of the host's. It cannot outlive what it was read from; ``copied()`` makes a string that can.
public struct Text: ~Escapable {
    let bytes: UnsafeRawBufferPointer

    /// Who calls this sees to it that the bytes stay.
    @_lifetime(immortal)
    init(unsafe text: larder_str) {
        bytes = UnsafeRawBufferPointer(start: text.ptr, count: Int(text.len))
    }

    public var utf8: Span<UInt8> {
        @_lifetime(copy self)
        get { _overrideLifetime(bytes.bindMemory(to: UInt8.self).span, copying: self) }
    }

    var lent: larder_str {
        larder_str(ptr: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), len: UInt64(bytes.count))
    }

    /// Copies the text into a string, with bytes that are no UTF-8 mended.
    public func copied() -> String { String(decoding: bytes, as: UTF8.self) }

    /// Byte by byte, never normalised.
    public static func == (one: borrowing Text, other: borrowing Text) -> Bool {
        one.bytes.elementsEqual(other.bytes)
    }

    /// Compares byte by byte with a literal, without a copy.
    public static func == (text: borrowing Text, literal: StaticString) -> Bool {
        literal.withUTF8Buffer { text.bytes.elementsEqual($0) }
    }
}

extension larder_str {
    /// A copy that stays until it is freed.
    static func lasting(_ string: String) -> larder_str {
        var string = string
        return string.withUTF8 { utf8 in
            // Never of no bytes: a null pointer would mean an absent string.
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: max(utf8.count, 1))
            UnsafeMutableRawBufferPointer(copy).copyBytes(from: utf8)
            return larder_str(ptr: UnsafePointer(copy.baseAddress), len: UInt64(utf8.count))
        }
    }

    func free() { UnsafeMutablePointer(mutating: ptr)?.deallocate() }
}

/// Copies of strings and bytes, lent to one call of the host's. They are freed when the loan goes.
struct Loan: ~Copyable {
    private var copies: [UnsafeMutableBufferPointer<UInt8>] = []

    mutating func text(_ string: String?) -> larder_str {
        guard let string else { return larder_str() }
        let copy = keep(string.utf8)
        return larder_str(
            ptr: UnsafeRawPointer(copy.baseAddress)?.assumingMemoryBound(to: CChar.self), len: UInt64(string.utf8.count)
        )
    }

    mutating func bytes(_ bytes: [UInt8]?) -> larder_bytes {
        guard let bytes else { return larder_bytes() }
        return larder_bytes(ptr: UnsafePointer(keep(bytes).baseAddress), len: UInt64(bytes.count))
    }

    private mutating func keep(_ bytes: some Collection<UInt8>) -> UnsafeMutableBufferPointer<UInt8> {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        _ = copy.initialize(fromContentsOf: bytes)
        copies.append(copy)
        return copy
    }

    deinit { for copy in copies { copy.deallocate() } }
}
