import ArgumentParser
import Model
import Warehouse

struct ProjectUpdate: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Move the cursor, delete steps, or replace the data, all at once.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String
    @Option(
        help: ArgumentHelp("The number of steps that are applied after the update.", valueName: "n"))
    var cursor: Int?
    @Option(help: ArgumentHelp("A step to delete; may be given several times.", valueName: "step"))
    var deleteStep: [String] = []
    @Option(help: ArgumentHelp("A file with new data of the project.", valueName: "file")) var userData: String?

    func perform(in base: String, _ console: Console) throws(Failure) {
        var steps: [StepID] = []
        for step in deleteStep { steps.append(try Self.stepID(step)) }
        let bytes = try Self.bytes(userData)
        let (storage, id) = try changeable(id, in: base)
        try reporting { () throws(ProjectError) in
            try storage.updateProject(
                ProjectUpdateRequest(projectID: id, stepCursor: cursor, stepIDsToDelete: steps, userData: bytes))
        }
        try report(id, in: storage, console, nil)
    }
}
