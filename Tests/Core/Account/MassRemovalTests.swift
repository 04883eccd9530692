import DemoServer
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("A scan that would take away too much")
struct MassRemovalTests {
    private static let names = (0..<30).map { "/box/file \($0)" }

    /// Thirty files in a folder, pinned and here, and five beside it.
    private func withFullBox(
        settings: Settings = Settings(), isolation: isolated (any Actor)? = #isolation,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.running(settings: settings) { bench in
            for name in Self.names { bench.put(name, name) }
            for number in 0..<5 { bench.put("/kept/\(number)", "kept") }
            try await bench.pin("/")
            try await bench.runWell()
            try await body(bench)
        }
    }

    @Test("P51: removals that are too many are held in one issue; what is new is taken in, and all copies stay")
    func held() async throws {
        try await withFullBox { bench in
            let tree = try bench.tree()
            bench.server.tree.remove("/box")
            bench.put("/kept/new", "new")
            bench.put("/kept/0", "changed")
            for _ in 0..<2 {
                try await bench.runBadly()
                let issue = try #require(try await bench.issues().first)
                #expect(try await bench.issues().count == 1)
                #expect(issue.code == "list.removals")
                #expect(issue.message.contains("31 of 38 items"), "\(issue.message)")
                #expect(issue.choices.map(\.id) == ["wait", "apply"])
                #expect(issue.choices.map(\.impact) == [.nonDestructive, .dataLoss])
                #expect(try bench.text("/kept/new") == "new")
                #expect(try bench.text("/kept/0") == "changed")
                #expect(try bench.tree() == (tree + ["/kept/new"]).sorted())
                #expect(try await bench.item("/box/file 7")?.isRemoved == false)
            }
        }
    }

    @Test("P51: the issue is withdrawn by the scan that finds the items again, without one download")
    func back() async throws {
        try await withFullBox { bench in
            let saved = bench.server.tree.read { $0 }
            bench.server.tree.remove("/box")
            try await bench.runBadly()
            bench.server.tree.change { $0 = saved }
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(try await bench.issues() == [])
            for name in Self.names { #expect(try bench.text(name) == name) }
            try await bench.runWell()
        }
    }

    @Test("P51: told to wait, the issue stays; told to apply, the items go and the next scan counts as finished")
    func decided() async throws {
        try await withFullBox { bench in
            bench.server.tree.remove("/box")
            try await bench.runBadly()
            let issue = try #require(try await bench.issues().first)
            await #expect(throws: Failure.self) {
                try await bench.host.perform(Issues.Answer(issue.id, choice: "retry"))
            }
            try await bench.host.perform(Issues.Answer(issue.id, choice: "wait"))
            #expect(try await bench.issues().map(\.id) == [issue.id])
            try await bench.host.perform(Issues.Answer(issue.id, choice: "apply"))
            #expect(try await bench.issues() == [])
            #expect(try await bench.item("/box/file 7") == nil)
            #expect(try await bench.item("/kept/1") != nil)
            try await bench.runWell()
        }
    }

    @Test(
        "P51: a share of the items, a number of them, or no guard at all",
        arguments: [
            (RemovalGuard(share: 0.9, items: 1000), false), (RemovalGuard(share: 1, items: 30), true),
            (RemovalGuard(share: 1, items: 31), false), (RemovalGuard(share: 0.1, items: 1000), true), (nil, false),
        ])
    func limits(_ limit: RemovalGuard?, isHeld: Bool) async throws {
        try await withFullBox(settings: Settings(removalGuard: limit)) { bench in
            bench.server.tree.remove("/box")
            _ = try await bench.run()
            #expect(try await bench.issues().isEmpty == !isHeld)
            #expect(try await (bench.item("/box") != nil) == isHeld)
        }
    }

    @Test("P51: fewer than twenty are never too many by their share")
    func few() async throws {
        try await Bench.running { bench in
            for number in 0..<19 { bench.put("/\(number)", "x") }
            try await bench.runWell()
            for number in 0..<19 { bench.server.tree.remove("/\(number)") }
            try await bench.runWell()
            #expect(try await bench.item("/3") == nil)
        }
    }

    @Test("P51: a folder that moved is not missing, wherever the scan finds it first")
    func moved() async throws {
        for target in ["/aaa", "/zzz"] {
            try await withFullBox { bench in
                bench.server.tree.move("/box", to: target)
                try await bench.runWell()
                #expect(bench.downloads == [])
                #expect(try bench.text("\(target)/file 3") == "/box/file 3")
            }
        }
    }
}
