import LocalTree
import Model
import TestSupport
import Testing

@testable import Database
@testable import SyncEngine

/// Tests of changes of the server that plugins request.
@Suite struct PluginChangeTests {
    private static let archive = DownloadTrigger("org.example.archive")

    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    private func ask(
        _ fixture: EngineFixture, _ change: ChangeRequest, key: String? = nil, issue: IssueID? = nil
    ) async throws -> EnqueueOutcome {
        try await fixture.database.write { [engine = fixture.engine] tx in
            try engine.enqueue(
                .change(change, for: ChangeRequester(Self.archive, key: key, issue: issue)), in: tx)
        }
    }

    private func message(_ outcome: EnqueueOutcome) -> String? {
        if case .refused(let failure) = outcome { failure.message } else { nil }
    }

    /// Requests deletions as a run of the plugin does.
    @discardableResult
    private func delete(_ fixture: EngineFixture, _ paths: [String]) async throws -> Model.Issue? {
        try await fixture.database.write { [engine = fixture.engine] tx in
            let ids = try paths.map { try #require(try tx.items.item(at: ItemPath($0))).localID }
            let hold = try engine.deletions.holdIfTooMany(ids, by: Self.archive, in: tx)
            let last = try tx.journal.lastID()
            let issue = try hold.map { try tx.issues.file($0) }
            for path in paths {
                let requester = ChangeRequester(Self.archive, key: path, issue: issue?.id)
                _ = try engine.enqueue(.change(.delete(ItemPath(path)), for: requester), in: tx)
            }
            try engine.deletions.countDeletions(after: last, by: Self.archive, heldBy: issue?.id, in: tx)
            return issue
        }
    }

    /// Adds files at `/d/100`, `/d/101` and so on, and others at `/kept0` and so on.
    private func addFiles(_ count: Int, kept: Int = 20, _ fixture: EngineFixture) async throws -> [String] {
        try await fixture.addFolder("/d")
        _ = try await fixture.addFiles(kept) { ("/kept\($0)", "kept") }
        return try await fixture.addFiles(count) { ("/d/\(100 + $0)", "text") }.map(\.path.text)
    }

    @Test("G20: a record of a plugin's change names the plugin and its key, and the same key asks for nothing more")
    func reason() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFile("/one")
            _ = try await ask(fixture, .createFolder(path("/new")), key: "1")
            _ = try await ask(fixture, .move(path("/one"), to: path("/new/uno")), key: "2")
            _ = try await ask(fixture, .copy(path("/new"), to: path("/copy")), key: "3")
            _ = try await ask(fixture, .setFavorite(path("/new/uno"), true), key: "4")
            let records = try await fixture.records()
            #expect(records.map(\.action.kind) == [.createFolder, .move, .copy, .setFavorite])
            #expect(records.allSatisfy { $0.reason == Self.archive } && records.map(\.key) == ["1", "2", "3", "4"])
            // The paths are others meanwhile. The key alone tells.
            for (number, change) in [
                ChangeRequest.createFolder(try path("/new")), .move(try path("/one"), to: try path("/new/uno")),
                .copy(try path("/new"), to: try path("/copy")), .setFavorite(try path("/one"), true),
            ].enumerated() {
                guard case .joined(records[number].id) = try await ask(fixture, change, key: "\(number + 1)") else {
                    throw SetupError("\(change) was not joined")
                }
            }
            #expect(try await fixture.records() == records)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests.count == 4)
        }
    }

    @Test("G20: no plugin replaces or deletes what somebody else is about to upload")
    func unsent() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            try await fixture.addFile("/d/old")
            fixture.engine.setOnline(false)
            try await fixture.put("mine", "/d/new")
            try await fixture.put("mine too", "/d/old", replaces: true)
            let (records, snapshots) = (try await fixture.records(), try fixture.outgoing())
            for change in ["/d/new", "/d/old", "/d"].map({ ChangeRequest.delete(ItemPath(unchecked: $0)) }) {
                let said = message(try await ask(fixture, change))
                #expect(said?.hasPrefix("the upload of /d/") == true, "\(said ?? "")")
            }
            #expect(
                message(try await ask(fixture, .delete(.root))) == "the account's root cannot be deleted")
            try Files.write("the plugin's", to: fixture.folder + "/own", mode: 0o600)
            let taken = try TakenSnapshot.take(of: fixture.folder + "/own", into: fixture.folder + "/vault/outgoing").0
            for name in ["/d/new", "/d/old"] {
                let said = message(try await ask(fixture, .put(taken, path(name), replaces: true)))
                #expect(said == "another upload of \(name) is not done yet")
            }
            taken.discard(from: fixture.folder + "/vault/outgoing")
            #expect(try await fixture.records() == records)
            #expect(try fixture.outgoing() == snapshots && snapshots.count == 2)
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source[try path("/d/new")]?.bytes == Array("mine".utf8))
            #expect(fixture.source[try path("/d/old")]?.bytes == Array("mine too".utf8))
        }
    }

    @Test("G21: deletions of a plugin that are too many wait in one issue; approved, they are made")
    func approved() async throws {
        try await EngineFixture.with { fixture in
            let paths = try await addFiles(25, fixture)
            let issue = try #require(try await delete(fixture, paths))
            #expect(issue.code == "plugin.deletions" && issue.subject == "org.example.archive")
            #expect(issue.choices.map(\.id) == ["reject", "approve"])
            #expect(issue.choices.map(\.impact) == [.nonDestructive, .dataLoss])
            #expect(
                issue.message.hasPrefix(
                    "The plugin org.example.archive wants to delete 25 of 46 items on the server: /d/100, /d/101, "
                        + "/d/102, …. Nothing"), "\(issue.message)")
            #expect(try await fixture.drain().left.allSatisfy { $0.issue == issue.id })
            #expect(fixture.source.changing.requests.isEmpty)
            #expect(try await fixture.issues() == [issue])
            #expect(try await fixture.engine.resolve(issue.id, choice: "approve"))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(Set(fixture.source.changing.requests) == Set(paths.map { "DELETE \($0)" }))
            #expect(try await fixture.issues() == [])
        }
    }

    @Test("G21: rejected, they are dropped, everything is as before, and the plugin asks for each more within a day")
    func rejected() async throws {
        try await EngineFixture.with { fixture in
            let paths = try await addFiles(25, fixture)
            let listed = try await fixture.listed()
            let issue = try #require(try await delete(fixture, paths))
            #expect(try await fixture.listed().count == listed.count - 25)
            // A person's answer to one record is no answer to the issue.
            let first = try #require(try await fixture.records().first)
            await #expect(throws: Failure.self) { try await fixture.engine.retry(first.id) }
            #expect(try await fixture.engine.resolve(issue.id, choice: "reject"))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests.isEmpty)
            #expect(try await fixture.listed() == listed)
            #expect(try await fixture.records() == [])
            #expect(try await fixture.issues() == [])

            let again = try #require(try await delete(fixture, ["/d/100"]))
            #expect(
                again.message.contains("delete 1 of 46 items on the server, after 25 in the last 24 hours: /d/100. "))
            // The last record that waits takes the issue along.
            let record = try #require(try await fixture.records().first)
            try await fixture.engine.cancel(record.id)
            #expect(try await fixture.issues() == [])
            fixture.clock.advance(.seconds(25 * 3600))
            #expect(try await delete(fixture, ["/d/100"]) == nil)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["DELETE /d/100"])
        }
    }

    @Test(
        "G21: deletions in many small runs count together, what is below a folder counts, and an approval counts anew")
    func small() async throws {
        try await EngineFixture.with { fixture in
            let paths = try await addFiles(40, kept: 40, fixture)
            for path in paths { #expect(try await delete(fixture, [path]) == nil, "\(path)") }
            // This is more than half of the items that there were.
            let issue = try #require(try await delete(fixture, ["/d"]))
            #expect(issue.message.contains("delete 1 of 81 items on the server, after 40 in"), "\(issue.message)")
            #expect(try await fixture.engine.resolve(issue.id, choice: "approve"))
            #expect(try await delete(fixture, ["/kept0"]) == nil)
            #expect(try await fixture.drain().leftCount == 0)
        }
        try await EngineFixture.with { fixture in
            let paths = try await addFiles(40, kept: 40, fixture)
            // The folder and what is in it count once.
            let issue = try #require(try await delete(fixture, paths.dropLast(30) + ["/d"]))
            #expect(issue.message.contains("delete 41 of 81 items on the server: /d. "), "\(issue.message)")
        }
    }

    @Test("G21: a deletion that is refused waits for nobody, and counts for nothing")
    func impossible() async throws {
        try await EngineFixture.with { fixture in
            let paths = try await addFiles(25, fixture)
            try await fixture.database.write { tx in
                for path in paths {
                    guard var item = try tx.items.item(at: ItemPath(path)) else { continue }
                    item.permissions = "RGNVW"
                    try tx.items.update(item)
                }
            }
            for _ in 0..<3 { try await delete(fixture, paths) }
            #expect(try await fixture.issues() == [])
            #expect(try await fixture.records() == [])
            #expect(try await delete(fixture, ["/kept0"]) == nil)
        }
    }

    @Test("G21: what plugins asked for is forgotten after a day, and what makes no sense is taken for nothing")
    func memory() throws {
        let (now, plugin) = (Timestamp(seconds: 1_800_000_000), Self.archive)
        var memory = DeletionMemory(nil, at: now)
        memory.note(3, of: plugin, at: now)
        memory.note(4, of: plugin, at: now + .seconds(7200))
        memory.note(.max, of: DownloadTrigger("other"), at: now)
        memory.note(1, of: DownloadTrigger("other"), at: now)
        #expect(memory.count(of: plugin) == 7 && memory.count(of: DownloadTrigger("other")) == .max)
        #expect(DeletionMemory(memory.text, at: now) == memory)
        #expect(DeletionMemory(memory.text, at: now + .seconds(24 * 3600)).count(of: plugin) == 4)
        #expect(DeletionMemory(memory.text, at: now - .seconds(48 * 3600)).count(of: plugin) == 0)
        for text in [
            "", "{}", "[1]", #"[{"plugin":"org.example.archive"}]"#, "[{",
            #"[{"plugin":"a","minute":-9223372036854775808,"count":-1}]"#,
        ] {
            #expect(DeletionMemory(text, at: now).count(of: plugin) == 0)
        }
        memory.forget(plugin)
        #expect(memory.count(of: plugin) == 0)
    }
}
