import Testing

@testable import ItemList

struct RowSetTests {
    @Test("I16: rows with neighbouring ids take a bit each, and each is told from the others")
    func rows() {
        var rows = RowSet()
        for id in Int64(1)...100_000 where id % 7 != 0 { rows.insert(id) }
        #expect((Int64(1)...100_000).allSatisfy { rows.contains($0) == ($0 % 7 != 0) })
        #expect(!rows.contains(0) && !rows.contains(100_001) && !rows.contains(.max))
        rows.insert(.max)
        #expect(rows.contains(.max) && !rows.contains(.max - 1))
        #expect(rows.wordCount < 100_000 / 64 + 3)
    }
}
