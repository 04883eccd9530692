import DemoServer
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("A scan that would take away too much")
struct MassRemovalTests {
    private static let names = (0..<30).map { "/box/file \($0)" }

    /// Runs `body` with an account with thirty files in a folder, pinned and here, and five files beside that folder.
    private func withFullBox(
        settings: Settings = Settings(), isolation: isolated (any Actor)? = #isolation,
        _ body: (AccountFixture) async throws -> Void
    ) async throws {
        try await AccountFixture.running(settings: settings) { fixture in
            for name in Self.names { fixture.put(name, name) }
            for number in 0..<5 { fixture.put("/kept/\(number)", "kept") }
            try await fixture.pin("/")
            try await fixture.runWell()
            try await body(fixture)
        }
    }

    @Test("P51: removals that are too many are held in one issue; what is new is taken in, and all copies stay")
    func held() async throws {
        try await withFullBox { fixture in
            let tree = try fixture.tree()
            fixture.server.tree.remove("/box")
            fixture.put("/kept/new", "new")
            fixture.put("/kept/0", "changed")
            for _ in 0..<2 {
                try await fixture.runBadly()
                let issue = try #require(try await fixture.issues().first)
                #expect(try await fixture.issues().count == 1)
                #expect(issue.code == "list.removals")
                #expect(issue.message.contains("31 of 38 items"), "\(issue.message)")
                #expect(issue.choices.map(\.id) == ["wait", "apply"])
                #expect(issue.choices.map(\.impact) == [.nonDestructive, .dataLoss])
                #expect(try fixture.text("/kept/new") == "new")
                #expect(try fixture.text("/kept/0") == "changed")
                #expect(try fixture.tree() == (tree + ["/kept/new"]).sorted())
                #expect(try await fixture.item("/box/file 7")?.isRemoved == false)
            }
        }
    }

    @Test("P51: the issue is withdrawn by the scan that finds the items again, without one download")
    func back() async throws {
        try await withFullBox { fixture in
            let saved = fixture.server.tree.read { $0 }
            fixture.server.tree.remove("/box")
            try await fixture.runBadly()
            fixture.server.tree.change { $0 = saved }
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(try await fixture.issues() == [])
            for name in Self.names { #expect(try fixture.text(name) == name) }
            try await fixture.runWell()
        }
    }

    @Test("P51: told to wait, the issue stays; told to apply, the items go and the next scan counts as finished")
    func decided() async throws {
        try await withFullBox { fixture in
            fixture.server.tree.remove("/box")
            try await fixture.runBadly()
            let issue = try #require(try await fixture.issues().first)
            await #expect(throws: Failure.self) {
                try await fixture.host.perform(Issues.Answer(issue.id, choice: "retry"))
            }
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "wait"))
            #expect(try await fixture.issues().map(\.id) == [issue.id])
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "apply"))
            #expect(try await fixture.issues() == [])
            #expect(try await fixture.item("/box/file 7") == nil)
            #expect(try await fixture.item("/kept/1") != nil)
            try await fixture.runWell()
        }
    }

    @Test(
        "P51: a share of the items, a number of them, or no guard at all",
        arguments: [
            (RemovalGuard(share: 0.9, items: 1000), false), (RemovalGuard(share: 1, items: 30), true),
            (RemovalGuard(share: 1, items: 31), false), (RemovalGuard(share: 0.1, items: 1000), true), (nil, false),
        ])
    func limits(_ limit: RemovalGuard?, isHeld: Bool) async throws {
        try await withFullBox(settings: Settings(removalGuard: limit)) { fixture in
            fixture.server.tree.remove("/box")
            _ = try await fixture.run()
            #expect(try await fixture.issues().isEmpty == !isHeld)
            #expect(try await (fixture.item("/box") != nil) == isHeld)
        }
    }

    @Test("P51: fewer than twenty are never too many by their share")
    func few() async throws {
        try await AccountFixture.running { fixture in
            for number in 0..<19 { fixture.put("/\(number)", "x") }
            try await fixture.runWell()
            for number in 0..<19 { fixture.server.tree.remove("/\(number)") }
            try await fixture.runWell()
            #expect(try await fixture.item("/3") == nil)
        }
    }

    @Test("P51: a folder that moved is not missing, wherever the scan finds it first")
    func moved() async throws {
        for target in ["/aaa", "/zzz"] {
            try await withFullBox { fixture in
                fixture.server.tree.move("/box", to: target)
                try await fixture.runWell()
                #expect(fixture.downloads == [])
                #expect(try fixture.text("\(target)/file 3") == "/box/file 3")
            }
        }
    }
}
