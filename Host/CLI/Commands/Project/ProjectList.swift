import ArgumentParser
import FoundationEssentials
import Model
import Warehouse

struct ProjectList: ProjectSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the projects, the latest first.")

    enum Key: String, ExpressibleByArgument, CaseIterable {
        case created, modified
    }

    @OptionGroup var global: GlobalOptions
    @OptionGroup var place: ProjectPlace
    @Option(
        help: ArgumentHelp("Sort by the date of creation or of the last modification.", valueName: "created|modified"))
    var sort = Key.created
    @Flag(help: "List the earliest first.") var ascending = false

    func perform(in base: String, _ console: Console) throws(Failure) {
        guard let storage = storage(in: base) else { return }
        let ids = try reporting { () throws(ProjectError) in
            try storage.projectIDs(
                sortedBy: sort == .created ? .creationDate : .modificationDate, descending: !ascending)
        }
        var table = Table(["id", "program", "created", "modified", "steps", "size"], numbers: [4, 5])
        var failed: Failure?
        for id in ids {
            do throws(ProjectError) {
                let (project, size) = (try storage.fetchProject(id, .stepIDs), try storage.size(of: id))
                if global.isJSON { console.print(JSONValue(project, size: size)) }
                table.add([
                    "\(id)", project.bundleID, Text.time(Timestamp(project.creationDate)),
                    Text.time(Timestamp(project.modificationDate)),
                    "\(project.stepCursor)/\(project.stepIDs?.count ?? 0)", Text.bytes(Int64(clamping: size)),
                ])
            } catch {
                // A project that was deleted meanwhile is left out. A project that cannot be read does not hide the
                // others.
                let failure = Failure(error)
                if failure.kind != .notFound { failed = failed ?? failure }
            }
        }
        if !global.isJSON { for line in table.lines { console.print(line) } }
        if let failed { throw failed }
    }
}
