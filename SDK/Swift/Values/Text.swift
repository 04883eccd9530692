/// A borrowed UTF-8 text of the host's. It cannot outlive the value that it was read from. ``copied()`` makes a string
/// that can.
///
/// ```swift
/// if let mimeType = item.mimeType, mimeType == "image/jpeg" {
///     host.log?.debug("\(item.name?.copied() ?? "") is a picture")
/// }
/// ```
public struct Text: ~Escapable {
    let bytes: UnsafeRawBufferPointer

    /// Creates a text. The caller makes sure that the bytes outlive it.
    @_lifetime(immortal)
    init(unsafe text: larder_str) {
        bytes = UnsafeRawBufferPointer(start: text.ptr, count: Int(text.len))
    }

    /// The bytes.
    public var utf8: Span<UInt8> {
        @_lifetime(copy self)
        get { _overrideLifetime(bytes.bindMemory(to: UInt8.self).span, copying: self) }
    }

    /// The text as an argument of a function of the host.
    var lent: larder_str {
        larder_str(ptr: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), len: UInt64(bytes.count))
    }

    /// Copies the text into a string. Bytes that are not UTF-8 are replaced with U+FFFD.
    public func copied() -> String { String(decoding: bytes, as: UTF8.self) }

    /// Compares byte by byte, without normalising.
    public static func == (one: borrowing Text, other: borrowing Text) -> Bool {
        one.bytes.elementsEqual(other.bytes)
    }

    /// Compares byte by byte with a literal, without copying.
    public static func == (text: borrowing Text, literal: StaticString) -> Bool {
        literal.withUTF8Buffer { text.bytes.elementsEqual($0) }
    }
}

extension larder_str {
    /// Copies a string into memory that stays until ``free()``.
    static func lasting(_ string: String) -> larder_str {
        var string = string
        return string.withUTF8 { utf8 in
            // The memory has at least one byte: a null pointer would mean an absent string.
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: max(utf8.count, 1))
            UnsafeMutableRawBufferPointer(copy).copyBytes(from: utf8)
            return larder_str(ptr: UnsafePointer(copy.baseAddress), len: UInt64(utf8.count))
        }
    }

    /// Frees a text of ``lasting(_:)``.
    func free() { UnsafeMutablePointer(mutating: ptr)?.deallocate() }
}

/// Copies of strings and bytes that are lent to one call into the host. The end of the loan's life frees them.
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
