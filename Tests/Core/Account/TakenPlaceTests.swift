import Database
import DemoServer
import ItemList
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

/// Items that take the place of the folder that they were in.
struct TakenPlaceTests {
    /// What happens to `/d`, in which are `c`, with `z` and `deep/y`, and the file `f`.
    enum Course: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case removed, beside, deeper, othersComeToo, byFile

        func happen(to tree: Tree) -> Bool {
            switch self {
            case .removed: tree.move("/d/c", to: "/t") && tree.remove("/d") && tree.move("/t", to: "/d")
            case .beside: tree.move("/d", to: "/e") && tree.move("/e/c", to: "/d")
            case .deeper: tree.move("/d", to: "/x/e") && tree.move("/x/e/c", to: "/d")
            case .othersComeToo: tree.move("/d", to: "/e") && tree.move("/e/c", to: "/z") && tree.move("/x", to: "/d")
            case .byFile: tree.move("/d", to: "/e") && tree.move("/e/f", to: "/d")
            }
        }

        /// The paths and contents afterwards; a folder's is nil.
        var end: [String: String?] {
            let (z, y, f, w) = ("in c", "below c", "in d", "in x")
            return switch self {
            case .removed: ["/d": nil, "/d/deep": nil, "/d/deep/y": y, "/d/z": z, "/x": nil, "/x/w": w]
            case .beside:
                [
                    "/d": nil, "/d/deep": nil, "/d/deep/y": y, "/d/z": z, "/e": nil, "/e/f": f, "/x": nil, "/x/w": w,
                ]
            case .deeper:
                [
                    "/d": nil, "/d/deep": nil, "/d/deep/y": y, "/d/z": z, "/x": nil, "/x/e": nil, "/x/e/f": f,
                    "/x/w": w,
                ]
            case .othersComeToo:
                [
                    "/z": nil, "/z/deep": nil, "/z/deep/y": y, "/z/z": z, "/e": nil, "/e/f": f, "/d": nil, "/d/w": w,
                ]
            case .byFile:
                [
                    "/d": f, "/e": nil, "/e/c": nil, "/e/c/deep": nil, "/e/c/deep/y": y, "/e/c/z": z, "/x": nil,
                    "/x/w": w,
                ]
            }
        }

        var testDescription: String { rawValue }
    }

    @Test(
        "I18 I3: what takes the place of the folder above it has all that is in it, at once, and costs no bytes",
        arguments: Course.allCases, [true, false])
    func above(course: Course, isPinned: Bool) async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/d/c/z", "in c")
            fixture.put("/d/c/deep/y", "below c")
            fixture.put("/d/f", "in d")
            fixture.put("/x/w", "in x")
            try await fixture.runWell()
            if isPinned {
                try await fixture.pin("/")
                try await fixture.runWell()
            }
            #expect(course.happen(to: fixture.server.tree))
            for _ in 0..<3 {
                try await fixture.runWell()
                #expect(fixture.downloads == [])
            }
            let listed = try await fixture.host.database.read { reads in
                var items: [String: CloudStatus] = [:]
                try reads.items.each(ItemListing(folder: .root, isRecursive: true)) { item in
                    items[item.path.text] = item.cloudStatus
                    return true
                }
                return items
            }
            #expect(Set(listed.keys) == Set(course.end.keys))
            #expect(!listed.values.contains(.localOnly))
            if isPinned {
                for case (let path, let text?) in course.end { #expect(try fixture.text(path) == text, "\(path)") }
            }
            let (history, moves) = try await fixture.host.database.read { (try $0.scanHistory(), try $0.moves.all()) }
            #expect(!history.etagsWereWrong && moves.isEmpty)
        }
    }

    /// What becomes of `/a/c/b`, which takes the place of the file `/a/a`, and of what is in it: the file `c`, and the
    /// folder `b` with `d`.
    enum Emptied: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case whole, withoutFile, withoutAnything, replacedFromWithin

        func happen(to tree: Tree) -> Bool {
            guard tree.move("/a/c/b", to: "/a/a") else { return false }
            return switch self {
            case .whole: true
            case .withoutFile: tree.remove("/a/a/c")
            case .withoutAnything: tree.remove("/a/a/c") && tree.remove("/a/a/b")
            case .replacedFromWithin:
                tree.remove("/a/a/c") && tree.remove("/a/a/b/d") && tree.move("/a/a/b", to: "/a/c/b")
            }
        }

        var testDescription: String { rawValue }
    }

    @Test(
        "I7: the file in whose place a folder came goes with vacuum, whether or not anything of the folder is moved there",
        arguments: Emptied.allCases)
    func emptied(course: Emptied) async throws {
        let settings = Settings(
            removalGuard: nil,
            plugins: [PluginSettings(id: PluginID(shortOrFull: "vacuum"), json: #"{"after": "1h"}"#)])
        try await AccountFixture.running(settings: settings) { fixture in
            let tree = fixture.server.tree
            for (path, text) in [("/a/a", "file"), ("/a/c/b/c", "c"), ("/a/c/b/b/d", "d")] { fixture.put(path, text) }
            try await fixture.runWell()
            try await fixture.pin("/")
            try await fixture.runWell()
            #expect(course.happen(to: tree))
            try await fixture.run()
            #expect(try fixture.text("/a/a") == "file")
            for _ in 0..<3 {
                fixture.clock.advance(.seconds(86_400))
                try await fixture.run()
            }
            #expect(try fixture.tree().sorted() == tree.paths.sorted())
            #expect(try await fixture.host.database.read { try $0.moves.all().isEmpty })
        }
    }
}
