import Database
import Model
import TestSupport
import Testing
import Warehouse

@testable import Core

extension AccountFixture {
    /// Returns the history as a reading command sees it, the latest step first.
    func history(limit: Int? = nil) async throws -> PolicyHistoryReport {
        let reader = try AccountReader.open(bookmark)
        let report = try await reader.policyHistory(limit: limit)
        try reader.close()
        return report
    }

    /// Returns a line for each step, the oldest first: `ada added x`, in brackets if the step is undone.
    func story() async throws -> [String] {
        try await history().steps.reversed().map { entry in
            let who =
                switch entry.step.author.who {
                case .person(let name): name
                case .plugin(let id): id.text
                case .host: "larder"
                }
            let what = entry.step.changes.map { change in
                let target = change.after ?? change.before
                let name = target?.path?.text ?? target?.id.text ?? ""
                if change.before == nil { return "added \(name)" }
                if change.after == nil { return "removed \(name)" }
                return "changed \(change.fields.map(\.rawValue).joined(separator: " ")) of \(name)"
            }
            let line = "\(who)\(entry.step.isQuiet ? " quietly" : "") \(what.joined(separator: ", "))"
            return entry.isApplied ? line : "(\(line))"
        }
    }

    @discardableResult func add(_ id: String, _ condition: String = "true") async throws -> ItemPolicy {
        try await host.perform(
            Policies.Add(
                ItemPolicy(id: PolicyID(id), kind: PolicyKind("k"), identifier: id, condition: condition))
        ).policy
    }

    @discardableResult func update(_ id: String, _ condition: String) async throws -> ItemPolicy {
        try await host.perform(Policies.Update(named: id, PolicyChange(condition: condition)))
    }

    /// Sets a policy's condition as an author who is not a person.
    func change(_ id: String, _ condition: String, by author: PolicyAuthor, quietly: Bool = false) async throws {
        try await host.database.write { tx in
            var policy = try #require(try tx.policies.policy(PolicyID(id)))
            policy.condition = condition
            try tx.policies.update(policy, by: author, runsTrigger: !quietly)
        }
    }

    func conditions() async throws -> [String] {
        try await host.database.read { try $0.policies.all() }.map { "\($0.id) \($0.condition)" }.sorted()
    }

    var projects: ProjectStorage { ProjectStorage(base: "\(bookmark.vault)/projects", bundleID: "test") }

    /// Runs `body` while nothing can be written to the folder of projects.
    func withoutProjects(_ body: () async throws -> Void) async throws {
        let folder = "\(bookmark.vault)/projects"
        if Files.exists(folder) { try await mustRun("mv", [folder, folder + " away"]) }
        try Files.write("no folder", to: folder)
        try await body()
        Files.remove(folder)
        if Files.exists(folder + " away") { try await mustRun("mv", [folder + " away", folder]) }
    }
}

extension PolicyAuthor {
    static let plugin = PolicyAuthor.plugin(PluginID("org.example.p"), at: Timestamp(seconds: 5))
}
