import ArgumentParser
import Core
import Glibc
import Model
import Threads
import Warehouse

/// The options that say where a command's projects are.
struct ProjectPlace: ParsableArguments {
    /// The bundle id of the projects that `project create` makes if no other bundle id is named.
    static let ownBundleID = "org.larder.cli"

    @Option(help: ArgumentHelp("A folder with projects, which needs no account.", valueName: "dir"))
    var base: String?
}

/// A command about projects.
protocol ProjectSubcommand: LarderCommand, Sendable {
    var place: ProjectPlace { get }

    /// Performs the command. The function may block.
    /// - Parameter base: the base folder, which need not exist.
    func perform(in base: String, _ console: Console) throws(Failure)
}

extension ProjectSubcommand {
    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        _ = try global.level()
        let base: String
        if let place = place.base {
            base = place
        } else {
            let account = try global.loadConfig().oneAccount()
            try await account.refuseAwayVault()
            try account.bookmark.refuseVaultOfOtherUser()
            base = account.bookmark.vault + "/projects"
        }
        // The work runs on a thread that may block, because it waits for the disk and for other processes.
        try await runBlocking { outcome(in: base, console) }.get()
        return []
    }

    private func outcome(in base: String, _ console: Console) -> Result<Void, Failure> {
        do throws(Failure) {
            return .success(try perform(in: base, console))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the storage in a base folder; nil if the folder does not exist. Only a new project makes the folder.
    func storage(in base: String) -> ProjectStorage? {
        var status = stat()
        if stat(base, &status) != 0, errno == ENOENT { return nil }
        return ProjectStorage(
            base: base, bundleID: ProjectPlace.ownBundleID, sourceRefusal: ProjectSources.refusal)
    }

    /// Returns the storage and a project's id. The project need not exist in the storage.
    /// - Throws: `badData` if the text is no id, `notFound` if there is no storage.
    func existing(_ text: String, in base: String) throws(Failure) -> (ProjectStorage, ProjectID) {
        guard let id = ProjectID(text) else {
            throw Failure(
                .badData, "`\(Text.visible(text))` is not a project's id", hint: "`larder project list` shows the ids")
        }
        guard let storage = storage(in: base) else { throw .noProject(id) }
        return (storage, id)
    }

    /// Returns the same as ``existing(_:in:)``, for a project whose steps, cursor or data are to be changed.
    /// - Throws: the errors of ``existing(_:in:)``, the storage's error if the project cannot be fetched, and `badData`
    ///   for the history of policies, which would no longer match the database.
    func changeable(_ text: String, in base: String) throws(Failure) -> (ProjectStorage, ProjectID) {
        let (storage, id) = try existing(text, in: base)
        let project = try reporting { () throws(ProjectError) in try storage.fetchProject(id) }
        guard project.bundleID != PolicyHistory.bundleID else {
            throw Failure(
                .badData, "project \(id) is the history of policies, which only changes of policies can change",
                hint: "use `larder policy undo` and `larder policy redo`")
        }
        return (storage, id)
    }

    static func stepID(_ text: String) throws(Failure) -> StepID {
        if let id = StepID(text) { return id }
        throw Failure(
            .badData, "`\(Text.visible(text))` is not a step's id",
            hint: "`larder project show ID --steps` shows the ids")
    }

    /// Reads the file that an option names; returns nil if the option names none.
    /// - Throws: `localIO` if the file cannot be read or is longer than 1 GiB.
    static func bytes(_ file: String?) throws(Failure) -> [UInt8]? {
        guard let file else { return nil }
        return try readFile(file, limit: 1 << 30)
    }

    /// Returns a text that says how many of a project's steps are applied.
    static func position(of id: ProjectID, in storage: ProjectStorage) throws(Failure) -> String {
        let project = try reporting { () throws(ProjectError) in try storage.fetchProject(id, .stepIDs) }
        return "\(project.stepCursor) of \(Text.count(project.stepIDs?.count ?? 0, "step")) applied"
    }

    /// Prints a project after a change of it: with `--json` its object, else the line, if there is one.
    func report(_ id: ProjectID, in storage: ProjectStorage, _ console: Console, _ line: String?) throws(Failure) {
        guard global.isJSON else {
            if let line { console.print(line) }
            return
        }
        let (project, size) = try reporting { () throws(ProjectError) in
            (try storage.fetchProject(id, .stepIDs), try storage.size(of: id))
        }
        console.print(JSONValue(project, size: size))
    }
}

/// Runs the body and converts the errors of a project storage to failures of a command.
@discardableResult
func reporting<Result>(_ body: () throws(ProjectError) -> Result) throws(Failure) -> Result {
    do throws(ProjectError) {
        return try body()
    } catch {
        throw Failure(error)
    }
}
