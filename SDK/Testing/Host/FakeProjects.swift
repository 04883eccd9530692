import CLarder
import Glibc
import LarderFakeHost
import LocalTree
import Model
import PluginHost
import Projects

/// The projects of the plugin, in the host's storage, in a temporary folder. Their changes are recorded.
final class FakeProjects: PluginProjects, PluginUploads, @unchecked Sendable {
    private unowned let host: FakeHost
    private var folder: String?
    private var storage: AccountProjects?
    /// The time of the last change.
    private var changed = Timestamp(nanoseconds: 0)
    /// The uploads by the snapshots that stand for them.
    private var uploads: [ObjectIdentifier: (snapshot: HeldSnapshot, project: String, file: String)] = [:]
    /// What the test borrows, by projects.
    private var lent: [String: Arena] = [:]
    var quota: Int64 = 1_000_000_000

    init(_ host: FakeHost) { self.host = host }

    /// Removes the storage.
    func remove() {
        if let folder {
            // What cannot be removed stays in the system's folder for temporary files.
            Self.remove(folder)
        }
        (storage, folder) = (nil, nil)
        uploads.removeAll()
        lent.removeAll()
    }

    /// Removes a folder with everything in it, and follows no link.
    private static func remove(_ path: String) {
        var info = stat()
        if lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != ".", name != ".." { remove("\(path)/\(name)") }
            }
            closedir(folder)
        }
        Glibc.remove(path)
    }

    private func opened() throws(ServiceError) -> AccountProjects {
        if let storage { return storage }
        let root = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(root)/larder-fake-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else {
            throw ServiceError(LARDER_IO, "no folder can be made in \(root): \(String(cString: strerror(errno)))")
        }
        let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // Each change is later than the one before, whatever the test's clock says.
        let clock = HostClock(
            now: {
                self.changed = max(self.host.now, self.changed + .nanoseconds(1))
                return self.changed
            }, monotonic: { .zero }, sleep: { _ in throw CancellationError() })
        let storage = AccountProjects(
            base: folder + "/projects", isReadOnly: false, quota: { _ in self.quota }, clock: clock)
        (self.folder, self.storage) = (folder, storage)
        return storage
    }

    private func record(_ name: String, _ id: String, _ userData: [UInt8]? = nil) {
        lent[id] = nil
        host.journal.add(
            LARDER_FAKE_PROJECT,
            Journal.Entry(name: name, id: id, text: userData.map { String(decoding: $0, as: UTF8.self) }))
    }

    // MARK: The plugin's side

    func projects(of plugin: PluginID, _ order: PluginProjectOrder) throws(ServiceError) -> [String] {
        try opened().projects(of: plugin, order)
    }

    func project(
        _ id: String, of plugin: PluginID, withSteps: Bool, withUserData: Bool
    ) throws(ServiceError) -> PluginProject {
        try opened().project(id, of: plugin, withSteps: withSteps, withUserData: withUserData)
    }

    func step(_ step: String, of id: String, of plugin: PluginID) throws(ServiceError) -> PluginProject.Step {
        try opened().step(step, of: id, of: plugin)
    }

    func usage(of plugin: PluginID) throws(ServiceError) -> PluginProject.Usage { try opened().usage(of: plugin) }

    func create(for plugin: PluginID) throws(ServiceError) -> String {
        let id = try opened().create(for: plugin)
        record("create", id)
        return id
    }

    func change(_ id: String, of plugin: PluginID, _ change: PluginProjectChange) throws(ServiceError) -> [String] {
        let added = try opened().change(id, of: plugin, change)
        switch change {
        case .update(let update): record("update", id, update.userData)
        case .addStep(_, let userData): record("add_step", id, userData)
        case .undo: record("undo", id)
        case .redo: record("redo", id)
        }
        return added
    }

    func duplicate(_ id: String, of plugin: PluginID) throws(ServiceError) -> String {
        let copy = try opened().duplicate(id, of: plugin)
        record("duplicate", copy)
        return copy
    }

    func remove(_ id: String, of plugin: PluginID) throws(ServiceError) {
        try opened().remove(id, of: plugin)
        record("remove", id)
    }

    func take(_ file: String, ofProject project: String, of plugin: PluginID) throws(ServiceError) -> HeldSnapshot? {
        let assets = try self.project(project, of: plugin, withSteps: false, withUserData: false).assets
        do throws(Failure) { try SnapshotBatch.check(file, beneath: assets) } catch {
            let status =
                switch error.kind {
                case .notFound: LARDER_NOT_FOUND
                case .denied: LARDER_DENIED
                case .badData: LARDER_INVALID_ARGUMENT
                default: LARDER_IO
                }
            throw ServiceError(status, error.message)
        }
        let taken = TakenSnapshot(
            name: file, size: 0, digest: [], sha1: [], modified: Timestamp(nanoseconds: 0), mark: nil)
        let held = HeldSnapshot(taken, lock: ()) { _ in }
        uploads[ObjectIdentifier(held)] = (held, project, file)
        return held
    }

    /// Returns the project and the file that a snapshot stands for.
    func upload(_ snapshot: HeldSnapshot) -> (project: String, file: String)? {
        uploads.removeValue(forKey: ObjectIdentifier(snapshot)).map { ($0.project, $0.file) }
    }

    // MARK: The test's side

    /// The ids of the plugin's projects, the oldest first.
    var ids: [String] {
        guard storage != nil else { return [] }
        do throws(ServiceError) { return try projects(of: host.plugin, PluginProjectOrder(isOldestFirst: true)) } catch
        {
            return []
        }
    }

    /// Moves a project's cursor.
    /// - Returns: Whether there is such a project with as many steps.
    func setCursor(_ id: String, _ cursor: UInt64) -> Bool {
        guard let found = shown(id), cursor <= UInt64(found.stepCount) else { return false }
        do throws(ServiceError) {
            _ = try opened().change(id, of: host.plugin, .update(PluginProjectChange.Update(movingTo: Int(cursor))))
        } catch { return false }
        lent[id] = nil
        return true
    }

    /// Returns a project with its steps and user data; nil if there is none.
    func shown(_ id: String) -> PluginProject? {
        guard storage != nil else { return nil }
        do throws(ServiceError) {
            return try project(id, of: host.plugin, withSteps: true, withUserData: true)
        } catch { return nil }
    }

    /// Returns a project for the test; nil if there is none.
    func view(_ id: String) -> UnsafePointer<larder_project>? {
        lent[id] = nil
        guard let found = shown(id) else { return nil }
        let arena = Arena()
        lent[id] = arena
        var view = larder_project()
        view.struct_size = UInt32(MemoryLayout<larder_project>.size)
        view.can_undo = found.cursor > 0 ? 1 : 0
        view.can_redo = found.cursor < found.stepCount ? 1 : 0
        (view.created, view.modified) = (found.created.nanoseconds, found.modified.nanoseconds)
        (view.cursor, view.step_count) = (UInt64(found.cursor), UInt64(found.stepCount))
        view.step_ids = arena.list(found.steps ?? [])
        view.user_data = arena.view(found.userData)
        view.assets = arena.text(found.assets)
        return arena.copy(view)
    }

    /// Returns a step of a project for the test; nil if there is none.
    func stepView(_ id: String, _ index: Int) -> UnsafePointer<larder_project_step>? {
        guard let steps = shown(id)?.steps, steps.indices.contains(index) else { return nil }
        let found: PluginProject.Step
        do throws(ServiceError) { found = try step(steps[index], of: id, of: host.plugin) } catch { return nil }
        let arena = lent[id] ?? Arena()
        lent[id] = arena
        return arena.copy(
            larder_project_step(
                struct_size: UInt32(MemoryLayout<larder_project_step>.size), reserved: 0,
                user_data: arena.view(found.userData), assets: arena.text(found.assets)))
    }
}
