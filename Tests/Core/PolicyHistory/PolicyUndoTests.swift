import Database
import ItemList
import Model
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

@Suite struct PolicyUndoTests {
    @Test("Undo and redo take back and do again what was added, changed and removed, with every field")
    func everyField() async throws {
        try await AccountFixture.running { fixture in
            let full = ItemPolicy(
                id: PolicyID("x"), kind: PolicyKind("k"), identifier: "named", description: "ü \"\\\n",
                condition: "size > 5",
                path: ItemPath(unchecked: "/100 %"), localID: LocalID("l"), removeWhenNone: "size > 6", data: [0, 255])
            try await fixture.host.database.write { tx in _ = try tx.policies.add(full, by: .plugin) }
            _ = try await fixture.host.perform(
                Policies.Update(
                    named: "x", PolicyChange(condition: "size > 7", description: "", removeWhenNone: "")))
            _ = try await fixture.host.perform(Policies.Remove(named: "x"))
            func now() async throws -> ItemPolicy? {
                try await fixture.host.database.read { try $0.policies.all() }.first
            }

            _ = try await fixture.host.perform(Policies.Move(.undo))
            let again = try #require(try await now())
            #expect(again.condition == "size > 7" && again.description == nil && again.removeWhenNone == nil)
            #expect(again.fields(differingFrom: full) == [.condition, .description, .removeWhenNone])
            let outcome = try await fixture.host.perform(Policies.Move(.undo))
            #expect(!outcome.step.isApplied && outcome.gone.isEmpty)
            #expect(try await now()?.fields(differingFrom: full) == [])
            _ = try await fixture.host.perform(Policies.Move(.undo))
            #expect(try await now() == nil)
            let nothing = await #expect(throws: Failure.self) { try await fixture.host.perform(Policies.Move(.undo)) }
            #expect(nothing?.kind == .badData && nothing?.message == "there is nothing to undo")

            _ = try await fixture.host.perform(Policies.Move(.redo))
            #expect(try await now()?.fields(differingFrom: full) == [])
            _ = try await fixture.host.perform(Policies.Move(.redo))
            #expect(try await now()?.fields(differingFrom: again) == [])
            #expect(try await fixture.host.perform(Policies.Move(.redo)).step.isApplied)
            #expect(try await now() == nil)
            await #expect(throws: Failure.self) { try await fixture.host.perform(Policies.Move(.redo)) }
            #expect(try await fixture.history().steps.allSatisfy(\.isApplied))
        }
    }

    @Test("What was changed since is not undone: the field and the policy are named, and nothing changes")
    func conflicts() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.add("a")
            try await fixture.add("b")
            try await fixture.host.database.write { tx in
                for id in ["a", "b"] {
                    var policy = try #require(try tx.policies.policy(PolicyID(id)))
                    policy.condition = "false"
                    try tx.policies.update(policy, by: .plugin)
                }
            }
            // The step is undone from its last change on. Its change of b would be set back before the change of a is
            // checked.
            try await fixture.change("a", "size > 1", by: .plugin, quietly: true)
            let before = try await fixture.conditions()
            let (story, count) = (try await fixture.story(), try await fixture.history().waiting)
            #expect(before == ["a size > 1", "b false"] && count == 2)
            let failure = await #expect(throws: Failure.self) { try await fixture.host.perform(Policies.Move(.undo)) }
            #expect(failure?.kind == .badData)
            #expect(failure?.message.contains("`where` of the policy a was changed since") == true)
            #expect(try await fixture.conditions() == before)
            #expect(try await fixture.story().count == story.count + 2)
            #expect(try await fixture.history().steps.allSatisfy(\.isApplied))

