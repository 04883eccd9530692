import Database
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

/// Tests of the history against a simple model of it.
@Suite struct PolicyUndoModelTests {
    private struct Model {
        struct Values: Equatable {
            var condition: String
            var description: String?
        }

        struct Step {
            var id: String
            var before: Values?
            var after: Values?
            var isQuiet: Bool
        }

        struct Conflict: Error {}

        var policies: [String: Values] = [:]
        var steps: [Step] = []
        var cursor = 0

        mutating func set(_ id: String, _ values: Values?, isPerson: Bool, isQuiet: Bool) {
            guard policies[id] != values else { return }
            let step = Step(id: id, before: policies[id], after: values, isQuiet: isQuiet)
            policies[id] = values
            if isPerson { steps.removeSubrange(cursor...) }
            steps.insert(step, at: cursor)
            cursor += 1
        }

        /// - Returns: false if there is nothing to undo.
        mutating func undo() throws -> Bool {
            guard let place = steps[..<cursor].lastIndex(where: { !$0.isQuiet }) else { return false }
            let step = steps[place]
            try move(step.id, from: step.after, to: step.before)
            cursor = place
            return true
        }

        mutating func redo() throws -> Bool {
            guard let place = steps[cursor...].firstIndex(where: { !$0.isQuiet }) else { return false }
            let step = steps[place]
            var after = step.after
            if step.before == nil {
                for later in steps[(place + 1)...] where later.isQuiet && later.id == step.id {
                    guard let old = later.before, let new = later.after else { continue }
                    if after?.condition == old.condition { after?.condition = new.condition }
                    if after?.description == old.description { after?.description = new.description }
                }
            }
            try move(step.id, from: step.before, to: after)
            cursor = place + 1
            while cursor < steps.count, steps[cursor].isQuiet { cursor += 1 }
            return true
        }

        private mutating func move(_ id: String, from old: Values?, to new: Values?) throws {
            guard let old, let new else {
                if new != nil, policies[id] != nil { throw Conflict() }
                policies[id] = new
                return
            }
            guard var now = policies[id] else { throw Conflict() }
            if old.condition != new.condition {
                guard now.condition == old.condition else { throw Conflict() }
                now.condition = new.condition
            }
            if old.description != new.description {
                guard now.description == old.description else { throw Conflict() }
                now.description = new.description
            }
            policies[id] = now
        }
    }

    @Test("Whatever is added, changed, removed, undone and redone by whomever, the history is as a simple model has it")
    func agrees() async throws {
        var random = SeededGenerator()
        try await AccountFixture.running { fixture in
            var model = Model()
            var moves = 0
            for round in 0..<SeededGenerator.rounds(usually: 250) {
                let id = ["a", "b", "c"].randomElement(using: &random) ?? "a"
                var values = Model.Values(condition: ["true", "false", "size > 1"].randomElement(using: &random) ?? "")
                values.description = [nil, "x", "y"].randomElement(using: &random) ?? nil
                switch Int.random(in: 0..<12, using: &random) {
                case 0...2: try await change(id, values, by: nil, isQuiet: false, fixture, &model)
                case 3: try await change(id, values, by: .plugin, isQuiet: false, fixture, &model)
                case 4: try await change(id, values, by: .plugin, isQuiet: true, fixture, &model)
                case 5...7: moves += try await move(.undo, fixture) { try model.undo() }
                case 8...9: moves += try await move(.redo, fixture) { try model.redo() }
                case 10: await fixture.host.writePolicyHistory()
                default:
                    if round.isMultiple(of: 3) {
                        try await fixture.withoutProjects {
                            try await change(id, values, by: nil, isQuiet: false, fixture, &model)
                            try await change("d", values, by: .plugin, isQuiet: false, fixture, &model)
                        }
                    } else if round.isMultiple(of: 5) {
                        try await fixture.restart()
                    }
                }
                try await expectAgreement(fixture, model, "LARDER_TEST_SEED=\(random.seed) round \(round)")
            }
            #expect(moves > 10)
        }
    }

    /// Adds or changes a policy, or removes it if it already has the wanted values, as a person or as another author.
    private func change(
        _ id: String, _ values: Model.Values, by author: PolicyAuthor?, isQuiet: Bool, _ fixture: AccountFixture,
        _ model: inout Model
    ) async throws {
        let old = model.policies[id]
        model.set(id, old == values ? nil : values, isPerson: author == nil, isQuiet: isQuiet)
        let policy = ItemPolicy(
            id: PolicyID(id), kind: PolicyKind("k"), description: values.description, condition: values.condition)
        if let author {
            try await fixture.host.database.write { tx in
                guard var stored = try tx.policies.policy(policy.id) else {
                    _ = try tx.policies.add(policy, by: author, runsTrigger: !isQuiet)
                    return
                }
                guard old != values else { return try tx.policies.remove(policy.id, by: author, runsTrigger: !isQuiet) }
                stored.condition = policy.condition
                stored.description = policy.description
                try tx.policies.update(stored, by: author, runsTrigger: !isQuiet)
            }
        } else if old == nil {
            _ = try await fixture.host.perform(Policies.Add(policy))
        } else if old == values {
            _ = try await fixture.host.perform(Policies.Remove(named: id))
        } else {
            _ = try await fixture.host.perform(
                Policies.Update(
                    named: id, PolicyChange(condition: values.condition, description: values.description ?? "")))
        }
    }

    /// - Returns: 1 if a step was undone or redone, else 0.
    private func move(
        _ direction: PolicyMove.Direction, _ fixture: AccountFixture, _ expected: () throws -> Bool
    ) async throws -> Int {
        var isExpected = false
        do { isExpected = try expected() } catch is Model.Conflict {}
        do throws(Failure) {
            _ = try await fixture.host.perform(Policies.Move(direction))
            #expect(isExpected)
        } catch {
            #expect(error.kind == .badData && !isExpected, "\(error)")
        }
        return isExpected ? 1 : 0
    }

    private func expectAgreement(_ fixture: AccountFixture, _ model: Model, _ note: String) async throws {
        let stored = try await fixture.host.database.read { try $0.policies.all() }
        let found = Dictionary(
            uniqueKeysWithValues: stored.map {
                ($0.id.text, Model.Values(condition: $0.condition, description: $0.description))
            })
        #expect(found == model.policies, "\(note)")
        let history = try await fixture.history()
        // The latest steps are missing until they are written to the project.
        guard history.waiting == 0 else { return }
        let steps = history.steps.reversed().map {
            "\($0.step.changes.first.map { ($0.after ?? $0.before)?.id.text ?? "" } ?? "") "
                + "\($0.step.changes.first?.after?.condition ?? "-") \($0.isApplied)"
        }
        let expected = model.steps.enumerated().map { place, step in
            "\(step.id) \(step.after?.condition ?? "-") \(step.isQuiet || place < model.cursor)"
        }
        #expect(steps == expected, "\(note)")
    }
}
