import Glibc

extension ProjectStorage {
    /// Removes what interrupted work left: what was being made or taken away, steps that no project names, and projects
    /// without anything in them. While somebody else writes there is nothing to be told from work that is under way, and the
    /// next opening does it.
    func sweep() throws {
        _ = try disk.holdingLock(at: folder.lock, waits: false) {
            let stuck = try finishMoves()
            if try disk.status(folder.staging) != nil {
                for name in try disk.names(in: folder.staging) {
                    // One that cannot be removed is no reason to leave the others. The same below.
                    try? disk.removeTree(folder.staging.entry(name))
                }
            }
            for name in try disk.names(in: folder.path) {
                if let id = BaseFolder.projectID(name) { try? sweep(folder.project(id), besides: stuck) }
            }
        }
    }

    private func sweep(_ project: ProjectFolder, besides stuck: Set<StepID>) throws {
        try repair(project)
        guard try disk.status(project.data) != nil else {
            // Only an empty folder goes by this. With anything in it, it is a person's to look at.
            return try disk.removeFolder(project.path)
        }
        guard try disk.status(project.steps) != nil else { return }
        let stored = try StoredData(of: project, .stepIDs, on: disk)
        // A list that was cut off says nothing of the steps that it does not name.
        guard stored.isListWhole else { return }
        let named = stuck.union(stored.stepIDs ?? [])
        for name in try disk.names(in: project.steps) {
            guard let id = StepID(Path(bytes: name + [0]).text), !named.contains(id) else { continue }
            try? disk.removeTree(project.steps.entry(name))
        }
    }
}
