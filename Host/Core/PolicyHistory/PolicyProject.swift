import Database
import Model
import Vault
import Warehouse

/// The project that holds the history of an account's policies. All functions block.
struct PolicyProject {
    let storage: ProjectStorage
    let id: ProjectID

    /// Finds the project in a vault; nil if there is none.
    /// - Parameters:
    ///   - storage: The storage of the vault's projects.
    ///   - known: The id that the database has noted. If it is nil, as in a newly created database, the oldest project
    ///     with the history's bundle id is used. If the noted project was deleted, only a project to which nothing was
    ///     written yet is used.
    init?(in storage: ProjectStorage, known: ProjectID?) throws {
        self.storage = storage
        if let known, try Self.isThere(known, storage) {
            id = known
            return
        }
        let all = try storage.projectIDs(sortedBy: .creationDate, descending: false, of: PolicyHistory.bundleID)
        let found = try all.first { id in
            guard known != nil else { return true }
            let project = try storage.fetchProject(id, .all)
            return project.stepIDs?.isEmpty != false && project.userData?.isEmpty != false
        }
        guard let found else { return nil }
        id = found
    }

    /// Creates a new project.
    init(newIn storage: ProjectStorage) throws(ProjectError) {
        self.storage = storage
        id = try storage.createProject()
    }

    private static func isThere(_ id: ProjectID, _ storage: ProjectStorage) throws(ProjectError) -> Bool {
        do throws(ProjectError) {
            _ = try storage.fetchProject(id)
            return true
        } catch {
            if case ProjectProblem.noSuchProject? = error.underlying { return false }
            throw error
        }
    }

    func snapshot() throws(ProjectError) -> ProjectSnapshot { try storage.fetchProject(id, .all) }

    /// Returns the change in a step.
    /// - Throws: `ProjectError`; `Failure` if the step cannot be understood.
    func step(_ step: StepID) throws -> PolicyStep {
        let data = try storage.fetchStep(step, of: id).userData
        do throws(Failure) {
            if case .step(let content) = try PolicyEntry(json: String(decoding: data, as: UTF8.self)) { return content }
            throw Failure(.localIO, "the step \(step) of the policies' history is not a change of policies")
        } catch {
            throw Failure(
                .localIO, error.message,
                hint: .deletePolicyHistory(project: "\(id)"))
        }
    }
}

/// The user data that the history keeps in its project.
struct PolicyHistoryData: Hashable {
    private static let format: Int64 = 1

    /// The row of the journal that was written last.
    var lastRow: PolicyChangeID?

    init(lastRow: PolicyChangeID) { self.lastRow = lastRow }

    /// Reads the data. Data that cannot be understood was written by another program and is ignored.
    /// - Throws: `.localIO` if a newer version of Larder has written the data.
    init(_ bytes: [UInt8]) throws(Failure) {
        guard let object = try? JSONValue(parsing: String(decoding: bytes, as: UTF8.self)),
            case .string(let id) = object["lastRow"]
        else { return }
        if case .integer(let format) = object["format"], format > Self.format {
            throw Failure(
                .localIO, "the history of the policies was written by a newer Larder (format \(format))",
                hint: "Install the newer Larder again; nothing was changed")
        }
        lastRow = PolicyChangeID(id)
    }

    var bytes: [UInt8] {
        Array(
            JSONValue.object([
                .init(name: "format", value: .integer(Self.format)),
                .init(name: "lastRow", value: lastRow.map { .string($0.text) } ?? .null),
            ]).text.utf8)
    }
}

extension MetaKey {
    /// The id of the project that holds the history of the policies.
    static let policiesProject = MetaKey("policiesProject")
}
