import ArgumentParser
import Model
import Warehouse

struct ProjectAddStep: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "add-step", abstract: "Add a step after the current one, and print its id.",
        discussion: "The new step becomes the current step. Undone steps are deleted.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String
    @Option(help: ArgumentHelp("A file with the step's data.", valueName: "file")) var userData: String?
    @Option(help: ArgumentHelp("A folder that is copied as the step's assets.", valueName: "dir"))
    var assets: String?
    @Flag(help: "Move the folder of the assets instead of copying it; it must be on the projects' file system.")
    var move = false
    @Option(help: ArgumentHelp("A file with new data of the project.", valueName: "file")) var projectUserData: String?

    func perform(in base: String, _ console: Console) throws(Failure) {
        if move, assets == nil {
            throw Failure(.usage, "--move needs --assets", hint: "write `--assets DIR --move`")
        }
        let content = StepContent(
            userData: try Self.bytes(userData) ?? [], assetsSource: assets, sourceUse: move ? .moved : .copied)
        let projectData = try Self.bytes(projectUserData)
        let (storage, id) = try changeable(id, in: base)
        let added = try reporting { () throws(ProjectError) in
            try storage.updateProject(id, .stepIDs) { project in
                var request = ProjectUpdateRequest.addStep(content, to: project)
                request?.userData = projectData
                return request
            }
        }
        try report(id, in: storage, console, added?.first.map { "\($0)" })
    }
}
