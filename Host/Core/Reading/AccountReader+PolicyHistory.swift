import Database
import Glibc
public import Model
import Threads
import Warehouse

/// A change of policies in their history.
public struct PolicyHistoryStep: Sendable {
    /// Names it in the project that the history is.
    public var id: String
    public var step: PolicyStep
    /// It was not undone. Quiet ones never are.
    public var isApplied: Bool
}

/// What is known of the changes of an account's policies.
public struct PolicyHistoryReport: Sendable {
    /// The latest first; those that were undone, and can be redone, before all others.
    public var steps: [PolicyHistoryStep] = []
    /// How many changes are not among them yet, since a run was interrupted or could not write them.
    public var waiting = 0
}

extension AccountReader {
    /// The changes of the policies: who, when, what.
    /// - Parameter limit: no more than these; nil: all.
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
    /// The latest steps, the last one first.
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
            // A host that is at work drops steps that are too old or were undone.
            guard case ProjectProblem.noSuchStep? = error.underlying, try self.snapshot() != snapshot else {
                throw error
            }
            return try history(limit: limit)
        }
    }
}
