import GRDB
import Model
import TestSupport
import Testing

@testable import Database

@Suite struct PolicyJournalTests {
    private static let ada = PolicyAuthor.person("ada", at: Timestamp(nanoseconds: 1_700_000_000_123_456_789))
    private static let plugin = PolicyAuthor.plugin(PluginID("org.example.x"), at: Timestamp(seconds: 5))

    private static func full(_ id: String = "p") -> ItemPolicy {
        ItemPolicy(
            id: PolicyID(id), kind: PolicyKind("k"), identifier: "_sys.\"x\"", description: "line\nü\u{1}",
            condition: "true",
            path: ItemPath(unchecked: "/Photos/100 %\u{0301}"), localID: LocalID("local"), removeWhenNone: "size > 5",
            data: [0, 1, 0xff])
    }

    private func withDatabase(_ body: (AccountDatabase) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            try await body(database)
            try database.close()
        }
    }

    private func steps(_ database: AccountDatabase) async throws -> [PolicyStep] {
        try await database.read { try $0.policies.changes(limit: 5_000) }.compactMap {
            if case .step(let step) = $0.entry { step } else { nil }
        }
    }

    @Test(
        "A change of a policy and its row are one transaction, with every field, who and when; of one that fails nothing is left"
    )
    func oneTransaction() async throws {
        try await withDatabase { database in
            let added = try await database.write { try $0.policies.add(Self.full(), by: Self.ada) }
            var changed = added
            changed.condition = "false"
            changed.data = nil
            let updated = try await database.write { [changed] in
                try $0.policies.update(changed, by: Self.plugin, runsTrigger: false)
            }
            try await database.write { try $0.policies.remove(added.id, by: .host(at: Timestamp(seconds: 9))) }
            await #expect(throws: CancellationError.self) {
                try await database.write { tx in
                    try tx.policies.add(Self.full("other"), by: Self.ada)
                    throw CancellationError()
                }
            }
            let rows = try await database.read { try $0.policies.changes(limit: 10) }
            #expect(rows.map(\.number) == [1, 2, 3])
            #expect(Set(rows.map(\.id)).count == 3)
            let steps = try await steps(database)
            #expect(steps.map(\.author) == [Self.ada, Self.plugin, .host(at: Timestamp(seconds: 9))])
            #expect(steps.map(\.isQuiet) == [false, true, false])
            #expect(steps.map(\.changes.count) == [1, 1, 1])
            #expect(steps[0].changes[0].before == nil)
            #expect(steps[1].changes[0].fields == [.condition, .data])
            #expect(steps[2].changes[0].after == nil)
            for (read, stored) in [
                (steps[0].changes[0].after, added), (steps[1].changes[0].before, added),
                (steps[1].changes[0].after, updated), (steps[2].changes[0].before, updated),
            ] {
                let read = try #require(read)
                #expect(read.id == stored.id && read.kind == stored.kind)
                #expect(read.fields(differingFrom: stored) == [])
            }
        }
    }

    @Test("A transaction gives a row for each author, quiet changes one of their own; what came to nothing gives none")
    func grouping() async throws {
        try await withDatabase { database in
            try await database.write { tx in
                let a = try tx.policies.add(Self.full("a"), by: Self.ada)
                try tx.policies.add(Self.full("b"), by: Self.plugin)
                var again = a
                again.description = "new"
                again = try tx.policies.update(again, by: Self.ada)
                try tx.policies.add(Self.full("c"), by: Self.plugin, runsTrigger: false)
                try tx.policies.add(Self.full("gone"), by: Self.ada)
                try tx.policies.remove(PolicyID("gone"), by: Self.ada)
                // The plugin changes what ada changed, and then ada changes the policy again.
                again.condition = "false"
                again = try tx.policies.update(again, by: Self.plugin)
                again.condition = "size > 1"
                try tx.policies.update(again, by: Self.ada)
            }
            let steps = try await steps(database)
            let told = steps.map { step in
                let ids = step.changes.map { ($0.after ?? $0.before)?.id.text ?? "" }.joined(separator: " ")
                return "\(step.author.isPerson ? "ada" : "plugin")\(step.isQuiet ? " quietly" : ""): \(ids)"
            }
            try #require(told == ["ada: a", "plugin: b a", "plugin quietly: c", "ada: a"])
            #expect(steps[0].changes[0].after?.description == "new")
            #expect(steps[3].changes[0].before?.condition == "false")

            try await database.write { tx in
                let same = try #require(try tx.policies.policy(PolicyID("b")))
                try tx.policies.update(same, by: Self.ada)
            }
            #expect(try await self.steps(database).count == 4)
        }
    }

    @Test("Rows that were written to the history go; of rows that nobody writes there the last 1,000 stay")
    func limits() async throws {
        try await withDatabase { database in
            for number in 0..<1_003 {
                try await database.write { tx in
                    _ = try tx.policies.add(Self.full("\(number)"), by: Self.ada)
                }
            }
            let rows = try await database.read { try $0.policies.changes(limit: 5_000) }
            #expect(rows.map(\.number) == Array(4...1_003))
            #expect(try await database.read { try $0.policies.changes(limit: 3) } == Array(rows[..<3]))
            try await database.write { try $0.policies.removeChanges(through: 1_001) }
            #expect(try await database.read { try $0.policies.changes(limit: 10) } == Array(rows[998...]))
            #expect(try await database.read { try $0.policies.changeCount() } == 2)
        }
    }

    @Test("V4: a database with policies that was written before there was a journal is upgraded with them")
    func upgrade() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            let queue = try DatabaseQueue(path: path)
            try await queue.writeWithoutTransaction { db in
                try Migrations.run(db, at: path, migrations: Array(Migrations.all[..<3]))
                try db.execute(
                    sql: "INSERT INTO policies (id, kind, condition, revision) VALUES ('old', 'k', 'true', 3)")
            }
            try queue.close()
            let database = try Database.open(path: path)
            #expect(try await database.read { try $0.policies.policy(PolicyID("old")) }?.revision == 3)
            #expect(try await database.read { try $0.policies.changeCount() } == 0)
            try await database.write { try $0.policies.remove(PolicyID("old"), by: Self.ada) }
            #expect(try await steps(database).map(\.changes.count) == [1])
            try database.close()
        }
    }

    @Test("An entry of a newer Larder, or a damaged one, is refused")
    func unreadable() throws {
        let step = PolicyEntry.step(PolicyStep(author: Self.ada, changes: []))
        #expect(try PolicyEntry(json: step.json) == step)
        let move = PolicyEntry.move(PolicyMove(.redo, step: "s", last: "t", author: Self.plugin))
        #expect(try PolicyEntry(json: move.json) == move)
        let wrong = [
            "", "{}", "[]", step.json.replacing(#""format":1"#, with: #""format":2"#),
            step.json.replacing("person", with: "alien"), step.json.replacing("ada", with: "\u{0}"),
            move.json.replacing("redo", with: "jump"), move.json.replacing("last", with: "past"),
            step.json.replacing("2023", with: "MMXX"), step.json.replacing("[]", with: #"[{"after":{"id":"x"}}]"#),
        ]
        for text in wrong { #expect(throws: Failure.self, "\(text)") { try PolicyEntry(json: text) } }
    }
}
