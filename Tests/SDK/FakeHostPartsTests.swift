import TestSupport
import Testing

/// Tests of the dependencies between the fake host's parts.
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
            // Removes, one by one, parts that use none of the remaining parts. Parts in a circle remain, and so do
            // parts that use a circle.
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
