import TestSupport
import Testing

/// How the fake host is put together.
@Suite struct FakeHostPartsTests {
    @Test("No part of the fake host uses one that uses it, by whatever way")
    func circles() async throws {
        try await withTemporaryFolder { folder in
            let host = "\(Build.root)/SDK/Testing"
            let parts = try Files.names(in: host).filter { $0.hasSuffix(".c") }
            let flags = "-std=c11 -I '\(host)/include' -I '\(Build.root)/SDK/C/include'"
            try await mustRun("sh", ["-c", "cd '\(folder)' && gcc \(flags) -c '\(host)'/*.c"])
            var (symbols, needed): ([String: Set<String>], [String: Set<String>]) = ([:], [:])
            for part in parts {
                let names = ["--format=just-symbols", "\(folder)/\(part.dropLast())o"]
                symbols[part] = Set(try await run("nm", ["--extern-only", "--defined-only"] + names).lines)
                needed[part] = Set(try await run("nm", ["--undefined-only"] + names).lines)
            }
            // Each part that uses none of those that are left goes; parts in a circle, and those that use them, stay.
            var left = Set(parts)
            while let last = left.first(where: { part in
                left.allSatisfy { $0 == part || symbols[$0, default: []].isDisjoint(with: needed[part, default: []]) }
            }) {
                left.remove(last)
            }
            #expect(symbols["gate.c"]?.contains("enter") == true && needed["cursor.c"]?.contains("enter") == true)
            #expect(left.sorted() == [])
        }
    }
}
