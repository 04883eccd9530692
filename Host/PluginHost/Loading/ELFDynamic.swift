import Glibc

/// What a shared library says about the libraries that it needs, from its dynamic section (gABI, chapter 5).
struct ELFDynamic {
    private var needed: [String] = []
    private var searched: [String] = []

    private static let most = 4096

    /// Reads the dynamic section of a 64-bit library.
    /// - Parameter file: The descriptor of the library.
    /// - Returns: nil if the file has no such section, or one that makes no sense.
    init?(of file: Int32) {
        guard let header = Self.bytes(of: file, at: 0, count: 64) else { return nil }
        let (offset, size, count) = (header.word(32), header.half(54), header.half(56))
        guard size >= 56, count > 0, count <= 256 else { return nil }
        guard let segments = Self.bytes(of: file, at: offset, count: size * count) else { return nil }
        let starts = (0..<count).map { $0 * size }
        guard let dynamic = starts.first(where: { segments.half($0) == 2 }),
            let entries = Self.bytes(
                of: file, at: segments.word(dynamic + 8),
                count: min(Int(clamping: segments.word(dynamic + 32)), Self.most * 16))
        else { return nil }
        var values: [(tag: UInt64, value: UInt64)] = []
        for start in stride(from: 0, to: entries.count - 15, by: 16) {
            let tag = entries.word(start)
            if tag == 0 { break }
            values.append((tag, entries.word(start + 8)))
        }
        // The table's address in memory tells its place in the file by the segment in which it lies.
        guard let address = values.first(where: { $0.tag == 5 })?.value,
            let segment = starts.first(where: { start in
                segments.half(start) == 1 && address >= segments.word(start + 16)
                    && address - segments.word(start + 16) < segments.word(start + 32)
            })
        else { return nil }
        let table = address - segments.word(segment + 16) &+ segments.word(segment + 8)
        for (tag, value) in values {
            switch tag {
            case 1: needed += [Self.text(of: file, at: table &+ value)].compactMap(\.self)
            case 15, 29:
                searched += Self.text(of: file, at: table &+ value)?.split(separator: ":").map(String.init) ?? []
            default: continue
            }
        }
    }

    /// Returns the names of those needed libraries that lie beside the library, where its search path leads by
    /// `$ORIGIN`.
    /// - Parameter library: The absolute path of the library.
    func neededBeside(_ library: String) -> [String] {
        let folder = library.lastIndex(of: "/").map { String(library[..<$0]) } ?? ""
        let folders = searched.filter { $0.contains("$ORIGIN") || $0.contains("${ORIGIN}") }
            .map { $0.replacing("${ORIGIN}", with: folder).replacing("$ORIGIN", with: folder) }
        return needed.filter { name in folders.contains { access("\($0)/\(name)", F_OK) == 0 } }
    }

    /// Reads some bytes of a file.
    /// - Returns: nil if the file does not have all of them, or none are asked for.
    static func bytes(of file: Int32, at offset: UInt64, count: Int) -> [UInt8]? {
        guard let offset = off_t(exactly: offset), count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(file, &bytes, count, offset) == count ? bytes : nil
    }

    private static func text(of file: Int32, at offset: UInt64) -> String? {
        guard let offset = off_t(exactly: offset) else { return nil }
        var bytes = [UInt8](repeating: 0, count: most)
        let count = pread(file, &bytes, most, offset)
        guard count > 0, let end = bytes[..<count].firstIndex(of: 0) else { return nil }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}

extension [UInt8] {
    /// Returns the little-endian number of two bytes at a place.
    func half(_ place: Int) -> Int { Int(self[place]) | Int(self[place + 1]) << 8 }

    /// Returns the little-endian number of eight bytes at a place.
    func word(_ place: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(self[place + $1]) << UInt64(8 * $1) }
    }
}
