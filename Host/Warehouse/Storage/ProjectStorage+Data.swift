import Glibc

/// The content of a new data folder.
struct DataContent {
    var metadata: ProjectMetadata
    /// The step ids; nil for those of the folder that this one is based on.
    var stepIDs: [StepID]?
    /// The user data; nil for those of the folder that this one is based on.
    var userData: [UInt8]?
    /// The files taken over from the folder that this one is based on: their paths, and their names in the new folder.
    private(set) var kept: [(from: Path, name: String)] = []
    private(set) var isSharing = true

    init(metadata: ProjectMetadata, stepIDs: [StepID]?, userData: [UInt8]?) {
        self.metadata = metadata
        self.stepIDs = stepIDs
        self.userData = userData
    }

    /// Takes over the parts of a project's data that have no new value.
    /// - Parameter sharing: Whether the files are linked instead of copied. Files in data folders never change.
    mutating func carryOn(from project: ProjectFolder, _ stored: StoredData, sharing: Bool = true) {
        isSharing = sharing
        if stepIDs == nil { kept.append((project.data.entry(ProjectFolder.stepIDs), ProjectFolder.stepIDs)) }
        if userData == nil { kept.append((project.data.entry(ProjectFolder.userData), ProjectFolder.userData)) }
        let old = stored.isOriginal ? ProjectFolder.originalMetadata : ProjectFolder.keptMetadata
        kept.append((project.data.entry(old), ProjectFolder.keptMetadata))
    }
}

extension ProjectStorage {
    func writeData(_ content: DataContent, at path: Path, _ written: inout Written) throws {
        try disk.makeFolder(path)
        func write(_ bytes: [UInt8], _ name: String) throws {
            try disk.write(bytes, to: path.entry(name))
            written.files.append(path.entry(name))
        }
        try write(content.metadata.encoded(), ProjectFolder.metadata)
        if let stepIDs = content.stepIDs { try write(StepIDList.encoded(stepIDs), ProjectFolder.stepIDs) }
        if let userData = content.userData { try write(userData, ProjectFolder.userData) }
        for file in content.kept {
            // Most projects never had metadata in the original's layout.
            if file.name == ProjectFolder.keptMetadata, try disk.status(file.from) == nil { continue }
            let target = path.entry(file.name)
            if content.isSharing, try share(file.from, as: target) { continue }
            try disk.copyFile(file.from, to: target)
            written.files.append(target)
        }
        written.folders.append(path)
    }

    /// Links a file under a second name.
    /// - Returns: False if the file system does not support the link.
    private func share(_ file: Path, as target: Path) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            try disk.link(file, to: target)
            return true
        } catch {
            if [EPERM, EOPNOTSUPP, EMLINK, ENOSYS].contains(error.code) { return false }
            throw error
        }
    }

    /// Exchanges a complete data folder with a project's data folder, durably.
    func replaceData(of project: ProjectFolder, with new: Path) throws {
        try exchangeData(of: project, with: new)
        try durable(project.path) { try exchangeData(of: project, with: new) }
    }

    private func exchangeData(of project: ProjectFolder, with new: Path) throws(SystemCallError) {
        do throws(SystemCallError) {
            return try disk.exchange(new, project.data)
        } catch {
            guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(error.code) else { throw error }
        }
        // This file system cannot exchange. While the data folder is missing, readers read the old data folder beside
        // it.
        try disk.rename(new, to: project.newData)
        do throws(SystemCallError) {
            try disk.sync(project.path)
            try disk.rename(project.data, to: project.oldData)
        } catch {
            try? disk.rename(project.newData, to: new)
            throw error
        }
        do throws(SystemCallError) {
            try disk.rename(project.newData, to: project.data)
        } catch {
            try? disk.rename(project.oldData, to: project.data)
            try? disk.rename(project.newData, to: new)
            throw error
        }
        // A failure here loses nothing: the new data folder is in place, and the folders beside it are removed by a
        // later sweep.
        try? disk.sync(project.path)
        try? disk.rename(project.oldData, to: new)
    }

    /// Finishes an interrupted exchange that was made without `renameat2`. The caller must hold the lock.
    func repair(_ project: ProjectFolder) throws(SystemCallError) {
        if try disk.status(project.data) == nil, try disk.status(project.oldData) != nil {
            try disk.rename(project.oldData, to: project.data)
        }
        for path in [project.oldData, project.newData] where try disk.status(path) != nil { try disk.removeTree(path) }
    }

    /// Checks that a project has a data folder.
    /// - Throws: ``ProjectProblem/noSuchProject`` if it has none.
    func requireData(of project: ProjectFolder) throws {
        for path in [project.data, project.oldData] where try disk.status(path)?.isFolder == true { return }
        throw ProjectProblem.noSuchProject
    }
}
