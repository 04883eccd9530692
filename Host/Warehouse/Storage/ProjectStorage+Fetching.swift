import Glibc

extension ProjectStorage {
    /// Fetches a project.
    /// - Parameters:
    ///   - id: The project's id.
    ///   - options: The optional parts to fetch.
    /// - Returns: The state of the project at this moment.
    /// - Throws: `fetchFailed`.
    public func fetchProject(
        _ id: ProjectID, _ options: ProjectFetchOptions = []
    ) throws(ProjectError) -> ProjectSnapshot {
        try reporting(.fetchFailed, "cannot fetch project \(id)", project: id) {
            snapshot(of: id, try StoredData(of: folder.project(id), options, on: disk))
        }
    }

    func snapshot(of id: ProjectID, _ stored: StoredData) -> ProjectSnapshot {
        ProjectSnapshot(
            id: id, bundleID: stored.metadata.bundleID, creationDate: stored.metadata.created,
            modificationDate: stored.metadata.modified, stepIDs: stored.stepIDs,
            stepCursor: stored.metadata.stepCursor, userData: stored.userData,
            assets: folder.project(id).assets.text)
    }

    /// Fetches a step of a project.
    /// - Throws: `fetchFailed`, also if the project has no such step.
    public func fetchStep(_ id: StepID, of project: ProjectID) throws(ProjectError) -> Step {
        try reporting(.fetchFailed, "cannot fetch step \(id) of project \(project)", project: project, step: id) {
            let stored = try StoredData(of: folder.project(project), .stepIDs, on: disk)
            // A folder does not make a step: a failed update may have left the folder behind.
            guard stored.stepIDs?.contains(id) == true else { throw ProjectProblem.noSuchStep }
            let step = folder.project(project).step(id)
            let userData = try disk.read(disk.open(step.userData, O_RDONLY | O_NOFOLLOW))
            return Step(id: id, projectID: project, userData: userData, assets: step.assets.text)
        }
    }

    /// Returns the total size of all files in the base folder, in bytes.
    /// - Throws: `calculateSizeFailed`.
    public func storageSize() throws(ProjectError) -> UInt64 {
        try reporting(.calculateSizeFailed, "cannot calculate the size of \(base)") { try disk.size(of: folder.path) }
    }

    /// Returns the total size of all files of a project, including its assets, in bytes.
    /// - Throws: `calculateSizeFailed`.
    public func size(of id: ProjectID) throws(ProjectError) -> UInt64 {
        try reporting(.calculateSizeFailed, "cannot calculate the size of project \(id)", project: id) {
            try requireData(of: folder.project(id))
            return try disk.size(of: folder.project(id).path)
        }
    }

    /// Returns the number of bytes by which an update makes the files of a project grow; negative if they shrink. Reads
    /// only the files that the update changes. The size of the project's metadata is left out.
    ///
    /// Called within the closure of ``updateProject(_:_:_:)``, the function returns the growth by that update.
    /// - Throws: `calculateSizeFailed`.
    public func growth(by request: ProjectUpdateRequest) throws(ProjectError) -> Int64 {
        let id = request.projectID
        return try reporting(.calculateSizeFailed, "cannot calculate by how much project \(id) grows", project: id) {
            let project = folder.project(id)
            var growth: Int64 = 0
            for step in request.stepsToAdd {
                growth = growth.adding(Int64(StepID.byteCount + step.userData.count))
                guard let source = step.assetsSource else { continue }
                growth = growth.adding(Int64(clamping: try disk.size(of: usableSource(source, step.sourceUse))))
            }
            let unwanted = Set(request.stepIDsToDelete)
            let stored = try StoredData(of: project, unwanted.isEmpty ? [] : .stepIDs, on: disk)
            for step in stored.stepIDs ?? [] where unwanted.contains(step) {
                growth = growth.adding(-Int64(StepID.byteCount))
                let path = project.step(step).path
                if try disk.status(path) != nil { growth = growth.adding(-Int64(clamping: try disk.size(of: path))) }
            }
            if let userData = request.userData {
                growth = growth.adding(Int64(userData.count))
                if let old = try disk.status(project.data.entry(ProjectFolder.userData)) {
                    growth = growth.adding(-max(0, Int64(old.st_size)))
                }
            }
            return growth
        }
    }
}
