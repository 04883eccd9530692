import ArgumentParser
import Model
import Warehouse

struct ProjectSize: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "size", abstract: "Print the total size in bytes of the files of a project, or of all projects.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Argument(help: "The project's id. Default: all projects.") var id: String?

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
            global.isJSON
                ? JSONValue.object(["id": .string(known), "size": .integer(Int64(clamping: size))]).text : "\(size)")
    }
}
