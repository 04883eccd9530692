import Glibc
import TestSupport
import Testing

@testable import Threads

struct ProgramPagesTests {
    @Test("Only pages that hold what is in their file are given back")
    func ranges() {
        let table = """
            1000-3000 r-xp 00001000 08:01 77                         /usr/bin/larder with a space
            Size:                  8 kB
            Anonymous:             0 kB
            VmFlags: rd ex mr mw me sd
            3000-4000 r--p 00003000 08:01 77                         /usr/bin/larder
            Anonymous:             4 kB
            4000-5000 rw-p 00004000 08:01 77                         /usr/bin/larder
            Anonymous:             0 kB
            5000-6000 r--p 00000000 00:00 0
            Anonymous:             0 kB
            6000-7000 r--s 00000000 08:01 78                         /var/shared
            Anonymous:             0 kB
            7000-8000 ---p 00000000 08:01 77                         /usr/bin/larder
            Anonymous:             0 kB
            ffffffffff600000-ffffffffff601000 r--p 00000000 00:01 9  /memfd:libPlugin.so (deleted)
            Anonymous:             0 kB
            7ffc000-7ffe000 r-xp 00000000 00:00 0                    [vdso]
            Anonymous:             0 kB
            """
        #expect(
            ProgramPages.unchanged(in: table) == [0x1000..<0x3000, 0xffff_ffff_ff60_0000..<0xffff_ffff_ff60_1000])
        #expect(ProgramPages.unchanged(in: "").isEmpty)
        #expect(ProgramPages.unchanged(in: "Anonymous: 0 kB\nzz-1 r-xp 0 0 1 /a\nAnonymous: 0 kB").isEmpty)
    }

    @Test("H18: pages of files are given back and come again, and what was written in memory alone stays")
    func pages() async throws {
        try await withTemporaryFolder { folder in
            let size = 1 << 20
            try Files.write(String(repeating: "a", count: size), to: "\(folder)/clean")
            try Files.write(String(repeating: "a", count: size), to: "\(folder)/changed")
            func map(_ name: String, _ rights: Int32) throws -> UnsafeMutableRawPointer {
                let file = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC)
                defer { close(file) }
                return try #require(
                    mmap(nil, size, rights, MAP_PRIVATE | MAP_POPULATE, file, 0))
            }
            let (clean, changed) = (try map("clean", PROT_READ), try map("changed", PROT_READ | PROT_WRITE))
            defer { for address in [clean, changed] { munmap(address, size) } }
            memset(changed, Int32(UInt8(ascii: "b")), 100)
            #expect(mprotect(changed, size, PROT_READ) == 0)
            #expect(try resident(clean) > 0)
            await runBlocking { ProgramPages.giveBack() }
            #expect(try resident(clean) == 0)
            #expect(try resident(changed) > 0)
            #expect(clean.load(fromByteOffset: 50, as: UInt8.self) == UInt8(ascii: "a"))
            #expect(changed.load(fromByteOffset: 50, as: UInt8.self) == UInt8(ascii: "b"))
            #expect(changed.load(fromByteOffset: 200, as: UInt8.self) == UInt8(ascii: "a"))
        }
    }

    /// Returns the KiB of a mapping that are in memory.
    private func resident(_ address: UnsafeMutableRawPointer) throws -> Int {
        let lines = try Files.text("/proc/self/smaps").split(separator: "\n")
        let start = String(UInt(bitPattern: address), radix: 16)
        let first = try #require(lines.firstIndex { $0.hasPrefix("\(start)-") })
        let line = try #require(lines[first...].first { $0.hasPrefix("Rss:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }
}
