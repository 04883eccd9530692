import Database
import DemoServer
import ItemList
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

/// What others do on the server between two scans, in random order.
struct ServerScriptTests {
    /// A script of a seed: changes of the server, and scans in between.
    private struct Script {
        var random: SeededGenerator
        let fixture: AccountFixture
        var history: [String] = []
        /// The number of versions of files that were put on the server, and of those that were fetched.
        var versions = 0
        var fetched = 0

        var note: Comment { "LARDER_TEST_SEED=\(random.seed) \(history)" }
        private var tree: Tree { fixture.server.tree }

        private mutating func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &random) }

        /// Returns a path in a folder that there is. Few names make for many meetings.
        private mutating func place() -> String {
            let folders = [""] + tree.paths.filter { $0.hasSuffix("/") }.map { String($0.dropLast()) }
            let shallow = folders.filter { $0.split(separator: "/").count < 4 }
            return "\(shallow[number(shallow.count)])/\(["a", "b", "c", "d"][number(4)])"
        }

        private mutating func anything() -> String? {
            let all = tree.paths.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
            return all.isEmpty ? nil : all[number(all.count)]
        }

        private mutating func put(_ path: String) {
            versions += 1
            fixture.put(path, "version \(versions)")
            history.append("put \(path)")
        }

        mutating func change() {
            switch number(8) {
            case 0, 1:
                let path = number(3) == 0 ? "\(place())/\(["a", "b", "c", "d"][number(4)])" : place()
                let above = path.split(separator: "/").dropLast().reduce(into: [""]) {
                    $0.append("\($0.last ?? "")/\($1)")
                }
                guard !tree.exists(path), above.allSatisfy({ tree.bytes(of: $0) == nil }) else { return }
                put(path)
            case 2:
                if let path = anything(), tree.bytes(of: path) != nil { put(path) }
            case 3:
                if let path = anything(), tree.remove(path) { history.append("remove \(path)") }
            default:
                guard let path = anything() else { return }
                let target = place()
                if target != path, tree.move(path, to: target) { history.append("move \(path) \(target)") }
            }
        }

        mutating func scan() async throws {
            history.append("—")
            for number in 0..<3 {
                let outcome = try await fixture.run()
                // What waits for vacuum is told.
                if number == 2 { #expect(outcome.failures.map(\.message) == [], note) }
                fetched += fixture.downloads.count
                fixture.clock.advance(.seconds(86_400))
            }
        }

        /// Compares the list and the tree with the server.
        /// - Returns: Whether they are the same.
        func check() async throws -> Bool {
            let (listed, moves) = try await fixture.host.database.read { reads in
                var listed: [String] = []
                try reads.items.each(ItemListing(folder: .root, isRecursive: true)) { item in
                    listed.append(item.path.text + (item.kind == .folder ? "/" : ""))
                    if item.cloudStatus == .localOnly { listed.append("\(item.path) exists only here") }
                    return true
                }
                return (listed.sorted(), try reads.moves.all())
            }
            let here = try fixture.tree().filter { !$0.hasSuffix("/") }
            let files = tree.paths.filter { !$0.hasSuffix("/") }
            #expect(listed == tree.paths.sorted(), note)
            #expect(here.sorted() == files.sorted(), note)
            #expect(moves.isEmpty && fetched <= versions, "\(moves) \(fetched) of \(versions) \(note)")
            guard listed == tree.paths.sorted(), here.sorted() == files.sorted() else { return false }
            for path in files {
                let text = tree.bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
                #expect(try fixture.text(path) == text, "\(path) \(note)")
            }
            return true
        }
    }

    @Test("I3 I5 I18: a pinned tree follows whatever others move, remove and put, and fetches no version twice")
    func scripts() async throws {
        var random = SeededGenerator()
        for round in 0..<SeededGenerator.rounds(usually: 5) {
            let seed = round == 0 ? random.seed : random.next()
            let settings = Settings(
                removalGuard: nil,
                plugins: [PluginSettings(id: PluginID(shortOrFull: "vacuum"), json: #"{"after": "1h"}"#)])
            try await AccountFixture.running(settings: settings) { fixture in
                var script = Script(random: SeededGenerator(seed: seed), fixture: fixture)
                for _ in 0..<12 { script.change() }
                try await fixture.runWell()
                try await fixture.pin("/")
                for _ in 0..<8 {
                    try await script.scan()
                    guard try await script.check() else { return }
                    for _ in 0...Int.random(in: 0..<4, using: &script.random) { script.change() }
                }
            }
        }
    }
}