            // When the field has the value that the step left, the step can be undone. The present values of other
            // fields stay.
            try await fixture.change("a", "false", by: .plugin, quietly: true)
            try await fixture.host.database.write { tx in
                var policy = try #require(try tx.policies.policy(PolicyID("a")))
                policy.description = "stays"
                try tx.policies.update(policy, by: .plugin, runsTrigger: false)
            }
            _ = try await fixture.host.perform(Policies.Move(.undo))
            #expect(try await fixture.conditions() == ["a true", "b true"])
            #expect(
                try await fixture.host.database.read { try $0.policies.policy(PolicyID("a")) }?.description == "stays")
        }
    }

    @Test("An id that is taken by now, or a policy that is gone, keeps a step from being undone")
    func taken() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.add("a")
            try await fixture.update("a", "false")
            try await fixture.host.database.write {
                try $0.policies.remove(PolicyID("a"), by: .plugin, runsTrigger: false)
            }
            let gone = await #expect(throws: Failure.self) { try await fixture.host.perform(Policies.Move(.undo)) }
            #expect(gone?.message.contains("the policy a, which it changed, is gone") == true)
            try await fixture.host.database.write { tx in
                let policy = ItemPolicy(id: PolicyID("a"), kind: PolicyKind("k"), condition: "false")
                _ = try tx.policies.add(policy, by: .plugin, runsTrigger: false)
            }
            _ = try await fixture.host.perform(Policies.Remove(named: "a"))
            try await fixture.host.database.write { tx in
                let policy = ItemPolicy(id: PolicyID("a"), kind: PolicyKind("other"), condition: "true")
                _ = try tx.policies.add(policy, by: .plugin, runsTrigger: false)
            }
            let taken = await #expect(throws: Failure.self) { try await fixture.host.perform(Policies.Move(.undo)) }
            #expect(taken?.kind == .badData)
            #expect(taken?.message.contains("there is now another policy with this id") == true)
            #expect(try await fixture.conditions() == ["a true"])
        }
    }

    @Test("Quiet changes are passed over, stay in force, and come again with the policy that they were of")
    func quiet() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.add("a", "path == \"/old\"")
            try await fixture.add("b")
            try await fixture.change("a", "path == \"/new\"", by: .plugin, quietly: true)
            _ = try await fixture.host.perform(Policies.Move(.undo))
            #expect(try await fixture.conditions() == ["a path == \"/new\""])
            _ = try await fixture.host.perform(Policies.Move(.undo))
            #expect(try await fixture.conditions() == [])
            #expect(
                try await fixture.story() == [
                    "(ada added a)", "(ada added b)", "org.example.p quietly changed where of a",
                ])
            _ = try await fixture.host.perform(Policies.Move(.redo))
            #expect(try await fixture.conditions() == ["a path == \"/new\""])
            _ = try await fixture.host.perform(Policies.Move(.redo))
            #expect(try await fixture.conditions() == ["a path == \"/new\"", "b true"])
            let done = await #expect(throws: Failure.self) { try await fixture.host.perform(Policies.Move(.redo)) }
            #expect(done?.message == "there is nothing to redo")
            // The cursor is past these steps again, so the next step does not replace them.
            try await fixture.add("c")
            #expect(
                try await fixture.story() == [
                    "ada added a", "ada added b", "org.example.p quietly changed where of a", "ada added c",
                ])
        }
    }

    @Test("A person's change takes the place of what was undone; what happens by itself leaves it to be redone")
    func branches() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.add("a")
            try await fixture.add("b")
            _ = try await fixture.host.perform(Policies.Move(.undo))
            try await fixture.change("a", "false", by: .host(at: Timestamp(seconds: 7)))
            _ = try await fixture.host.perform(Policies.Move(.redo))
            #expect(try await fixture.story() == ["ada added a", "larder changed where of a", "ada added b"])
            _ = try await fixture.host.perform(Policies.Move(.undo))
            try await fixture.add("c")
            #expect(try await fixture.story() == ["ada added a", "larder changed where of a", "ada added c"])
            await #expect(throws: Failure.self) { try await fixture.host.perform(Policies.Move(.redo)) }
        }
    }

    @Test("Undoing a pin removes the copy with the next run, redoing it fetches it again")
    func atWork() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/a")
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a/", "/a/1"])
            _ = try await fixture.host.perform(Policies.Move(.undo))
            try await fixture.runWell()
            #expect(try fixture.tree() == [])
            _ = try await fixture.host.perform(Policies.Move(.redo))
            try await fixture.runWell()
            #expect(try fixture.text("/a/1") == "one")
        }
    }
}
