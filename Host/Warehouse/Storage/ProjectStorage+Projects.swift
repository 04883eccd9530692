import Glibc

extension ProjectStorage {
    /// The date by which projects are sorted.
    public enum SortKey: Hashable, Sendable, CaseIterable {
        /// The creation date.
        case creationDate
        /// The modification date.
        case modificationDate
    }

    /// Creates a project without steps and user data.
    /// - Parameter owner: The id of the program that the project belongs to; nil for ``bundleID``.
    /// - Returns: The id of the new project.
    /// - Throws: `writeFailed`.
    public func createProject(for owner: String? = nil) throws(ProjectError) -> ProjectID {
        let id = ProjectID()
        try reporting(.writeFailed, "cannot create a project in \(base)", project: id) {
            try writing { work in
                let date = now()
                let project = ProjectFolder(path: work.entry(id.description))
                var written = Written()
                try disk.makeFolder(project.path)
                try writeData(
                    DataContent(
                        metadata: ProjectMetadata(
                            bundleID: owner ?? bundleID, stepCursor: 0, created: date, modified: date),
                        stepIDs: [], userData: []), at: project.data, &written)
                try disk.makeFolder(project.assets)
                written.folders += [project.assets, project.path]
                try written.sync(on: disk)
                try moveIn(project, as: id)
            }
        }
        notify { $0.storage(self, didCreate: id) }
        return id
    }

    /// Returns the ids of the projects. Projects with equal dates are sorted by id.
    /// - Parameters:
    ///   - key: The date to sort by.
    ///   - descending: Whether the newest project comes first.
    ///   - owner: The id of the program whose projects are returned, which leaves out unreadable projects; nil for all
    ///     projects.
    /// - Returns: The ids, sorted.
    /// - Throws: `fetchFailed`.
    public func projectIDs(
        sortedBy key: SortKey = .creationDate, descending: Bool = true, of owner: String? = nil
    ) throws(ProjectError) -> [ProjectID] {
        try reporting(.fetchFailed, "cannot list the projects in \(base) by \(key)") {
            var dated: [(id: ProjectID, date: ProjectDate)] = []
            for name in try disk.names(in: folder.path) {
                guard let id = BaseFolder.projectID(name), let date = try date(of: id, key, owner) else { continue }
                dated.append((id, date))
            }
            dated.sort { a, b in
                if a.date == b.date { return a.id < b.id }
                return descending ? a.date > b.date : a.date < b.date
            }
            return dated.map(\.id)
        }
    }

    /// Returns the date of a project for sorting. An unreadable project counts as a project without an owner and has
    /// the date of its folder.
    /// - Returns: The date; nil if there is no such project or it does not belong to `owner`.
    private func date(of id: ProjectID, _ key: SortKey, _ owner: String?) throws -> ProjectDate? {
        do {
            let metadata = try StoredData(of: folder.project(id), [], on: disk).metadata
            guard owner == nil || metadata.bundleID == owner else { return nil }
            return key == .creationDate ? metadata.created : metadata.modified
        } catch ProjectProblem.noSuchProject {
            return nil
        } catch is ProjectProblem {
            guard owner == nil else { return nil }
            return try disk.status(folder.project(id).path).map { ProjectDate($0.st_mtim) }
        } catch let error as SystemCallError where error.code == ENOTDIR || error.code == ELOOP {
            return nil
        }
    }

    /// Removes a project with its steps, user data and assets.
    /// - Throws: `deleteFailed`, also if there is no such project.
    public func deleteProject(_ id: ProjectID) throws(ProjectError) {
        try reporting(.deleteFailed, "cannot delete project \(id)", project: id) {
            try writing { work in
                let project = folder.project(id)
                try requireData(of: project)
                let away = work.entry(id.description)
                try disk.rename(project.path, to: away)
                try durable(folder.path) { try disk.rename(away, to: project.path) }
            }
        }
        notify { $0.storage(self, didDelete: id) }
    }

    /// Creates a copy of a project with the same steps, step cursor, user data, assets and bundle id, but with dates of
    /// its own. Later changes of either project do not affect the other.
    /// - Returns: The id of the new project.
    /// - Throws: `writeFailed`.
    public func duplicateProject(_ source: ProjectID) throws(ProjectError) -> ProjectID {
        let id = ProjectID()
        try reporting(.writeFailed, "cannot duplicate project \(source)", project: source) {
            try writing { work in
                let original = folder.project(source)
                try repair(original)
                let stored = try StoredData(of: original, .all, on: disk)
                let project = ProjectFolder(path: work.entry(id.description))
                var written = Written()
                try disk.makeFolder(project.path)
                var metadata = stored.metadata
                metadata.created = now()
                metadata.modified = metadata.created
                var content = DataContent(metadata: metadata, stepIDs: stored.stepIDs, userData: stored.userData)
                content.carryOn(from: original, stored, sharing: false)
                try writeData(content, at: project.data, &written)
                try disk.copyFolder(original.assets, to: project.assets, links: .any, &written)
                if let stepIDs = stored.stepIDs, !stepIDs.isEmpty {
                    try disk.makeFolder(project.steps)
                    for step in stepIDs {
                        try disk.copyFolder(
                            original.step(step).path, to: project.step(step).path, links: .any, &written)
                    }
                    written.folders.append(project.steps)
                }
                written.folders.append(project.path)
                try written.sync(on: disk)
                try moveIn(project, as: id)
            }
        }
        notify { $0.storage(self, didDuplicate: source, as: id) }
        return id
    }

    /// Moves a complete project from the staging folder to its place in the base folder.
    private func moveIn(_ project: ProjectFolder, as id: ProjectID) throws {
        let place = folder.project(id).path
        try disk.rename(project.path, to: place)
        try durable(folder.path) { try disk.rename(place, to: project.path) }
    }

    /// Makes the names in a folder durable. If that fails, undoes the last change with `takeBack`, so that the failed
    /// operation has changed nothing.
    func durable(_ path: Path, orElse takeBack: () throws -> Void) throws {
        do {
            try disk.sync(path)
        } catch {
            // If undoing fails too, the change stays as a whole. Either state is consistent.
            try? takeBack()
            throw error
        }
    }
}
