import ArgumentParser
import Model
import Warehouse

struct ProjectAddStep: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "add-step", abstract: "Add a step behind the current one; prints its id.",
        discussion: "It becomes the current step. Steps that were undone are deleted.")

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
            throw Failure(.usage, "--move goes with --assets", hint: "write `--assets DIR --move`")
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

struct ProjectUpdate: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Move the cursor, delete steps, or replace the data, all at once.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String
    @Option(help: ArgumentHelp("How many steps are to be applied.", valueName: "n")) var cursor: Int?
    @Option(help: ArgumentHelp("A step to delete; may stand several times.", valueName: "step"))
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

struct ProjectUndo: ProjectSubcommand {
    static let configuration = CommandConfiguration(commandName: "undo", abstract: "Go one step back.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String

    func perform(in base: String, _ console: Console) throws(Failure) {
        let (storage, id) = try changeable(id, in: base)
        let done = try reporting { () throws(ProjectError) in
            try storage.updateProject(id, []) { ProjectUpdateRequest.undo($0) }
        }
        if done == nil { throw Failure(.badData, "there is nothing to undo: no step of project \(id) is applied") }
        try report(id, in: storage, console, try Self.position(of: id, in: storage))
    }
}

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

extension ProjectSubcommand {
    /// - Throws: `localIO`.
    fileprivate static func bytes(_ file: String?) throws(Failure) -> [UInt8]? {
        guard let file else { return nil }
        return try readFile(file, limit: 1 << 30)
    }

    fileprivate static func position(of id: ProjectID, in storage: ProjectStorage) throws(Failure) -> String {
        let project = try reporting { () throws(ProjectError) in try storage.fetchProject(id, .stepIDs) }
        return "\(project.stepCursor) of \(Text.count(project.stepIDs?.count ?? 0, "step")) applied"
    }
}
