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
        var bytes = [UInt8](repeating: 0, count: 20)
        let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return .unreadable(errno) }
        defer { close(descriptor) }
        let count = read(descriptor, &bytes, bytes.count)
        guard count == bytes.count, bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46]) else { return .notELF }
        guard bytes[4] == 2 else { return .wrongClass("it is not a 64-bit library") }
        guard bytes[5] == 1 else { return .wrongClass("it is for a big-endian machine") }
        let type = UInt16(bytes[16]) | UInt16(bytes[17]) << 8
        let target = UInt16(bytes[18]) | UInt16(bytes[19]) << 8
        guard target == machine.number else {
            return .wrongMachine(theirs: names[target] ?? "machine \(target)", ours: machine.name)
        }
        guard type == 3 else { return .notShared }
        return nil
    }
}
