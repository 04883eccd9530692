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
    @Option(help: ArgumentHelp("Sort by when they were created or modified.", valueName: "created|modified"))
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
                if global.isJSON { console.print(JSON(project, size: size)) }
                table.add([
                    "\(id)", project.bundleID, Text.time(Timestamp(project.creationDate)),
                    Text.time(Timestamp(project.modificationDate)),
                    "\(project.stepCursor)/\(project.stepIDs?.count ?? 0)", Text.bytes(Int64(clamping: size)),
                ])
            } catch {
                // One that was deleted meanwhile is none; one that cannot be read does not hide the others.
                let failure = Failure(error)
                if failure.kind != .notFound { failed = failed ?? failure }
            }
        }
        if !global.isJSON { for line in table.lines { console.print(line) } }
        if let failed { throw failed }
    }
}

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
        guard !global.isJSON else { return console.print(JSON(project, size: size)) }
        for line in ProjectDrawing(project, size: size, showsAllSteps: steps).lines { console.print(line) }
    }
}

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
        guard !global.isJSON else { return console.print(JSON(step)) }
        console.print("step      \(step.id)")
        console.print("project   \(step.projectID)")
        console.print("assets    \(Text.visible(step.assets))")
        for line in ProjectDrawing.lines(ofUserData: step.userData) { console.print(line) }
    }
}

extension JSON {
    /// - Parameter size: in bytes.
    init(_ project: ProjectSnapshot, size: UInt64) {
        var members: [Member] = [
            Member(name: "id", value: .text("\(project.id)")),
            Member(name: "bundleID", value: .text(project.bundleID)),
            Member(name: "created", value: .time(Timestamp(project.creationDate))),
            Member(name: "modified", value: .time(Timestamp(project.modificationDate))),
            Member(name: "stepCursor", value: .int(project.stepCursor)),
            Member(name: "steps", value: project.stepIDs.map { .texts($0.map(\.description)) } ?? .null),
            Member(name: "canUndo", value: .bool(project.canUndo)),
            Member(name: "canRedo", value: .bool(project.canRedo)),
            Member(name: "size", value: .int(Int64(clamping: size))),
            Member(name: "assets", value: .text(project.assets)),
        ]
        if let userData = project.userData { members.append(Member(name: "userData", value: .base64(userData))) }
        self = .object(members)
    }

    init(_ step: Step) {
        self = .object([
            "id": .text("\(step.id)"), "project": .text("\(step.projectID)"), "userData": .base64(step.userData),
            "assets": .text(step.assets),
        ])
    }

    private static func base64(_ bytes: [UInt8]) -> JSON { .text(Data(bytes).base64EncodedString()) }
}

extension Timestamp {
    init(_ date: ProjectDate) { self.init(nanoseconds: date.nanoseconds) }
}
