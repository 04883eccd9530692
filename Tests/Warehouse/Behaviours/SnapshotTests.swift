import Testing
import Warehouse

/// Tests of values alone, which need no file system.
@Suite struct SnapshotTests {
    private static let steps = (0..<3).map { _ in StepID() }

    private func snapshot(cursor: Int, _ stepIDs: [StepID]? = steps) -> ProjectSnapshot {
        ProjectSnapshot(
            id: ProjectID(), bundleID: "org.example.editor", creationDate: .now(), modificationDate: .now(),
            stepIDs: stepIDs, stepCursor: cursor, userData: [1], assets: "/assets")
    }

    @Test("W behaviour 67: undo is possible with a cursor above 0")
    func canUndo() { #expect(snapshot(cursor: 1).canUndo) }

    @Test("W behaviour 68: undo is not possible at 0")
    func cannotUndo() { #expect(!snapshot(cursor: 0).canUndo) }

    @Test("W behaviour 69: redo is possible with steps after the cursor")
    func canRedo() { #expect(snapshot(cursor: 2).canRedo) }

    @Test("W behaviour 70: redo is not possible without steps after the cursor")
    func cannotRedo() { #expect(!snapshot(cursor: 3).canRedo) }

    @Test("W behaviour 71: redo is not possible if the step ids are not known")
    func redoUnknown() { #expect(!snapshot(cursor: 0, nil).canRedo) }

    @Test("W behaviour 72: undo is the cursor less 1 and nothing else, of the same project")
    func undo() {
        let project = snapshot(cursor: 2)
        #expect(ProjectUpdateRequest.undo(project) == ProjectUpdateRequest(projectID: project.id, stepCursor: 1))
    }

    @Test("W behaviour 73: there is no undo at 0")
    func noUndo() { #expect(ProjectUpdateRequest.undo(snapshot(cursor: 0)) == nil) }

    @Test("W behaviour 74: redo is the cursor and 1, and nothing else")
    func redo() {
        let project = snapshot(cursor: 2)
        #expect(ProjectUpdateRequest.redo(project) == ProjectUpdateRequest(projectID: project.id, stepCursor: 3))
    }

    @Test("W behaviour 75: there is no redo at the end")
    func noRedo() { #expect(ProjectUpdateRequest.redo(snapshot(cursor: 3)) == nil) }

    @Test("W behaviour 76: there is no redo without step ids")
    func redoWithoutIDs() { #expect(ProjectUpdateRequest.redo(snapshot(cursor: 0, nil)) == nil) }

    @Test("W behaviour 77: adding a step moves the cursor, deletes exactly what was undone, and adds one")
    func addStep() {
        let project = snapshot(cursor: 1)
        let content = StepContent(userData: [9])
        #expect(
            ProjectUpdateRequest.addStep(content, to: project)
                == ProjectUpdateRequest(
                    projectID: project.id, stepCursor: 2, stepIDsToDelete: Array(Self.steps[1...]),
                    stepsToAdd: [content], userData: nil))
    }

    @Test("W behaviour 78: adding a step at the end deletes nothing")
    func addStepAtEnd() {
        #expect(ProjectUpdateRequest.addStep(StepContent(), to: snapshot(cursor: 3))?.stepIDsToDelete == [])
    }

    @Test("W behaviour 79: no step can be added without step ids")
    func addStepWithoutIDs() {
        #expect(ProjectUpdateRequest.addStep(StepContent(), to: snapshot(cursor: 0, nil)) == nil)
    }
}
