import ArgumentParser
import Model
import Warehouse

struct ProjectDelete: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a project with its steps and assets permanently.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String

    func perform(in base: String, _ console: Console) throws(Failure) {
        let (storage, id) = try existing(id, in: base)
        try reporting { () throws(ProjectError) in try storage.deleteProject(id) }
        if global.isJSON { console.print(JSONValue.object(["id": .string("\(id)")])) }
    }
}
