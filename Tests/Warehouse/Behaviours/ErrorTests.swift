import Glibc
import Testing
import Warehouse

/// Tests that an error returns the values from which it is made.
@Suite struct ErrorTests {
    private let project = ProjectID()
    private let step = StepID()
    private let cause = SystemCallError(call: "fsync", path: "/a", code: EIO)

    private var projectError: ProjectError {
        ProjectError(.writeFailed, "text", project: project)
    }

    @Test("W behaviour 80: an error of a project has its code")
    func projectCode() { #expect(projectError.code == .writeFailed) }

    @Test("W behaviour 81: an error of a project has its project")
    func projectProject() { #expect(projectError.projectID == project) }

    @Test("W behaviour 82: an error of a project has its message")
    func projectMessage() { #expect(projectError.message == "text") }

    private var causedError: ProjectError {
        ProjectError(.fetchFailed, "text", project: project, underlying: cause)
    }

    @Test("W behaviour 83: an error of a project and cause has its code")
    func causedCode() { #expect(causedError.code == .fetchFailed) }

    @Test("W behaviour 84: an error of a project and cause has its project")
    func causedProject() { #expect(causedError.projectID == project) }

    @Test("W behaviour 85: an error of a project and cause has its message")
    func causedMessage() { #expect(causedError.message == "text") }

    @Test("W behaviour 86: an error of a project and cause has its cause")
    func causedCause() { #expect(causedError.underlying as? SystemCallError == cause) }

    private var stepError: ProjectError {
        ProjectError(.deleteFailed, "text", project: project, step: step)
    }

    @Test("W behaviour 87: an error of a project and step has its code")
    func stepCode() { #expect(stepError.code == .deleteFailed) }

    @Test("W behaviour 88: an error of a project and step has its project")
    func stepProject() { #expect(stepError.projectID == project) }

    @Test("W behaviour 89: an error of a project and step has its step")
    func stepStep() { #expect(stepError.stepID == step) }

    @Test("W behaviour 90: an error of a project and step has its message")
    func stepMessage() { #expect(stepError.message == "text") }

    private var causedStepError: ProjectError {
        ProjectError(.calculateSizeFailed, "text", project: project, step: step, underlying: cause)
    }

    @Test("W behaviour 91: an error of a project, step and cause has its code")
    func causedStepCode() { #expect(causedStepError.code == .calculateSizeFailed) }

    @Test("W behaviour 92: an error of a project, step and cause has its project")
    func causedStepProject() { #expect(causedStepError.projectID == project) }

    @Test("W behaviour 93: an error of a project, step and cause has its step")
    func causedStepStep() { #expect(causedStepError.stepID == step) }

    @Test("W behaviour 94: an error of a project, step and cause has its message")
    func causedStepMessage() { #expect(causedStepError.message == "text") }

    @Test("W behaviour 95: an error of a project, step and cause has its cause")
    func causedStepCause() { #expect(causedStepError.underlying as? SystemCallError == cause) }
}
