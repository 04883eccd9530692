import Glibc

/// What a new data folder is to hold.
struct DataContent {
    var metadata: ProjectMetadata
    /// Nil: as in the folder that it follows.
    var stepIDs: [StepID]?
    var userData: [UInt8]?
    /// Files of the folder that it follows: where they are, and their names here.
    private(set) var kept: [(from: Path, name: String)] = []
    private(set) var isSharing = true

    init(metadata: ProjectMetadata, stepIDs: [StepID]?, userData: [UInt8]?) {
        self.metadata = metadata
        self.stepIDs = stepIDs
        self.userData = userData
    }

    /// Keeps of a project's data what is not given anew.
    /// - Parameter sharing: as the same file rather than as a copy. Files in data folders never change.
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
            // Most projects never had the original's metadata.
            if file.name == ProjectFolder.keptMetadata, try disk.status(file.from) == nil { continue }
            let target = path.entry(file.name)
            if content.isSharing, try share(file.from, as: target) { continue }
            try disk.copyFile(file.from, to: target)
            written.files.append(target)
        }
        written.folders.append(path)
    }

    /// - Returns: false if the file system has no links.
    private func share(_ file: Path, as target: Path) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            try disk.link(file, to: target)
            return true
        } catch {
            if [EPERM, EOPNOTSUPP, EMLINK, ENOSYS].contains(error.code) { return false }
            throw error
        }
    }

    /// Lets a complete data folder and a project's change places, durably.
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
        // Without an exchange: whoever finds no data reads the old ones, which stand beside, until the new ones are there.
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
        // Nothing is lost if this fails: the new data are in place, and what stands beside them is swept.
        try? disk.sync(project.path)
        try? disk.rename(project.oldData, to: new)
    }

    /// Ends an exchange without `renameat2` that was interrupted. Needs the lock.
    func repair(_ project: ProjectFolder) throws(SystemCallError) {
        if try disk.status(project.data) == nil, try disk.status(project.oldData) != nil {
            try disk.rename(project.oldData, to: project.data)
        }
        for path in [project.oldData, project.newData] where try disk.status(path) != nil { try disk.removeTree(path) }
    }

    /// - Throws: ``ProjectProblem/noSuchProject``
    func requireData(of project: ProjectFolder) throws {
        for path in [project.data, project.oldData] where try disk.status(path)?.isFolder == true { return }
        throw ProjectProblem.noSuchProject
    }
}
