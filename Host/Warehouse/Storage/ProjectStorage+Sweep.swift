import Glibc

extension ProjectStorage {
    /// Removes the remains of interrupted work: staging folders, steps that no project refers to, and empty project
    /// folders.
    ///
    /// Does nothing while another writer holds the lock: remains cannot be distinguished from work in progress then.
    /// The next opening of the storage sweeps again.
    func sweep() throws {
        _ = try disk.holdingLock(at: folder.lock, waits: false) {
            let stuck = try finishMoves()
            if try disk.status(folder.staging) != nil {
                for name in try disk.names(in: folder.staging) {
                    // A folder that cannot be removed must not prevent the removal of the others. The same holds below.
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
            // This removes the folder only if it is empty. A folder with content is left for a person to inspect.
            return try disk.removeFolder(project.path)
        }
        guard try disk.status(project.steps) != nil else { return }
        let stored = try StoredData(of: project, .stepIDs, on: disk)
        // A truncated list does not tell which other steps the project has.
        guard stored.isListWhole else { return }
        let named = stuck.union(stored.stepIDs ?? [])
        for name in try disk.names(in: project.steps) {
            guard let id = StepID(Path(bytes: name + [0]).text), !named.contains(id) else { continue }
            try? disk.removeTree(project.steps.entry(name))
        }
    }
}
