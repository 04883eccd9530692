import GRDB
import Model
import Testing

@testable import Database

@Suite struct ConditionPlanTests {
    private func plan(_ text: String) throws -> String {
        let (sql, arguments) = ConditionSQL.compile(
            try Condition(parsing: text), now: Timestamp(seconds: 1_795_262_400))
        return try withDatabase { database in
            try database.readBlocking { tx in
                let statement = try RawStatement(tx.db, "EXPLAIN QUERY PLAN SELECT items.* FROM items WHERE \(sql)")
                defer { statement.reset() }
                statement.bind(arguments.map { .text($0) })
                var lines: [String] = []
                while try statement.step() { lines.append(statement.text(3) ?? "") }
                return lines.joined(separator: "\n")
            }
        }
    }

    @Test(
        "Prefixes, ids and what is here or removed are searched by an index, also within groups",
        arguments: [
            ("path.startsWith('/Photos/')", "items_path (path>? AND path<?)"), ("path == '/a'", "items_path (path=?)"),
            ("parentPath == '/a'", "items_parentPath (parentPath=?)"),
            ("parentPath.startsWith('/a/')", "items_parentPath (parentPath>? AND parentPath<?)"),
            ("!removed && path.startsWith('/a/') && type == 'file'", "items_path (path>? AND path<?)"),
            ("path == '/Photos' || path.startsWith('/Photos/')", "MULTI-INDEX OR"),
            ("!removed && localID == '1'", "(localID=?)"), ("fileID == '1'", "items_fileID (fileID=?)"),
            ("removed", "items_removed"),
            (
                "cloudStatus == 'localCopy' && lastUsed < now - duration('168h')",
                "items_here (cloudStatus=? AND lastUsed<?)"
            ),
            // Vacuum and download-expiration use these conditions.
            ("removed && removedAt < now - duration('60s')", "items_removed (removedAt>? AND removedAt<?)"),
            (
                """
                cloudStatus == 'localCopy' && type == 'file' && !removed \
                && downloadTrigger != 'availableOffline' && lastUsed < now - duration('168h') \
                || cloudStatus == 'localCopy' && type == 'file' && !removed \
                && downloadTrigger != 'availableOffline' && lastUsed == null \
                && (lastModified == null || lastModified < now - duration('168h'))
                """,
                "items_here (cloudStatus=? AND lastUsed<?)"
            ),
            ("!removed && cloudStatus != 'cloudOnly'", "items_here"),
            ("cloudStatus in ['localCopy', 'localOnly']", "items_here"),
            ("remoteVersion == 'newer'", "items_here"), ("!(cloudStatus == 'cloudOnly')", "items_here"),
            ("!removed && (path == '/a' || path.startsWith('/b/') || localID == '1')", "MULTI-INDEX OR"),
        ])
    func indexes(_ text: String, _ expected: String) throws {
        let plan = try plan(text)
        // A scan of the index of the items with a local copy reads no other items.
        let rest = plan.split(separator: "\n").filter { $0 != "SCAN items USING INDEX items_here" }
        #expect(plan.contains(expected) && !rest.contains { $0.hasPrefix("SCAN items") }, "\(plan)")
    }

    @Test("10,000 policies are looked up by index, one search a policy")
    func manyPolicies() throws {
        let text = (0..<10_000).map { "path == '/\($0)' || path.startsWith('/\($0)/')" }.joined(separator: " || ")
        let plan = try plan("!removed && (\(text))")
        #expect(!plan.contains("SCAN items"), "\(plan)")
        #expect(plan.contains("items_path (path>? AND path<?)") && plan.contains("items_path (path=?)"), "\(plan)")
    }
}
