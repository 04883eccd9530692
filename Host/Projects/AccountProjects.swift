import CLarder
package import Model
package import PluginHost
import Synchronization
import Warehouse

/// The projects of an account's plugins, in the vault's folder for projects. Each project has its plugin's id as its
/// bundle id.
///
/// The storage is opened when the first plugin requests something. The size of a plugin's projects is measured before
/// the plugin's first write and counted from then on. It is measured again only before a write is refused, since a
/// person, or the plugin in its folders of assets, may have removed something.
package final class AccountProjects: PluginProjects {
    private struct State {
        var storage: ProjectStorage?
        /// The total size of each plugin's projects in bytes, as far as they have been measured.
        var used: [PluginID: Int64] = [:]
    }

    /// An upper bound for the size of a new project's metadata, in bytes.
    private static let newProject: Int64 = 512

    private let base: String
    private let checkPlace: @Sendable () throws(Failure) -> Void
    private let isReadOnly: Bool
    private let quota: @Sendable (PluginID) -> Int64
    private let reserved: [String: String]
    private let sourceRefusal: @Sendable (String) -> String?
    private let clock: HostClock
    private let state = Mutex(State())

    /// Creates the projects of an account.
    /// - Parameters:
    ///   - base: The folder of the projects.
    ///   - checkPlace: Called before each write. It throws if the vault is away.
    ///   - isReadOnly: Whether every write is refused.
    ///   - quota: Returns the bytes that a plugin's projects may take.
    ///   - reserved: The ids under which no plugin has projects, with what their projects are, as a part of a sentence.
    ///   - sourceRefusal: Returns the reason why a folder may not be the source of a step's assets, by the folder's
    ///     absolute path; nil if there is none. It may block.
    ///   - clock: The clock for the projects' dates.
    package init(
        base: String, checkPlace: @escaping @Sendable () throws(Failure) -> Void = {}, isReadOnly: Bool,
        quota: @escaping @Sendable (PluginID) -> Int64, reserved: [String: String] = [:],
        sourceRefusal: @escaping @Sendable (String) -> String? = { _ in nil }, clock: HostClock
    ) {
        self.base = base
        self.checkPlace = checkPlace
        self.isReadOnly = isReadOnly
        (self.quota, self.reserved, self.sourceRefusal) = (quota, reserved, sourceRefusal)
        self.clock = clock
    }

    package func projects(of plugin: PluginID, _ order: PluginProjectOrder) throws(ServiceError) -> [String] {
        try ids(of: plugin, order).map(\.description)
    }

    package func project(
        _ id: String, of plugin: PluginID, withSteps: Bool, withUserData: Bool
    ) throws(ServiceError) -> PluginProject {
        let found = try snapshot(id, of: plugin, withUserData ? .all : .stepIDs)
        return PluginProject(
            created: Timestamp(nanoseconds: found.creationDate.nanoseconds),
            modified: Timestamp(nanoseconds: found.modificationDate.nanoseconds), cursor: found.stepCursor,
            stepCount: found.stepIDs?.count ?? 0, steps: withSteps ? found.stepIDs?.map(\.description) : nil,
            userData: found.userData, assets: found.assets)
    }

    package func step(_ step: String, of id: String, of plugin: PluginID) throws(ServiceError) -> PluginProject.Step {
        let project = try snapshot(id, of: plugin).id
        guard let step = StepID(step) else { throw .noSuchStep }
        let found = try serving { () throws(ProjectError) in try storage().fetchStep(step, of: project) }
        return PluginProject.Step(userData: found.userData, assets: found.assets)
    }

    package func usage(of plugin: PluginID) throws(ServiceError) -> PluginProject.Usage {
        let bytes = try measure(plugin)
        return PluginProject.Usage(bytes: UInt64(bytes), quota: UInt64(max(0, quota(plugin))))
    }

    package func create(for plugin: PluginID) throws(ServiceError) -> String {
        try checkWritable(by: plugin)
        try makeRoom(for: Self.newProject, plugin)
        let id = try serving { () throws(ProjectError) in try storage().createProject(for: plugin.text) }
        count(Self.newProject, plugin)
        return id.description
    }

    package func change(
        _ id: String, of plugin: PluginID, _ change: PluginProjectChange
    ) throws(ServiceError) -> [String] {
        try checkWritable(by: plugin)
        guard let project = ProjectID(id) else { throw .noSuchProject }
        let storage = storage()
        var refusal: ServiceError?
        var growth: Int64 = 0
        let added = try serving { () throws(ProjectError) in
            try storage.updateProject(project, .stepIDs) { found in
                do throws(ServiceError) {
                    guard found.bundleID == plugin.text else { throw .noSuchProject }
                    let request = try change.request(for: found)
                    growth = try serving { () throws(ProjectError) in try storage.growth(by: request) }
                    try makeRoom(for: growth, plugin)
                    return request
                } catch {
                    refusal = error
                    return nil
                }
            }
        }
        if let refusal { throw refusal }
        count(growth, plugin)
        return (added ?? []).map(\.description)
    }

    package func duplicate(_ id: String, of plugin: PluginID) throws(ServiceError) -> String {
        try checkWritable(by: plugin)
        let project = try snapshot(id, of: plugin).id
        let storage = storage()
        let size = try serving { () throws(ProjectError) in Int64(clamping: try storage.size(of: project)) }
        try makeRoom(for: size, plugin)
        let copy = try serving { () throws(ProjectError) in try storage.duplicateProject(project) }
        count(size, plugin)
        return copy.description
    }

    package func remove(_ id: String, of plugin: PluginID) throws(ServiceError) {
        try checkWritable(by: plugin)
        let project = try snapshot(id, of: plugin).id
        try serving { () throws(ProjectError) in try storage().deleteProject(project) }
    }

    // MARK: Ownership

    private func ids(of plugin: PluginID, _ order: PluginProjectOrder) throws(ServiceError) -> [ProjectID] {
        do throws(ProjectError) {
            return try storage().projectIDs(
                sortedBy: order.isByModification ? .modificationDate : .creationDate,
                descending: !order.isOldestFirst, of: plugin.text)
        } catch {
            // Only a host that writes creates the folder.
            if let cause = error.underlying as? SystemCallError, cause.isAbsence { return [] }
            throw ServiceError(error)
        }
    }

    /// Returns a snapshot of a plugin's project.
    /// - Throws: `noSuchProject`, both for another program's project and for a project that does not exist.
    private func snapshot(
        _ id: String, of plugin: PluginID, _ options: ProjectFetchOptions = []
    ) throws(ServiceError) -> ProjectSnapshot {
        guard let id = ProjectID(id) else { throw .noSuchProject }
        let found = try serving { () throws(ProjectError) in try storage().fetchProject(id, options) }
        guard found.bundleID == plugin.text else { throw .noSuchProject }
        return found
    }

    private func storage() -> ProjectStorage {
        state.withLock { state in
            if let storage = state.storage { return storage }
            let storage =
                isReadOnly
                ? ProjectStorage(readingFrom: base)
                : ProjectStorage(
                    base: base, bundleID: "", now: { [clock] in ProjectDate(clock.now()) },
                    sourceRefusal: sourceRefusal)
            state.storage = storage
            return storage
        }
    }

    private func checkWritable(by plugin: PluginID) throws(ServiceError) {
        guard !isReadOnly else { throw ServiceError(LARDER_DENIED, "this is a preview, which changes no project") }
        if let what = reserved[plugin.text] {
            throw ServiceError(LARDER_DENIED, "projects with this plugin's id are \(what)")
        }
        do { try checkPlace() } catch { throw ServiceError(LARDER_IO, error.message) }
    }

    // MARK: Size

    private func makeRoom(for growth: Int64, _ plugin: PluginID) throws(ServiceError) {
        guard growth > 0 else { return }
        let quota = quota(plugin)
        if let used = state.withLock({ $0.used[plugin] }), growth <= quota - used { return }
        let used = try measure(plugin)
        guard growth <= quota - used else {
            throw ServiceError(
                LARDER_LIMIT,
                "its projects take \(used) bytes and would take \(growth) more, but `project-quota` is \(quota)")
        }
    }

    private func count(_ growth: Int64, _ plugin: PluginID) {
        state.withLock { state in
            if let used = state.used[plugin] { state.used[plugin] = max(0, used.adding(growth)) }
        }
    }

    private func measure(_ plugin: PluginID) throws(ServiceError) -> Int64 {
        var bytes: Int64 = 0
        for id in try ids(of: plugin, PluginProjectOrder()) {
            do throws(ProjectError) {
                bytes = bytes.adding(Int64(clamping: try storage().size(of: id)))
            } catch {
                // A person may delete a project during the measurement.
                guard (error.underlying as? ProjectProblem) == .noSuchProject else { throw ServiceError(error) }
            }
        }
        state.withLock { [bytes] in $0.used[plugin] = bytes }
        return bytes
    }
}
