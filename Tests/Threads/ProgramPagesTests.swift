import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Threads

@Suite(.serialized) struct ProgramPagesTests {
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

    /// A library with a constant table that the loader relocates, another that it does not, and what checks the first.
    private static let source = """
        #define FOUR(...) __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
        static int number;
        int *const table[] = {FOUR(FOUR(FOUR(FOUR(FOUR(&number,)))))};
        const char text[1 << 20] = {97, 98};
        int is_whole(void) {
            for (unsigned long i = 0; i < sizeof table / sizeof *table; i++) if (table[i] != &number) return 0;
            return 1;
        }
        """

    private func build(in folder: String) async throws -> String {
        try Files.write(Self.source, to: "\(folder)/table.c")
        try await mustRun("gcc", ["-shared", "-fPIC", "-o", "\(folder)/table.so", "\(folder)/table.c"])
        return "\(folder)/table.so"
    }

    @Test("H18: pages of a library are given back and come again, and what was written in memory alone stays")
    func pages() async throws {
        try await withTemporaryFolder { folder in
            let library = try #require(dlopen(try await build(in: folder), RTLD_NOW))
            defer { dlclose(library) }
            let text = try #require(dlsym(library, "text")).assumingMemoryBound(to: CChar.self)
            let isWhole = unsafeBitCast(
                try #require(dlsym(library, "is_whole")), to: (@convention(c) () -> Int32).self)
            // A host of another test may give pages back too.
            for _ in 0..<100 where try resident(text) < 900 {
                var sum = 0
                for place in 0..<(1 << 20) { sum += Int(text[place]) }
                #expect(sum == 97 + 98 && isWhole() == 1)
            }
            await runBlocking { ProgramPages.giveBack() }
            #expect(try resident(text) == 0)
            #expect(text[1] == 98 && isWhole() == 1)
        }
    }

    @Test("H18: a library that is being opened meanwhile loses nothing of what the loader writes")
    func opened() async throws {
        try await withTemporaryFolder { folder in
            let library = try await build(in: folder)
            let isOver = Mutex(false)
            async let givenBack: Void = runBlocking { while !isOver.withLock(\.self) { ProgramPages.giveBack() } }
            let whole = await runBlocking {
                (0..<5_000).count { _ in
                    guard let opened = dlopen(library, RTLD_NOW) else { return false }
                    defer { dlclose(opened) }
                    guard let check = dlsym(opened, "is_whole") else { return false }
                    return unsafeBitCast(check, to: (@convention(c) () -> Int32).self)() == 1
                }
            }
            isOver.withLock { $0 = true }
            await givenBack
            #expect(whole == 5_000)
        }
    }

    /// Returns the KiB of the mapping with an address that are in memory.
    private func resident(_ address: UnsafePointer<CChar>) throws -> Int {
        let lines = try Files.text("/proc/self/smaps").split(separator: "\n")
        let first = try #require(
            lines.firstIndex { line in
                let ends = line.prefix { $0 != " " }.split(separator: "-").map { UInt($0, radix: 16) }
                guard ends.count == 2, let start = ends[0], let end = ends[1] else { return false }
                return (start..<end).contains(UInt(bitPattern: address) + (1 << 19))
            })
        let line = try #require(lines[first...].first { $0.hasPrefix("Rss:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }
}
