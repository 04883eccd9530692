import Database
import Glibc
public import Model
import Threads
import Warehouse

/// A change of policies in the history of policies.
public struct PolicyHistoryStep: Codable, Sendable {
    /// The id of the step in the project that holds the history.
    public var id: String
    /// The change of policies.
    public var step: PolicyStep
    /// Whether the change is in effect, that is, not undone. Quiet changes are never undone.
    public var isApplied: Bool
}

/// The history of the changes of an account's policies.
public struct PolicyHistoryReport: Sendable {
    /// The steps, the latest first. Steps that were undone and can be redone come before all others.
    public var steps: [PolicyHistoryStep] = []
    /// The number of changes that are not in `steps` yet, because a run was interrupted or could not write them.
    public var waiting = 0
}

extension AccountReader {
    /// Returns the changes of the policies: who made each change, when, and what changed.
    /// - Parameter limit: The highest number of steps to return; nil returns all.
    /// - Throws: `.localIO` if the history cannot be read or is damaged, and as ``issues(limit:)``.
    public func policyHistory(limit: Int? = nil) async throws(Failure) -> PolicyHistoryReport {
        let (known, waiting) = try await read { tx in
            (try tx.meta.text(.policiesProject).flatMap { ProjectID($0) }, try tx.policies.changeCount())
        }
        let base = PolicyHistory.base(inVault: bookmark.vault)
        do {
            return try await runBlocking {
                var report = PolicyHistoryReport(waiting: waiting)
                var status = stat()
                guard stat(base, &status) == 0,
                    let project = try PolicyProject(in: ProjectStorage(readingFrom: base), known: known)
                else { return report }
                report.steps = try project.history(limit: limit ?? .max)
                return report
            }
        } catch {
            throw Failure(ofPolicyHistory: error)
        }
    }
}

extension PolicyProject {
    /// Returns the latest steps, the last step first.
    fileprivate func history(limit: Int) throws -> [PolicyHistoryStep] {
        let snapshot = try snapshot()
        let all = Array((snapshot.stepIDs ?? []).enumerated())
        do {
            return try all.suffix(limit).reversed().map { place, id in
                let step = try step(id)
                return PolicyHistoryStep(
                    id: id.description, step: step, isApplied: step.isQuiet || place < snapshot.stepCursor)
            }
        } catch let error as ProjectError {
            // A running host drops steps that are too old or were undone.
            guard case ProjectProblem.noSuchStep? = error.underlying, try self.snapshot() != snapshot else {
                throw error
            }
            return try history(limit: limit)
        }
    }
}
