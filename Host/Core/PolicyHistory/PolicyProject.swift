import Database
import Model
import Vault
import Warehouse

/// The project that is the history of an account's policies. All functions block.
struct PolicyProject {
    let storage: ProjectStorage
    let id: ProjectID

    /// Finds the project of a vault.
    /// - Parameter known: what the database has noted. Without it, such as in a database that was made anew, the oldest one that
    ///   was made for this is taken; if that one was deleted, only one that nothing was written to yet.
    /// - Returns: nil if there is none.
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

    /// Makes a new one.
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

    /// - Throws: `ProjectError`; `Failure` if the step cannot be understood.
    func step(_ step: StepID) throws -> PolicyStep {
        let data = try storage.fetchStep(step, of: id).userData
        do throws(Failure) {
            if case .step(let content) = try PolicyEntry(json: String(decoding: data, as: UTF8.self)) { return content }
            throw Failure(.localIO, "the step \(step) of the policies' history is no change of policies")
        } catch {
            throw Failure(
                .localIO, error.message,
                hint: "`larder project delete \(id)` forgets the history, and a new one begins")
        }
    }
}

/// What the history keeps with the project.
struct PolicyHistoryData: Hashable {
    private static let format: Int64 = 1

    /// The row of the journal that was written last.
    var lastRow: PolicyChangeID?

    init(lastRow: PolicyChangeID) { self.lastRow = lastRow }

    /// - Throws: `.localIO` if a newer Larder has written it. What makes no sense was written by somebody else, and says nothing.
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
    /// The id of the project that is the policies' history.
    static let policiesProject = MetaKey("policiesProject")
}
