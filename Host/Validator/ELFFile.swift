import Glibc

/// A shared library as its file has it, read without running any of its code (gABI, chapters 4 and 5). All places are
/// checked, so that a file that makes no sense is read too.
final class ELFFile {
    /// A segment of the program header.
    struct Segment {
        var type: UInt32
        var flags: UInt32
        var offset, address, fileSize: UInt64
    }

    /// A symbol of the dynamic table.
    struct Symbol {
        var name: String
        var isDefined: Bool
        /// Whether other libraries see it.
        var isVisible: Bool
    }

    private let bytes: UnsafeRawBufferPointer
    private(set) var segments: [Segment] = []
    /// The entries of the dynamic section, as tags and values.
    private(set) var dynamic: [(tag: UInt64, value: UInt64)] = []

    /// Reads a file.
    /// - Returns: nil if the file cannot be read, or is no 64-bit little-endian ELF file.
    init?(_ path: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size >= 64,
            let memory = mmap(nil, Int(info.st_size), PROT_READ, MAP_PRIVATE, file, 0), memory != MAP_FAILED
        else { return nil }
        bytes = UnsafeRawBufferPointer(start: memory, count: Int(info.st_size))
        guard bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1]) else { return nil }
        let (start, size, count) = (word(32) ?? 0, UInt64(half(54) ?? 0), UInt64(half(56) ?? 0))
        for number in 0..<count where size >= 56 {
            let place = start &+ number &* size
            guard let type = number32(place), let flags = number32(place &+ 4), let offset = word(place &+ 8),
                let address = word(place &+ 16), let fileSize = word(place &+ 32)
            else { break }
            segments.append(
                Segment(type: type, flags: flags, offset: offset, address: address, fileSize: fileSize))
        }
        if let section = segments.first(where: { $0.type == 2 }) {
            for number in 0..<min(section.fileSize / 16, 4_096) {
                guard let tag = word(section.offset &+ number &* 16), tag != 0,
                    let value = word(section.offset &+ number &* 16 &+ 8)
                else { break }
                dynamic.append((tag, value))
            }
        }
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }

    /// The values of all dynamic entries with a tag.
    func values(_ tag: UInt64) -> [UInt64] { dynamic.filter { $0.tag == tag }.map(\.value) }

    /// The names of the libraries that it needs.
    var needed: [String] { values(1).compactMap(string) }

    /// The folders in which the loader searches for them (DT_RPATH and DT_RUNPATH).
    var searched: [String] {
        (values(15) + values(29)).compactMap(string).flatMap { $0.split(separator: ":").map(String.init) }
    }

    /// The symbols of the dynamic table. Its length is that of the hash table over it.
    var symbols: [Symbol] {
        guard let table = values(6).first.flatMap(place) else { return [] }
        var symbols: [Symbol] = []
        for number in 1..<max(1, symbolCount) {
            let entry = table &+ UInt64(number) &* 24
            guard let name = number32(entry), let info = byte(entry &+ 4), let other = byte(entry &+ 5),
                let section = half(entry &+ 6), let text = string(UInt64(name))
            else { break }
            let isVisible = info >> 4 != 0 && (other & 3 == 0 || other & 3 == 3)
            symbols.append(Symbol(name: text, isDefined: section != 0, isVisible: isVisible))
        }
        return symbols
    }

    /// The versions of symbols that it needs, by the library that has them: `GLIBC_2.34` of `libc.so.6`.
    var neededVersions: [(library: String, version: String)] {
        guard var entry = values(0x6fff_fffe).first.flatMap(place) else { return [] }
        var versions: [(String, String)] = []
        for _ in 0..<256 {
            guard let count = half(entry &+ 2), let file = number32(entry &+ 4), let first = number32(entry &+ 8),
                let next = number32(entry &+ 12)
            else { break }
            var version = entry &+ UInt64(first)
            for _ in 0..<count {
                guard let name = number32(version &+ 8), let step = number32(version &+ 12) else { break }
                if let library = string(UInt64(file)), let text = string(UInt64(name)) {
                    versions.append((library, text))
                }
                if step == 0 { break }
                version &+= UInt64(step)
            }
            if next == 0 { break }
            entry &+= UInt64(next)
        }
        return versions
    }

    /// The names of the Swift modules whose types the file has, by the section of their descriptors (Swift's
    /// `ABI/Metadata.h`, `TargetContextDescriptor`). Of a file without a table of sections nothing is known.
    var swiftModules: Set<String> {
        guard let types = section("swift5_type_metadata") else { return [] }
        var names: Set<String> = []
        for number in 0..<types.size / 4 {
            // The lowest bits tell an indirect reference, which only the loader can follow.
            guard let record = relative(types.address &+ number &* 4), record & 3 == 0 else { continue }
            var context = record
            for _ in 0..<16 {
                guard let flags = place(context).flatMap(number32) else { break }
                if flags & 0x1f == 0 {
                    if let name = relative(context &+ 8).flatMap(place).flatMap(text) { names.insert(name) }
                    break
                }
                guard let parent = relative(context &+ 4), parent & 1 == 0 else { break }
                context = parent
            }
        }
        return names
    }

    /// Returns a section by its name.
    private func section(_ name: String) -> (address: UInt64, size: UInt64)? {
        guard let table = word(40), let size = half(58), size >= 64, let count = half(60), let last = half(62)
        else { return nil }
        func entry(_ number: UInt16) -> UInt64 { table &+ UInt64(number) &* UInt64(size) }
        guard let texts = word(entry(last) &+ 24) else { return nil }
        for number in 0..<count {
            guard let offset = number32(entry(number)), text(texts &+ UInt64(offset)) == name,
                let address = word(entry(number) &+ 16), let size = word(entry(number) &+ 32)
            else { continue }
            return (address, min(size, UInt64(bytes.count)))
        }
        return nil
    }

    /// Returns the address that a relative reference at an address leads to; nil for none.
    private func relative(_ address: UInt64) -> UInt64? {
        guard let distance = place(address).flatMap(number32), distance != 0 else { return nil }
        return address &+ UInt64(bitPattern: Int64(Int32(bitPattern: distance)))
    }

    /// The number of symbols, by the hash table of either kind.
    private var symbolCount: Int {
        if let table = values(4).first.flatMap(place), let count = number32(table &+ 4) {
            return min(Int(count), 1 << 20)
        }
        guard let table = values(0x6fff_fef5).first.flatMap(place), let buckets = number32(table),
            let offset = number32(table &+ 4), let blooms = number32(table &+ 8)
        else { return 0 }
        let first = table &+ 16 &+ UInt64(blooms) &* 8
        var last: UInt32 = 0
        for number in 0..<min(buckets, 1 << 20) { last = max(last, number32(first &+ UInt64(number) &* 4) ?? 0) }
        guard last >= offset else { return Int(offset) }
        let chains = first &+ UInt64(buckets) &* 4
        while last < 1 << 20, let hash = number32(chains &+ UInt64(last - offset) &* 4), hash & 1 == 0 { last += 1 }
        return Int(last) + 1
    }

    /// Returns the place in the file of an address in memory.
    private func place(_ address: UInt64) -> UInt64? {
        guard
            let segment = segments.first(where: {
                $0.type == 1 && address >= $0.address && address - $0.address < $0.fileSize
            })
        else { return nil }
        return address - segment.address &+ segment.offset
    }

    /// Returns a text of the dynamic section's table.
    private func string(_ offset: UInt64) -> String? {
        values(5).first.flatMap(place).flatMap { text($0 &+ offset) }
    }

    /// Returns a text at a place in the file.
    private func text(_ place: UInt64) -> String? {
        guard let start = Int(exactly: place), start < bytes.count else { return nil }
        return String(decoding: bytes[start...].prefix(4_096).prefix { $0 != 0 }, as: UTF8.self)
    }

    private func byte(_ place: UInt64) -> UInt8? { number(place) }
    private func half(_ place: UInt64) -> UInt16? { number(place) }
    private func number32(_ place: UInt64) -> UInt32? { number(place) }
    private func word(_ place: UInt64) -> UInt64? { number(place) }

    private func number<Number: FixedWidthInteger>(_ place: UInt64) -> Number? {
        guard let start = Int(exactly: place), start <= bytes.count - MemoryLayout<Number>.size else { return nil }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: Number.self))
    }
}
