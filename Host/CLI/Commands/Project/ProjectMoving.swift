import ArgumentParser
import Model
import Warehouse

struct ProjectUndo: ProjectSubcommand {
    static let configuration = CommandConfiguration(commandName: "undo", abstract: "Go one step back.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String

    func perform(in base: String, _ console: Console) throws(Failure) {
        try move(
            id, in: base, console, by: { ProjectUpdateRequest.undo($0) },
            unless: { "undo: no step of project \($0) is applied" })
    }
}

struct ProjectRedo: ProjectSubcommand {
    static let configuration = CommandConfiguration(commandName: "redo", abstract: "Go one step forward.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String

    func perform(in base: String, _ console: Console) throws(Failure) {
        try move(
            id, in: base, console, by: { ProjectUpdateRequest.redo($0) },
            unless: { "redo: all steps of project \($0) are applied" })
    }
}

extension ProjectSubcommand {
    /// Goes a step back or forward, and prints the project.
    /// - Parameters:
    ///   - step: as `ProjectStorage.updateProject` takes it.
    ///   - nothing: what cannot be done if there is no step to go, and why.
    fileprivate func move(
        _ id: String, in base: String, _ console: Console, by step: (ProjectSnapshot) -> ProjectUpdateRequest?,
        unless nothing: (ProjectID) -> String
    ) throws(Failure) {
        let (storage, id) = try changeable(id, in: base)
        let done = try reporting { () throws(ProjectError) in try storage.updateProject(id, .stepIDs, step) }
        if done == nil { throw Failure(.badData, "there is nothing to \(nothing(id))") }
        try report(id, in: storage, console, try Self.position(of: id, in: storage))
    }
}
