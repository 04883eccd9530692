import Glibc

extension ProjectStorage {
    /// What projects are listed by.
    public enum SortKey: Hashable, Sendable, CaseIterable {
        case creationDate
        case modificationDate
    }

    /// Makes a project without steps and data.
    /// - Parameter owner: the program that it belongs to; nil: the one that the storage was opened for.
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

    /// The ids of all projects. Those with equal dates come in the order of their ids.
    /// - Parameter owner: only those of this program, which leaves out what cannot be read; nil: all.
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

    /// - Returns: nil if there is no such project. One whose data cannot be read is a project too, with its folder's date, and
    ///   nobody's.
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

    /// Removes a project with all that is in it.
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

    /// Makes a project with the same steps, cursor, data, assets and bundle id, and dates of its own. Neither's later changes
    /// concern the other.
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

    /// Gives a complete project its place.
    private func moveIn(_ project: ProjectFolder, as id: ProjectID) throws {
        let place = folder.project(id).path
        try disk.rename(project.path, to: place)
        try durable(folder.path) { try disk.rename(place, to: project.path) }
    }

    /// Makes a folder's names durable; if that fails, takes back what was done last, so that a failure has changed nothing.
    func durable(_ path: Path, orElse takeBack: () throws -> Void) throws {
        do {
            try disk.sync(path)
        } catch {
            // If this fails too the change stays, whole: either state is a good one.
            try? takeBack()
            throw error
        }
    }
}
