import Database
import Model
import Warehouse

extension ProjectUpdateRequest {
    /// Adds steps after the applied steps. A person's change replaces the undone steps; an automatic change keeps them.
    /// - Parameters:
    ///   - rows: The steps to add, fewer than `limit`.
    ///   - project: The project.
    ///   - limit: The highest number of steps that are kept. The oldest steps are deleted first; once no applied step
    ///     is left, the steps that would be redone last are deleted.
    init(adding rows: some Collection<PolicyJournalRow>, to project: ProjectSnapshot, limit: Int) {
        let (steps, cursor) = (project.stepIDs ?? [], project.stepCursor)
        var isTailDropped = false
        var contents: [StepContent] = []
        var last: PolicyChangeID?
        for row in rows {
            guard case .step(let step) = row.entry else { continue }
            contents.append(StepContent(userData: Array(row.entry.json.utf8)))
            if step.author.isPerson { isTailDropped = true }
            last = row.id
        }
        var deleted = isTailDropped ? Array(steps[cursor...]) : []
        let excess = max(0, steps.count - deleted.count + contents.count - limit)
        let front = min(excess, cursor)
        deleted += steps[..<front]
        if excess > front { deleted += steps.suffix(excess - front) }
        self.init(
            projectID: project.id, stepCursor: cursor - front + contents.count, stepIDsToDelete: deleted,
            stepsToAdd: contents, userData: last.map { PolicyHistoryData(lastRow: $0).bytes })
    }

    /// Moves the cursor. If the move's step does not exist, because the project was deleted since, the cursor stays.
    init(_ move: PolicyMove, row: PolicyChangeID, in project: ProjectSnapshot) {
        let steps = project.stepIDs ?? []
        func place(_ id: String) -> Int? { StepID(id).flatMap(steps.firstIndex) }
        let cursor =
            switch move.direction {
            case .undo: place(move.step)
            case .redo: (place(move.last) ?? place(move.step)).map { $0 + 1 }
            }
        self.init(projectID: project.id, stepCursor: cursor, userData: PolicyHistoryData(lastRow: row).bytes)
    }
}
