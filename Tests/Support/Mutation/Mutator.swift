/// A generator of wrong input from right input. The same seed gives the same mutations; the seed is the one of a
/// ``SeededGenerator``.
public struct Mutator: RandomNumberGenerator {
    private var generator = SeededGenerator()
    private let special: [[UInt8]]

    public var seed: UInt64 { generator.seed }

    /// - Parameter words: words with a meaning in the input. Mutations insert them now and then.
    public init(words: [String] = []) {
        let edges: [[UInt8]] = [
            [0], [0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f], [0x0a], [0x0d, 0x0a], [0x20], [0x7f], [0xef, 0xbb, 0xbf],
        ]
        special = words.map { Array($0.utf8) } + edges
    }

    public mutating func next() -> UInt64 { generator.next() }

    /// Returns the input with a few mistakes in it.
    public mutating func mutate(_ input: some Sequence<UInt8>) -> [UInt8] {
        var bytes = Array(input)
        for _ in 0..<Int.random(in: 1...6, using: &self) { mutateOnce(&bytes) }
        return bytes
    }

    /// Returns the input with a few mistakes in it, as text. Bytes that are no longer valid UTF-8 are replaced as
    /// decoders replace them.
    public mutating func mutate(_ input: String) -> String { String(decoding: mutate(input.utf8), as: UTF8.self) }

    /// Returns the bytes cut into pieces, as a network may cut them.
    public mutating func cut(_ bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...max(1, bytes.count / 3), using: &self))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }

    private mutating func mutateOnce(_ bytes: inout [UInt8]) {
        let range = self.range(in: bytes)
        switch Int.random(in: 0..<7, using: &self) {
        case 0 where !bytes.isEmpty:
            bytes[Int.random(in: bytes.indices, using: &self)] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 1 where !bytes.isEmpty:
            bytes[Int.random(in: bytes.indices, using: &self)] = .random(in: .min ... .max, using: &self)
        case 2: bytes.removeSubrange(range)
        case 3: bytes.insert(contentsOf: Array(bytes[range]), at: Int.random(in: 0...bytes.count, using: &self))
        case 4: bytes.replaceSubrange(range, with: special.randomElement(using: &self) ?? [])
        case 5: bytes.removeLast(Int.random(in: 0...bytes.count, using: &self) / 4)
        default:
            bytes.insert(
                contentsOf: special.randomElement(using: &self) ?? [], at: Int.random(in: 0...bytes.count, using: &self)
            )
        }
    }

    /// Returns a range of the bytes, mostly a short one.
    private mutating func range(in bytes: [UInt8]) -> Range<Int> {
        let start = Int.random(in: 0...bytes.count, using: &self)
        let longest = Bool.random(using: &self) ? 8 : bytes.count
        return start..<min(bytes.count, start + Int.random(in: 0...longest, using: &self))
    }
}
