import ArgumentParser
import FoundationEssentials
import Model
import Warehouse

struct ProjectStep: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "step", abstract: "Show a step: its data, and where its assets are.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String
    @Argument(help: "The step's id.") var step: String

    func perform(in base: String, _ console: Console) throws(Failure) {
        let stepID = try Self.stepID(step)
        let (storage, id) = try existing(id, in: base)
        let step = try reporting { () throws(ProjectError) in try storage.fetchStep(stepID, of: id) }
        guard !global.isJSON else { return console.print(JSONValue(step)) }
        console.print("step      \(step.id)")
        console.print("project   \(step.projectID)")
        console.print("assets    \(Text.visible(step.assets))")
        for line in ProjectDrawing.lines(ofUserData: step.userData) { console.print(line) }
    }
}
