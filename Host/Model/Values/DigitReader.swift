/// A reader of the numbers and words in a written time. It is valid as long as the bytes of the text.
struct DigitReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }
    var next: UInt8? { rest.first }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(_ digits: Int) -> Int64? {
        let taken = rest.prefix(digits)
        guard taken.count == digits, taken.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest.removeFirst(digits)
        return taken.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Reads at least one digit of a fraction and returns nanoseconds. Digits after the ninth are dropped.
    mutating func fraction() -> Int64? {
        let taken = rest.prefix(while: { (0x30...0x39).contains($0) })
        guard !taken.isEmpty else { return nil }
        var value: Int64 = 0
        var scale: Int64 = 100_000_000
        for digit in taken {
            value += Int64(digit - 0x30) * scale
            scale /= 10
        }
        rest = rest.dropFirst(taken.count)
        return value
    }

    /// Reads all letters that follow.
    mutating func letters() -> Slice<UnsafeRawBufferPointer> {
        let taken = rest.prefix { (0x41...0x5a).contains($0 & 0xdf) }
        rest = rest.dropFirst(taken.count)
        return taken
    }

    /// Passes over everything up to and including a byte, if there is such a byte.
    mutating func skip(through byte: UInt8) -> Bool {
        guard let place = rest.firstIndex(of: byte) else { return false }
        rest = rest[rest.index(after: place)...]
        return true
    }

    /// Passes over blanks, of which there may be none.
    mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d } }
}
