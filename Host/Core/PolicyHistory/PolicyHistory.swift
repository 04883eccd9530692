import Database
import Glibc
import Model
import Synchronization
import Threads
import Warehouse

/// A writer of the history of an account's policies. The history is a project in the vault, and its steps are the
/// changes.
///
/// Each change is committed together with a row of a journal, and its step is written afterwards. The project records
/// the last row in the same update as the step. A change that is interrupted between the two is thus neither lost nor
/// written twice.
public final class PolicyHistory: Sendable {
    /// The bundle id of the project, which names the program that the project belongs to.
    public static let bundleID = "org.larder.policies"
    /// The highest number of steps that are kept.
    static let stepLimit = 1_000
    private static let rowsAtOnce = 200

    private let database: Database
    private let base: String
    private let clock: HostClock
    private let stepLimit: Int
    /// A queue that runs one operation at a time, on a thread that may block.
    private let queue = BlockingQueue(label: "org.larder.policy-history")
    /// The storage, opened when there is something to write for the first time.
    private let storage = Mutex<ProjectStorage?>(nil)

    init(_ database: Database, vault: String, clock: HostClock, stepLimit: Int = PolicyHistory.stepLimit) {
        self.database = database
        self.clock = clock
        self.stepLimit = stepLimit
        base = Self.base(inVault: vault)
    }

    static func base(inVault vault: String) -> String { vault + "/projects" }

    /// Writes the steps of all committed changes.
    /// - Throws: `.localIO` if the steps cannot be written now. Nothing is lost, and the next call writes them.
    func flush() async throws(Failure) {
        try await onQueue { [self] in
            while true {
                let rows = try database.readBlocking { [stepLimit] tx in
                    try tx.policies.changes(limit: min(Self.rowsAtOnce, stepLimit))
                }
                guard let last = rows.last else { return }
                try Database.checkPlace(of: database.path)
                try write(rows, to: try project())
                try database.writeBlocking { try $0.policies.removeChanges(through: last.number) }
            }
        }
    }

    /// Returns the step that the next undo undoes, or that the next redo redoes; nil if there is none. The result's
    /// `later` holds the quiet steps after a step that is redone.
    func next(_ direction: PolicyMove.Direction) async throws(Failure) -> PolicyTarget? {
        try await onQueue { [self] in
            guard let project = try PolicyProject(in: openStorage(), known: try knownProject()) else { return nil }
            let snapshot = try project.snapshot()
            let (steps, cursor) = (snapshot.stepIDs ?? [], snapshot.stepCursor)
            switch direction {
            case .undo:
                for id in steps[..<cursor].reversed() {
                    let step = try project.step(id)
                    if !step.isQuiet { return PolicyTarget(id: id, step: step, last: id) }
                }
                return nil
            case .redo:
                var target: PolicyTarget?
                var isBehind = true
                for id in steps[cursor...] {
                    let step = try project.step(id)
                    guard target != nil else {
                        if !step.isQuiet { target = PolicyTarget(id: id, step: step, last: id) }
                        continue
                    }
                    if !step.isQuiet { isBehind = false }
                    if isBehind { target?.last = id }
                    if step.isQuiet { target?.later.append(step) }
                }
                return target
            }
        }
    }

    private func write(_ rows: [PolicyJournalRow], to project: PolicyProject) throws {
        let written = try PolicyHistoryData(project.snapshot().userData ?? []).lastRow
        // The rows up to the last written row are skipped: their steps were written, but the rows were not removed yet.
        var rest = rows[(rows.firstIndex { $0.id == written }.map { $0 + 1 } ?? 0)...]
        while let row = rest.first {
            if case .move(let move) = row.entry {
                rest.removeFirst()
                try project.storage.updateProject(project.id, .stepIDs) {
                    ProjectUpdateRequest(move, row: row.id, in: $0)
                }
            } else {
                let steps = rest.prefix { if case .step = $0.entry { true } else { false } }
                rest = rest[steps.endIndex...]
                try project.storage.updateProject(project.id, .stepIDs) { [stepLimit] in
                    ProjectUpdateRequest(adding: steps, to: $0, limit: stepLimit)
                }
            }
        }
    }

    /// Returns the project, and creates it if there is none.
    private func project() throws -> PolicyProject {
        let (storage, known) = (openStorage(), try knownProject())
        let project =
            if let found = try PolicyProject(in: storage, known: known) { found } else {
                try PolicyProject(newIn: storage)
            }
        if project.id != known {
            try database.writeBlocking { try $0.meta.set(.policiesProject, project.id.description) }
        }
        return project
    }

    private func knownProject() throws -> ProjectID? {
        try database.readBlocking { try $0.meta.text(.policiesProject) }.flatMap { ProjectID($0) }
    }

    private func openStorage() -> ProjectStorage {
        storage.withLock { storage in
            if let storage { return storage }
            let opened = ProjectStorage(base: base, bundleID: Self.bundleID) { [clock] in
                ProjectDate(nanoseconds: clock.now().nanoseconds)
            }
            storage = opened
            return opened
        }
    }

    private func onQueue<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws(Failure) -> T {
        do {
            return try await queue.run(body)
        } catch {
            // The folder may be gone. It is created again when the storage is opened.
            storage.withLock { $0 = nil }
            throw Failure(ofPolicyHistory: error)
        }
    }
}

/// A step to be undone or redone.
struct PolicyTarget: Sendable {
    var id: StepID
    var step: PolicyStep
    /// The step after which the cursor stands once the step was redone.
    var last: StepID
    /// The quiet steps after a step that is redone.
    var later: [PolicyStep] = []
}

extension Failure {
    /// Creates the failure for an error of writing or reading the history of policies.
    init(ofPolicyHistory error: any Error) {
        if let failure = error as? Failure {
            self = failure
            return
        }
        let error = error as? ProjectError
        let hint: Advice =
            switch error?.underlying {
            case let cause as SystemCallError where cause.code == ENOSPC || cause.code == EDQUOT:
                .text("free some space")
            case is SystemCallError: .text("check that the vault's folder `projects` is writable")
            default: .deletePolicyHistory(project: error?.projectID?.description)
            }
        self.init(
            .localIO, "the history of the policies cannot be kept: \(error.map { "\($0)" } ?? "an unknown error")",
            hint: hint)
    }
}
