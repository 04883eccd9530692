import Database
import DemoServer
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing
import Warehouse

@testable import Core

@Suite struct PolicyHistoryTests {
    @Test("Each way in which policies change is a step of who did it: a person, a plugin, the host")
    func authors() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/b/1", "/z/9", "/gone/2"] { fixture.put(path, path) }
            let began = fixture.clock.host.now()
            for path in ["/a/b", "/gone", "/z/9"] { try await fixture.pin(path) }
            try await fixture.add("mine")
            _ = try await fixture.host.perform(
                Policies.Update(
                    named: "mine", PolicyChange(condition: "false", description: "for later")))
            _ = try await fixture.host.perform(Policies.Remove(named: "mine"))
            try await fixture.unpin("/z/9")
            let byHand = [
                "ada added /a/b", "ada added /gone", "ada added /z/9", "ada added mine",
                "ada changed where description of mine", "ada removed mine", "ada removed /z/9",
            ]
            #expect(try await fixture.story() == byHand)
            let times = try await fixture.history().steps.map(\.step.author.time)
            #expect(times.allSatisfy { $0 >= began && $0 <= fixture.clock.host.now() })

            // The pins get their targets' ids, one target moves, and another target is removed.
            try await fixture.runWell()
            let found = try await fixture.story().dropFirst(byHand.count)
            fixture.server.tree.move("/a/b", to: "/z/new")
            fixture.server.tree.remove("/gone")
            try await fixture.runWell()
            let automatic = try await fixture.story().dropFirst(byHand.count + found.count)
            #expect(
                automatic.contains { $0.hasPrefix("org.larder.available-offline quietly changed where path of /z/new") }
            )
            #expect(automatic.contains("larder removed /gone"), "\(automatic)")
            #expect(automatic.count == 2)
            #expect(try await fixture.host.database.read { try $0.policies.changeCount() } == 0)
            #expect(try await fixture.history(limit: 2).steps.map(\.id) == fixture.history().steps.prefix(2).map(\.id))
        }
    }

    @Test("A host at work writes each step right after its change")
    func atWork() async throws {
        try await AccountFixture.running { fixture in
            let host = try await fixture.ready()
            let running = Task { try await host.run() }
            // The host writes the step of a change committed before it was at work, as every start does. The second
            // change comes after that.
            for id in ["x", "y"] {
                try await fixture.host.database.write { tx in
                    let policy = ItemPolicy(id: PolicyID(id), kind: PolicyKind("k"), condition: "true")
                    _ = try tx.policies.add(policy, by: .plugin)
                }
                try await until(atMost: .seconds(60)) {
                    try await fixture.story().last == "org.example.p added \(id)"
                }
            }
            #expect(try await fixture.story() == ["org.example.p added x", "org.example.p added y"])
            running.cancel()
            try await running.value
        }
    }

    @Test("V1: while the vault is away its history is not written in its place; later each step is there once")
    func away() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.add("x")
            let vault = fixture.bookmark.vault
            try await mustRun("mv", [vault, "\(vault)-away"])
            try Files.makeFolder(vault)
            // What is open fails once; then it would be opened anew, and made.
            for id in ["y", "y2"] { try await fixture.add(id) }
            let made = try Files.names(in: vault)
            #expect(made == [], "\(made)")
            Files.remove(vault)
            try await mustRun("mv", ["\(vault)-away", vault])
            try await fixture.add("z")
            #expect(try await fixture.story() == ["x", "y", "y2", "z"].map { "ada added \($0)" })
        }
    }

    @Test("While the history cannot be written changes stand and a warning says what to do; later each is there once")
    func fullDisk() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.add("a")
            try await fixture.withoutProjects {
                try await fixture.add("b")
                try await fixture.add("c")
                #expect(
                    fixture.log.messages.contains {
                        $0.hasPrefix("warning: the history of the policies cannot be kept")
                    })
                let failure = await #expect(throws: Failure.self) {
                    try await fixture.host.perform(Policies.Move(.undo))
                }
                #expect(failure?.kind == .localIO)
                #expect(try await fixture.conditions() == ["a true", "b true", "c true"])
                #expect(try await fixture.host.database.read { try $0.policies.changeCount() } == 2)
            }
            #expect(try await fixture.history().waiting == 2)
            try await fixture.restart()
            try await fixture.runWell()
            #expect(try await fixture.story() == ["ada added a", "ada added b", "ada added c"])
            #expect(try await fixture.history().waiting == 0)
        }
    }

    @Test("A database that was made anew goes on with the history that there is; a deleted history begins anew")
    func anew() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.add("a")
            try await fixture.add("b")
            let first = try #require(try fixture.projects.projectIDs().first)
            try await fixture.close()
            for suffix in ["", "-wal", "-shm"] { Files.remove("\(fixture.bookmark.vault)/larder.db\(suffix)") }
            try await fixture.start()
            try await fixture.add("c")
            #expect(try await fixture.story() == ["ada added a", "ada added b", "ada added c"])
            #expect(try fixture.projects.projectIDs() == [first])

            // The policy that the lost database had is already gone. This is no error.
            _ = try await fixture.host.perform(Policies.Move(.undo))
            let outcome = try await fixture.host.perform(Policies.Move(.undo))
            #expect(outcome.gone.map(\.id.text) == ["b"])
            #expect(try await fixture.story() == ["ada added a", "(ada added b)", "(ada added c)"])

            // A copied project is no history, though it has the same contents.
            _ = try fixture.projects.duplicateProject(first)
            try fixture.projects.deleteProject(first)
            #expect(try await fixture.story() == [])
            let failure = await #expect(throws: Failure.self) { try await fixture.host.perform(Policies.Move(.undo)) }
            #expect(failure?.kind == .badData)
            try await fixture.add("d")
            #expect(try await fixture.story() == ["ada added d"])
            #expect(try fixture.projects.projectIDs().count == 2)
        }
    }

    @Test("The oldest steps go; if all that are applied have gone, those that would be redone last")
    func bounded() async throws {
        try await AccountFixture.running { fixture in
            let small = PolicyHistory(
                fixture.host.database, vault: fixture.bookmark.vault, clock: fixture.clock.host, stepLimit: 5)
            for number in 0..<7 { try await fixture.add("\(number)") }
            #expect(try await fixture.story().count == 7)
            for _ in 0..<2 { _ = try await fixture.host.perform(Policies.Move(.undo)) }
            func automatic(_ id: String) async throws {
                try await fixture.host.database.write { tx in
                    let policy = ItemPolicy(id: PolicyID(id), kind: PolicyKind("k"), condition: "true")
                    _ = try tx.policies.add(policy, by: .plugin)
                }
                try await small.flush()
            }
            try await automatic("x")
            #expect(
                try await fixture.story() == [
                    "ada added 3", "ada added 4", "org.example.p added x", "(ada added 5)", "(ada added 6)",
                ])
            for _ in 0..<3 { _ = try await fixture.host.perform(Policies.Move(.undo)) }
            try await automatic("y")
            #expect(
                try await fixture.story() == [
                    "org.example.p added y", "(ada added 3)", "(ada added 4)", "(org.example.p added x)",
                    "(ada added 5)",
                ])
            try await fixture.add("mine")
            #expect(try await fixture.story() == ["org.example.p added y", "ada added mine"])
        }
    }

    @Test("A move whose step is gone moves nothing, and what comes after it is written")
    func moveWithoutStep() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.add("a")
            try await fixture.withoutProjects { try await fixture.add("b") }
            try await fixture.host.history.flush()
            let target = try #require(try await fixture.host.history.next(.undo))
            try await fixture.host.database.write { tx in
                let move = PolicyMove(
                    .undo, step: target.id.description, last: target.last.description, author: .somebody)
                _ = try tx.policies.carryOut(move, of: target.step)
            }
            for id in try fixture.projects.projectIDs() { try fixture.projects.deleteProject(id) }
            try await fixture.add("c")
            #expect(try await fixture.story() == ["ada added c"])
            #expect(try await fixture.conditions() == ["a true", "c true"])
        }
    }
}
