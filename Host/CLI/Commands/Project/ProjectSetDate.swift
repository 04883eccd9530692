import ArgumentParser
import Model
import Warehouse

struct ProjectSetDate: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "date", abstract: "Set when a project was created or last modified.",
        discussion: "This is meant for imported projects. Write times like 2026-11-21T10:12:00Z.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id.") var id: String
    @Option(help: ArgumentHelp("When it was created.", valueName: "time")) var created: String?
    @Option(help: ArgumentHelp("When it was last modified.", valueName: "time")) var modified: String?

    func perform(in base: String, _ console: Console) throws(Failure) {
        guard created != nil || modified != nil else {
            throw Failure(.usage, "there is no date to set", hint: "give one with --created or --modified")
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
                .badData, "\(option): `\(Text.visible(text))` is not a time", hint: "write it as 2026-11-21T10:12:00Z")
        }
        return ProjectDate(nanoseconds: time.nanoseconds)
    }
}
