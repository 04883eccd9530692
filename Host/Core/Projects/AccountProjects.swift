import CLarder
import Model
import PluginHost
import Synchronization
import Warehouse

/// The projects of an account's plugins, in the vault's folder for projects. Each project has its plugin's id as its
/// bundle id.
///
/// The storage is opened when the first plugin requests something. The size of a plugin's projects is measured before
/// the plugin's first write and counted from then on. It is measured again only before a write is refused, since a
/// person, or the plugin in its folders of assets, may have removed something.
final class AccountProjects: PluginProjects {
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
    private let quotas: [PluginID: Int64]
    private let clock: HostClock
    private let state = Mutex(State())

    /// Creates the projects of an account.
    /// - Parameters:
    ///   - base: The folder of the projects.
    ///   - checkPlace: Called before each write. It throws if the vault is away.
    ///   - isReadOnly: Whether every write is refused.
    ///   - plugins: The settings of the plugins, with their quotas.
    ///   - clock: The clock for the projects' dates.
    init(
        base: String, checkPlace: @escaping @Sendable () throws(Failure) -> Void = {}, isReadOnly: Bool,
        plugins: [PluginSettings], clock: HostClock
    ) {
        self.base = base
        self.checkPlace = checkPlace
        self.isReadOnly = isReadOnly
        quotas = Dictionary(plugins.map { ($0.id, $0.projectQuota) }) { first, _ in first }
        self.clock = clock
    }

    func projects(of plugin: PluginID, _ order: PluginProjectOrder) throws(ServiceError) -> [String] {
        try ids(of: plugin, order).map(\.description)
    }

    func project(
        _ id: String, of plugin: PluginID, withSteps: Bool, withUserData: Bool
    ) throws(ServiceError) -> PluginProject {
        let found = try snapshot(id, of: plugin, withUserData ? .all : .stepIDs)
        return PluginProject(
            created: Timestamp(nanoseconds: found.creationDate.nanoseconds),
            modified: Timestamp(nanoseconds: found.modificationDate.nanoseconds), cursor: found.stepCursor,
            stepCount: found.stepIDs?.count ?? 0, steps: withSteps ? found.stepIDs?.map(\.description) : nil,
            userData: found.userData, assets: found.assets)
    }

    func step(_ step: String, of id: String, of plugin: PluginID) throws(ServiceError) -> PluginProject.Step {
        let project = try snapshot(id, of: plugin).id
        guard let step = StepID(step) else { throw .noSuchStep }
        let found = try serving { () throws(ProjectError) in try storage().fetchStep(step, of: project) }
        return PluginProject.Step(userData: found.userData, assets: found.assets)
    }

    func usage(of plugin: PluginID) throws(ServiceError) -> PluginProject.Usage {
        let bytes = try measure(plugin)
        return PluginProject.Usage(bytes: UInt64(bytes), quota: UInt64(max(0, quota(of: plugin))))
    }

    func create(for plugin: PluginID) throws(ServiceError) -> String {
        try checkWritable(by: plugin)
        try makeRoom(for: Self.newProject, plugin)
        let id = try serving { () throws(ProjectError) in try storage().createProject(for: plugin.text) }
        count(Self.newProject, plugin)
        return id.description
    }

    func change(
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

    func duplicate(_ id: String, of plugin: PluginID) throws(ServiceError) -> String {
        try checkWritable(by: plugin)
        let project = try snapshot(id, of: plugin).id
        let storage = storage()
        let size = try serving { () throws(ProjectError) in Int64(clamping: try storage.size(of: project)) }
        try makeRoom(for: size, plugin)
        let copy = try serving { () throws(ProjectError) in try storage.duplicateProject(project) }
        count(size, plugin)
        return copy.description
    }

    func remove(_ id: String, of plugin: PluginID) throws(ServiceError) {
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
                    sourceRefusal: ProjectSources.refusal)
            state.storage = storage
            return storage
        }
    }

    private func checkWritable(by plugin: PluginID) throws(ServiceError) {
        guard !isReadOnly else { throw ServiceError(LARDER_DENIED, "this is a preview, which changes no project") }
        guard plugin.text != PolicyHistory.bundleID else {
            throw ServiceError(LARDER_DENIED, "projects with this plugin's id are the history of policies")
        }
        do { try checkPlace() } catch { throw ServiceError(LARDER_IO, error.message) }
    }

    // MARK: Size

    private func quota(of plugin: PluginID) -> Int64 { quotas[plugin] ?? PluginSettings.defaultProjectQuota }

    private func makeRoom(for growth: Int64, _ plugin: PluginID) throws(ServiceError) {
        guard growth > 0 else { return }
        let quota = quota(of: plugin)
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
