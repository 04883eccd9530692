import ArgumentParser
import Model
import Warehouse

struct ProjectCreate: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a project, and print its id.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Option(help: ArgumentHelp("The program that the project belongs to.", valueName: "id"))
    var bundleID = ProjectPlace.ownBundleID

    func perform(in base: String, _ console: Console) throws(Failure) {
        let storage = ProjectStorage(base: base, bundleID: bundleID)
        let id = try reporting { () throws(ProjectError) in try storage.createProject() }
        try report(id, in: storage, console, "\(id)")
    }
}
