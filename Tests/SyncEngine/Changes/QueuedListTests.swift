import Model
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

/// What the item list shows of changes that wait in the journal.
@Suite struct QueuedListTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    @Test(
        "S7: what is made below a folder and goes with it does not show again when another folder takes its place",
        arguments: [true, false])
    func madeAndDeleted(isFolder: Bool) async throws {
        try await EngineFixture.with { fixture in
            for folder in ["/a", "/c"] { try await fixture.addFolder(folder) }
            fixture.engine.setOnline(false)
            if isFolder {
                try await fixture.change(.move(path("/a"), to: path("/c/n")))
                try await fixture.change(.createFolder(path("/a")))
                try await fixture.change(.move(path("/a"), to: path("/c/t")))
            } else {
                try await fixture.put("mine", "/c/f")
            }
            try await fixture.change(.delete(path("/c")))
            try await fixture.change(.createFolder(path("/r")))
            try await fixture.change(.move(path("/r"), to: path("/c")))
            _ = try await fixture.drain()
            let left = isFolder ? ["/c"] : ["/a", "/c"]
            #expect(try await fixture.listed() == left)

            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.listed() == left)
            #expect(fixture.source.paths.isEmpty)
            #expect(try !fixture.source.changing.has(folder: path("/c/t")))
            #expect(try fixture.source.changing.has(folder: path("/c")))
        }
    }

    @Test("S7: a random script of queued commands makes on the server what the list has shown, and asks nothing")
    func script() async throws {
        let first = SeededGenerator().seed
        for round in 0..<UInt64(SeededGenerator.rounds(usually: 10)) {
            let seed = first &+ round
            var script = CommandScript(seed: seed, on: TreeModel())
            let commands = (0..<200).map { _ in script.next() }
            guard let problem = try await problem(of: commands) else { continue }
            let shortest = try await shortest(commands) { try await self.problem(of: $0) != nil }
            Issue.record("LARDER_TEST_SEED=\(seed) LARDER_TEST_ROUNDS=1: \(problem)\n\(shortest)")
        }
    }

    /// Queues commands, and compares what the server has when they are made.
    private func problem(of commands: [TreeCommand]) async throws -> String? {
        var problem: String?
        try await EngineFixture.with { fixture in
            var model = TreeModel()
            fixture.engine.setOnline(false)
            for command in commands where model.carryOut(command) {
                let outcome =
                    switch command {
                    case .makeFolder(let folder): try await fixture.change(.createFolder(path(folder)))
                    case .put(let text, let file, let replaces):
                        try await fixture.put(text, file, replaces: replaces)
                    case .move(let from, let to): try await fixture.change(.move(path(from), to: path(to)))
                    case .copy(let from, let to): try await fixture.change(.copy(path(from), to: path(to)))
                    case .remove(let item): try await fixture.change(.delete(path(item)))
                    }
                if case .refused(let failure) = outcome { problem = "\(command): \(failure.message)" }
            }
            guard problem == nil else { return }
            fixture.engine.setOnline(true)
            let left = try await fixture.drain()
            let issues = try await fixture.issues()
            guard left.leftCount == 0, issues.isEmpty else {
                problem = (left.left.map(\.why) + issues.map(\.message)).joined(separator: "; ")
                return
            }
            var made: [String: TreeModel.Entry] = [:]
            for file in fixture.source.paths {
                made[file.text] = .file(String(decoding: fixture.source[file]?.bytes ?? [], as: UTF8.self))
            }
            for folder in fixture.source.changing.state.withLock({ $0.folders }) where !folder.isRoot {
                made[folder.text] = .folder
            }
            if made != model.entries {
                problem = "made: \(TreeModel(made).listing), not \(model.listing)"
            }
        }
        return problem
    }
}
