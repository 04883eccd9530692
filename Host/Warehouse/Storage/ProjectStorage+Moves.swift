import Glibc

/// A folder that is renamed to become a step's assets.
struct AssetsMove {
    var step: StepID
    var source: Path
}

/// The part of the storage that moves sources of assets into steps.
///
/// A source is renamed into a new step just before the project refers to the step. Until the project does, a note in
/// the base folder records the origin of the source. If the process ends in between, the next writer or the next
/// opening of the storage moves the source back.
extension ProjectStorage {
    func note(of step: StepID) -> Path { folder.moving.entry(step.description) }

    /// Checks that a folder can be moved to the storage as a step's assets, and records the files to make durable.
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
                // A file system that is mounted twice counts as two file systems for this call.
                guard error.code == EXDEV else { throw error }
                throw ProjectProblem.sourceElsewhere(path: move.source.text)
            }
            try disk.sync(project.step(move.step).path)
            if let parent = move.source.parent { try disk.sync(parent) }
        }
    }

    /// Moves the sources back after a failed update.
    /// - Returns: The steps whose assets could not be moved back.
    func takeBack(_ moves: [AssetsMove], from project: ProjectFolder) -> Set<StepID> {
        var stuck: Set<StepID> = []
        for move in moves {
            do {
                let assets = project.step(move.step).assets
                if try disk.status(assets) != nil { try disk.rename(assets, to: move.source) }
                if try disk.status(note(of: move.step)) != nil { try disk.removeFile(note(of: move.step)) }
            } catch {
                // The note stays, so that the next writer tries again.
                stuck.insert(move.step)
            }
        }
        return stuck
    }

    /// Moves back the sources of interrupted updates, and removes the notes about completed moves. The caller must hold
    /// the lock.
    /// - Returns: The steps for which this failed. A sweep must not remove them, whether or not a project refers to
    ///   them.
    @discardableResult
    func finishMoves() throws -> Set<StepID> {
        guard try disk.status(folder.moving) != nil else { return [] }
        var stuck: Set<StepID> = []
        for name in try disk.names(in: folder.moving) {
            guard let step = StepID(Path(bytes: name + [0]).text) else { continue }
            // One damaged project, or one folder that cannot be renamed, must not stop the others.
            do { try finishMove(to: step) } catch { stuck.insert(step) }
        }
        return stuck
    }

    private func finishMove(to step: StepID) throws {
        let note = note(of: step)
        let words = try disk.read(disk.open(note, O_RDONLY | O_NOFOLLOW))
            .split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        // An incomplete note was written before anything was moved.
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
            // Something else lies at the original path by now, or its parent folder is gone.
            guard [EEXIST, ENOENT, ENOTDIR, EXDEV].contains(error.code) else { throw error }
            try disk.rename(step.assets, to: folder.path.entry("recovered-\(move.step)"))
        }
        try disk.sync(step.path)
        if let parent = move.source.parent { try? disk.sync(parent) }
    }
}
