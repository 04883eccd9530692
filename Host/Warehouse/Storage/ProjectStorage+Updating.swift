import Glibc

extension ProjectStorage {
    /// Applies a request as a whole or not at all.
    ///
    /// New steps are complete before the project refers to them. Deleted steps are removed after the project has
    /// stopped referring to them. Sources of assets that are consumed are removed at the end. If the update fails, all
    /// sources are unchanged.
    /// - Returns: The ids of the added steps.
    /// - Throws: `invalidArgument` if the step cursor would lie outside the steps after the update, else `writeFailed`.
    @discardableResult
    public func updateProject(_ request: ProjectUpdateRequest) throws(ProjectError) -> [StepID] {
        try updateProject(request.projectID, []) { _ in request } ?? []
    }

    /// Fetches a project and applies the request that `change` returns. Nobody else can update the project in between.
    /// - Parameters:
    ///   - id: The project's id.
    ///   - options: The optional parts that the snapshot contains.
    ///   - change: Returns the request, or nil to leave the project unchanged. The closure may fetch, but must not
    ///     write to a storage with the same base folder: the write would wait for itself.
    /// - Returns: The ids of the added steps; nil if `change` returned nil.
    /// - Throws: The errors of ``updateProject(_:)``. Also throws `invalidArgument` if the request names another
    ///   project.
    @discardableResult
    public func updateProject(
        _ id: ProjectID, _ options: ProjectFetchOptions, _ change: (ProjectSnapshot) -> ProjectUpdateRequest?
    ) throws(ProjectError) -> [StepID]? {
        let added: [StepID]? = try reporting(.writeFailed, "cannot update project \(id)", project: id) {
            try writing { work in
                let project = folder.project(id)
                try repair(project)
                let stored = try StoredData(of: project, options, on: disk)
                guard let request = change(snapshot(of: id, stored)) else { return nil }
                guard request.projectID == id else {
                    throw ProjectError(
                        .invalidArgument, "cannot update project \(id)", project: id,
                        underlying: ProjectProblem.otherProject)
                }
                return try apply(request, to: project, stored, work)
            }
        }
        if added != nil { notify { $0.storage(self, didUpdate: id) } }
        return added
    }

    /// Sets the creation date of a project, for example of an imported project. Observers are not notified.
    /// - Throws: `writeFailed`.
    public func setCreationDate(_ date: ProjectDate, of id: ProjectID) throws(ProjectError) {
        try changeMetadata(of: id) { $0.created = date }
    }

    /// Sets the modification date of a project. Observers are not notified.
    /// - Throws: `writeFailed`.
    public func setModificationDate(_ date: ProjectDate, of id: ProjectID) throws(ProjectError) {
        try changeMetadata(of: id) { $0.modified = date }
    }

    private func changeMetadata(
        of id: ProjectID, _ change: (inout ProjectMetadata) -> Void
    ) throws(ProjectError) {
        try reporting(.writeFailed, "cannot set a date of project \(id)", project: id) {
            try writing { work in
                let project = folder.project(id)
                try repair(project)
                let stored = try StoredData(of: project, [], on: disk)
                var content = DataContent(metadata: stored.metadata, stepIDs: nil, userData: nil)
                change(&content.metadata)
                content.carryOn(from: project, stored)
                var written = Written()
                try writeData(content, at: work.entry("data"), &written)
                try written.sync(on: disk)
                try replaceData(of: project, with: work.entry("data"))
            }
        }
    }

    private func apply(
        _ request: ProjectUpdateRequest, to project: ProjectFolder, _ stored: StoredData, _ work: Path
    ) throws -> [StepID] {
        let changesSteps = !request.stepsToAdd.isEmpty || !request.stepIDsToDelete.isEmpty
        let old = try changesSteps ? stored.stepIDs ?? StoredData(of: project, .stepIDs, on: disk).stepIDs ?? [] : []
        let unwanted = Set(request.stepIDsToDelete)
        let deleted = unwanted.isEmpty ? [] : old.filter(unwanted.contains)
        let stepCount = stored.stepCount + request.stepsToAdd.count - deleted.count
        let cursor = request.stepCursor ?? stored.metadata.stepCursor
        guard (0...stepCount).contains(cursor) else {
            throw ProjectError(
                .invalidArgument, "cannot update project \(request.projectID)", project: request.projectID,
                underlying: ProjectProblem.cursorOutOfRange(cursor: cursor, steps: stepCount))
        }

        var new = NewSteps()
        for step in request.stepsToAdd { try makeStep(step, in: work, &new) }
        var metadata = stored.metadata
        metadata.stepCursor = cursor
        metadata.modified = now()
        var stepIDs: [StepID]?
        if !new.ids.isEmpty || !deleted.isEmpty {
            let place = stored.metadata.stepCursor
            let all = old[..<place] + new.ids + old[place...]
            stepIDs = deleted.isEmpty ? Array(all) : all.filter { !unwanted.contains($0) }
        }
        var content = DataContent(metadata: metadata, stepIDs: stepIDs, userData: request.userData)
        content.carryOn(from: project, stored)
        let data = work.entry("data")
        try writeData(content, at: data, &new.written)
        try new.written.sync(on: disk)
        do {
            try moveIn(new.ids, from: work, to: project)
            try move(new.moves, to: project, of: request.projectID)
            try replaceData(of: project, with: data)
        } catch {
            // Nothing refers to the folders that cannot be removed here or below. They are removed when a storage is
            // opened next.
            let stuck = takeBack(new.moves, from: project)
            for step in new.ids where !stuck.contains(step) { try? disk.removeTree(project.step(step).path) }
            throw error
        }
        for move in new.moves { try? disk.removeFile(note(of: move.step)) }
        for step in deleted { try? disk.removeTree(project.step(step).path) }
        for source in new.consumed { try? disk.removeTree(source) }
        return new.ids
    }

    /// Creates a step in the staging folder, where the step's id is the name of its folder.
    private func makeStep(_ content: StepContent, in work: Path, _ new: inout NewSteps) throws {
        let id = StepID()
        let step = StepFolder(path: work.entry(id.description))
        try disk.makeFolder(step.path)
        try disk.makeFolder(step.data)
        try disk.write(content.userData, to: step.userData)
        new.written.files.append(step.userData)
        new.written.folders.append(step.data)
        if let source = try content.assetsSource.map({ try usableSource($0, content.sourceUse) }) {
            if content.sourceUse == .moved {
                try collect(source, &new.written)
                new.moves.append(AssetsMove(step: id, source: source))
            } else {
                try disk.copyFolder(source, to: step.assets, links: .inside, &new.written)
                if content.sourceUse == .consumed { new.consumed.append(source) }
            }
        } else {
            try disk.makeFolder(step.assets)
            new.written.folders.append(step.assets)
        }
        new.written.folders.append(step.path)
        new.ids.append(id)
    }

    private func moveIn(_ steps: [StepID], from work: Path, to project: ProjectFolder) throws(SystemCallError) {
        guard !steps.isEmpty else { return }
        let isFirst = try disk.status(project.steps) == nil
        if isFirst { try disk.makeFolder(project.steps) }
        for step in steps { try disk.rename(work.entry(step.description), to: project.step(step).path) }
        try disk.sync(project.steps)
        if isFirst { try disk.sync(project.path) }
    }
}

/// The steps that are written but not yet in their project's folder.
private struct NewSteps {
    var ids: [StepID] = []
    var written = Written()
    /// The sources to remove once the project contains the steps.
    var consumed: [Path] = []
    var moves: [AssetsMove] = []
}
