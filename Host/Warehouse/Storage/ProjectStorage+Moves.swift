import Glibc

/// A folder that becomes a step's assets by being renamed.
struct AssetsMove {
    var step: StepID
    var source: Path
}

/// A source is renamed into a step that no project names yet, just before one does. Until then a note in the base folder says
/// where it came from: whoever writes or opens a storage next puts back what was on its way when a process ended.
extension ProjectStorage {
    func note(of step: StepID) -> Path { folder.moving.entry(step.description) }

    /// Sees to it that a folder can be moved to the storage as a step's assets.
    func collect(_ source: Path, _ written: inout Written) throws {
        guard let device = try disk.status(source)?.st_dev, device == (try disk.status(folder.path)?.st_dev) else {
            throw ProjectProblem.sourceElsewhere(path: source.text)
        }
        try disk.collect(source, on: device, &written)
    }

    /// Renames sources into steps that are in place and have no assets yet.
    func move(_ moves: [AssetsMove], to project: ProjectFolder, of id: ProjectID) throws {
        guard !moves.isEmpty else { return }
        if try disk.status(folder.moving) == nil {
            try disk.makeFolder(folder.moving)
            try disk.sync(folder.path)
        }
        for move in moves {
            let origin = move.source.bytes.dropLast().map { UInt8(bitPattern: $0) }
            try disk.write(Array("\(id)\n".utf8) + origin, to: note(of: move.step))
            try disk.sync(note(of: move.step))
        }
        try disk.sync(folder.moving)
        for move in moves {
            do throws(SystemCallError) {
                try disk.rename(move.source, to: project.step(move.step).assets)
            } catch {
                // Mounted twice, one file system is two for this call.
                guard error.code == EXDEV else { throw error }
                throw ProjectProblem.sourceElsewhere(path: move.source.text)
            }
            try disk.sync(project.step(move.step).path)
            if let parent = move.source.parent { try disk.sync(parent) }
        }
    }

    /// Puts back what was moved for an update that failed.
    /// - Returns: the steps whose assets are still in them.
    func takeBack(_ moves: [AssetsMove], from project: ProjectFolder) -> Set<StepID> {
        var stuck: Set<StepID> = []
        for move in moves {
            do {
                let assets = project.step(move.step).assets
                if try disk.status(assets) != nil { try disk.rename(assets, to: move.source) }
                if try disk.status(note(of: move.step)) != nil { try disk.removeFile(note(of: move.step)) }
            } catch {
                // The note stays with it, for the next who writes.
                stuck.insert(move.step)
            }
        }
        return stuck
    }

    /// Puts back what was on its way when a process ended, and forgets what had arrived. Needs the lock.
    /// - Returns: the steps of which that could not be done. They are no rest, whether a project names them or not.
    @discardableResult
    func finishMoves() throws -> Set<StepID> {
        guard try disk.status(folder.moving) != nil else { return [] }
        var stuck: Set<StepID> = []
        for name in try disk.names(in: folder.moving) {
            guard let step = StepID(Path(bytes: name + [0]).text) else { continue }
            // A project that is damaged is no reason to stop the others. The same holds for a folder that cannot be renamed.
            do { try finishMove(to: step) } catch { stuck.insert(step) }
        }
        return stuck
    }

    private func finishMove(to step: StepID) throws {
        let note = note(of: step)
        let words = try disk.read(disk.open(note, O_RDONLY | O_NOFOLLOW))
            .split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        // What is cut off was written before anything was moved.
        if words.count == 2, let id = ProjectID(String(decoding: words[0], as: UTF8.self)) {
            let source = Path(bytes: words[1].map { CChar(bitPattern: $0) } + [0])
            try finish(AssetsMove(step: step, source: source), of: id)
        }
        try disk.removeFile(note)
    }

    private func finish(_ move: AssetsMove, of id: ProjectID) throws {
        let project = folder.project(id)
        let step = project.step(move.step)
        guard try disk.status(step.assets) != nil,
            try StoredData(of: project, .stepIDs, on: disk).stepIDs?.contains(move.step) != true
        else { return }
        do throws(SystemCallError) {
            try disk.rename(step.assets, to: move.source)
        } catch {
            // Something else stands there by now, or the folder above is gone.
            guard [EEXIST, ENOENT, ENOTDIR, EXDEV].contains(error.code) else { throw error }
            try disk.rename(step.assets, to: folder.path.entry("recovered-\(move.step)"))
        }
        try disk.sync(step.path)
        if let parent = move.source.parent { try? disk.sync(parent) }
    }
}
