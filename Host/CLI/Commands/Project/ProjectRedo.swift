import ArgumentParser
import Model
import Warehouse

struct ProjectRedo: ProjectSubcommand {
    static let configuration = CommandConfiguration(commandName: "redo", abstract: "Go one step forward.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String

    func perform(in base: String, _ console: Console) throws(Failure) {
        let (storage, id) = try changeable(id, in: base)
        let done = try reporting { () throws(ProjectError) in
            try storage.updateProject(id, .stepIDs) { ProjectUpdateRequest.redo($0) }
        }
        if done == nil { throw Failure(.badData, "there is nothing to redo: all steps of project \(id) are applied") }
        try report(id, in: storage, console, try Self.position(of: id, in: storage))
    }
}
