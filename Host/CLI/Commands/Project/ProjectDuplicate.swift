import ArgumentParser
import Model
import Warehouse

struct ProjectDuplicate: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicate", abstract: "Copy a project, and print the copy's id.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String

    func perform(in base: String, _ console: Console) throws(Failure) {
        let (storage, id) = try existing(id, in: base)
        let copy = try reporting { () throws(ProjectError) in try storage.duplicateProject(id) }
        try report(copy, in: storage, console, "\(copy)")
    }
}
