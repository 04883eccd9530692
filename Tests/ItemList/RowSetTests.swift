import Model
import TestSupport
import Testing

@testable import ItemList

struct RowSetTests {
    @Test("I16: rows with neighbouring ids take a bit each, and each is told from the others")
    func rows() {
        var rows = RowSet()
        for id in Int64(1)...100_000 where id % 7 != 0 { rows.insert(ItemRowID(id)) }
        #expect((Int64(1)...100_000).allSatisfy { rows.contains(ItemRowID($0)) == ($0 % 7 != 0) })
        let last = ItemRowID(.max)
        #expect(!rows.contains(0) && !rows.contains(100_001) && !rows.contains(last))
        rows.insert(last)
        #expect(rows.contains(last) && !rows.contains(ItemRowID(.max - 1)))
        #expect(rows.wordCount < 100_000 / 64 + 3)
    }
}
