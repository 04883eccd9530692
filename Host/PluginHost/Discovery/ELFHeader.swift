import Glibc
import Model

/// The first bytes of a shared library, read before any of its code may run.
enum ELFHeader {
    #if arch(x86_64)
        private static let machine: (number: UInt16, name: String) = (62, "x86-64")
    #elseif arch(arm64)
        private static let machine: (number: UInt16, name: String) = (183, "AArch64")
    #elseif arch(riscv64)
        private static let machine: (number: UInt16, name: String) = (243, "RISC-V")
    #endif
    private static let names: [UInt16: String] = [
        3: "x86", 8: "MIPS", 20: "PowerPC", 21: "PowerPC64", 22: "S/390", 40: "ARM", 62: "x86-64", 183: "AArch64",
        243: "RISC-V", 258: "LoongArch",
    ]

    /// Checks that a file is a shared library for this machine, with the layout in chapter 4 of the gABI.
    /// - Returns: The reason why the library is not used; nil if the file is such a library.
    static func refusal(of file: String) -> Refusal? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return .unreadable(errno) }
        defer { close(descriptor) }
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 20, bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46]) else { return .notELF }
        guard bytes[4] == 2 else { return .wrongClass("it is not a 64-bit library") }
        guard bytes[5] == 1 else { return .wrongClass("it is for a big-endian machine") }
        let type = UInt16(bytes[16]) | UInt16(bytes[17]) << 8
        let target = UInt16(bytes[18]) | UInt16(bytes[19]) << 8
        guard target == machine.number else {
            return .wrongMachine(theirs: names[target] ?? "machine \(target)", ours: machine.name)
        }
        guard type == 3 else { return .notShared }
        guard count == bytes.count, isWhole(descriptor, bytes) else { return .cutOff }
        return nil
    }

    /// Tells whether the file has all that its program header loads, and its table of sections, which mostly comes last.
    /// The loader may open a library that is cut off, and the process ends later, where it reads a page that is missing.
    private static func isWhole(_ descriptor: Int32, _ header: [UInt8]) -> Bool {
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_size >= 0 else { return false }
        let size = UInt64(info.st_size)
        func isInside(_ start: UInt64, _ count: UInt64) -> Bool { start <= size && count <= size - start }
        let (sections, segments) = (header.half(58) * header.half(60), header.half(56))
        guard isInside(header.word(40), UInt64(sections)), header.half(54) == 56,
            let table = ELFDynamic.bytes(of: descriptor, at: header.word(32), count: segments * 56)
        else { return false }
        return (0..<segments).map { $0 * 56 }.allSatisfy { start in
            let isLoaded = table.half(start) == 1 && table.half(start + 2) == 0
            return !isLoaded || isInside(table.word(start + 8), table.word(start + 32))
        }
    }
}
