import Model
import TestSupport
import Testing

@testable import Database

@Suite struct PathOrderTests {
    @Test(
        "G18: where all items are looked at, the paths' index gives their order; what another index finds is sorted",
        arguments: [
            ("type == \"file\" && !removed", " ORDER BY items.path"), ("size > 3", " ORDER BY items.path"),
            ("removed", " ORDER BY +items.path"),
            ("cloudStatus == \"localCopy\" && lastUsed < now - duration(\"168h\")", " ORDER BY +items.path"),
            ("path.startsWith(\"/a/\")", " ORDER BY +items.path"), ("localID == \"x\"", " ORDER BY +items.path"),
        ])
    func order(condition: String, order: String) throws {
        try withTemporaryFolder { folder in
            let database = try Database.open(path: "\(folder)/larder.db")
            let session = try ReadSession(database)
            let (sql, _) = ConditionSQL.compile(try Condition(parsing: condition), now: Timestamp(seconds: 1))
            #expect(try session.pathOrder(of: "SELECT items.path, items.size FROM items WHERE \(sql)") == order)
            session.close()
            try database.close()
        }
    }
}
