import ArgumentParser
import Model
import Warehouse

struct ProjectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project", abstract: "Keep projects: steps with undo and redo, data, and assets.",
        discussion: "They lie in the account's vault, or in any folder with --base, which needs no account.",
        subcommands: [
            ProjectCreate.self, ProjectList.self, ProjectShow.self, ProjectUpdate.self, ProjectAddStep.self,
            ProjectUndo.self, ProjectRedo.self, ProjectDuplicate.self, ProjectDelete.self, ProjectStep.self,
            ProjectSize.self, ProjectSetDate.self,
        ])
}

struct ProjectCreate: ProjectSubcommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Make a project; prints its id.")

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

struct ProjectDuplicate: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicate", abstract: "Copy a project; prints the copy's id.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String

    func perform(in base: String, _ console: Console) throws(Failure) {
        let (storage, id) = try existing(id, in: base)
        let copy = try reporting { () throws(ProjectError) in try storage.duplicateProject(id) }
        try report(copy, in: storage, console, "\(copy)")
    }
}

struct ProjectDelete: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Remove a project with its steps and assets, for good.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String

    func perform(in base: String, _ console: Console) throws(Failure) {
        let (storage, id) = try existing(id, in: base)
        try reporting { () throws(ProjectError) in try storage.deleteProject(id) }
        if global.isJSON { console.print(JSON.object(["id": .text("\(id)")])) }
    }
}

struct ProjectSize: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "size", abstract: "Print the bytes of all files of a project, or of all projects.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id; all projects if it is left out.") var id: String?

    func perform(in base: String, _ console: Console) throws(Failure) {
        let size: UInt64
        if let id {
            let (storage, id) = try existing(id, in: base)
            size = try reporting { () throws(ProjectError) in try storage.size(of: id) }
        } else if let storage = storage(in: base) {
            size = try reporting { () throws(ProjectError) in try storage.storageSize() }
        } else {
            size = 0
        }
        let known = id.flatMap { ProjectID($0)?.description }
        console.print(
            global.isJSON ? JSON.object(["id": .text(known), "size": .int(Int64(clamping: size))]).rendered : "\(size)")
    }
}

struct ProjectSetDate: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "date", abstract: "Set when a project was created or last modified.",
        discussion: "For projects that come from elsewhere. Times are as in 2026-11-21T10:12:00Z.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String
    @Option(help: ArgumentHelp("When it was created.", valueName: "time")) var created: String?
    @Option(help: ArgumentHelp("When it was last modified.", valueName: "time")) var modified: String?

    func perform(in base: String, _ console: Console) throws(Failure) {
        guard created != nil || modified != nil else {
            throw Failure(.usage, "there is no date to set", hint: "name one with --created or --modified")
        }
        let (creation, modification) = (
            try Self.date(created, of: "--created"), try Self.date(modified, of: "--modified")
        )
        let (storage, id) = try existing(id, in: base)
        try reporting { () throws(ProjectError) in
            if let creation { try storage.setCreationDate(creation, of: id) }
            if let modification { try storage.setModificationDate(modification, of: id) }
        }
        try report(id, in: storage, console, nil)
    }

    private static func date(_ text: String?, of option: String) throws(Failure) -> ProjectDate? {
        guard let text else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw Failure(
                .badData, "\(option): `\(Text.visible(text))` is no time", hint: "write it as 2026-11-21T10:12:00Z")
        }
        return ProjectDate(nanoseconds: time.nanoseconds)
    }
}
