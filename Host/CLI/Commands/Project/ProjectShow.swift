import ArgumentParser
import FoundationEssentials
import Model
import Warehouse

struct ProjectShow: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a project: dates, size, and the steps with the cursor.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String
    @Flag(help: "Show all steps rather than those near the cursor.") var steps = false
    @Flag(help: "Show the project's data too.") var userData = false

    func perform(in base: String, _ console: Console) throws(Failure) {
        let (storage, id) = try existing(id, in: base)
        let (project, size) = try reporting { () throws(ProjectError) in
            (try storage.fetchProject(id, userData ? .all : .stepIDs), try storage.size(of: id))
        }
        guard !global.isJSON else { return console.print(JSONValue(project, size: size)) }
        for line in ProjectDrawing(project, size: size, showsAllSteps: steps).lines { console.print(line) }
    }
}
