import Database
import Model
import Warehouse

extension ProjectUpdateRequest {
    /// Adds steps behind those that are applied. What a person does takes the place of what was undone; what happens by itself
    /// leaves it.
    /// - Parameters:
    ///   - rows: steps, fewer than `limit`.
    ///   - limit: how many steps are kept. The oldest go, and if all that are applied have gone, those to be redone last.
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

    /// Moves the cursor. A step that is not there, because the project was deleted since, moves nothing.
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
