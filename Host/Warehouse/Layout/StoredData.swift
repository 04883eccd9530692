import CLinux
import Glibc

/// The content of a project's data folder at one moment.
struct StoredData {
    var metadata: ProjectMetadata
    var stepCount: Int
    /// The ids of the steps; nil unless the options contain `stepIDs`.
    var stepIDs: [StepID]?
    /// The user data; nil unless the options contain `userData`.
    var userData: [UInt8]?
    /// Whether the file of step ids ends with a complete id.
    var isListWhole: Bool
    /// Whether the metadata are in the original's layout.
    var isOriginal: Bool
}

extension StoredData {
    /// Reads a project without a lock. The data folder is opened once, and its files never change. If a writer replaces
    /// and removes the folder meanwhile, the new folder is read instead.
    /// - Throws: ``ProjectProblem`` or ``SystemCallError``.
    init(of project: ProjectFolder, _ options: ProjectFetchOptions, on disk: Disk) throws {
        while true {
            let folder = try Self.open(project, on: disk)
            do {
                try self.init(in: folder, of: project, options, on: disk)
                break
            } catch let error as SystemCallError where error.code == ENOENT {
                let inode = try disk.status(folder).st_ino
                guard let now = try disk.status(project.data) ?? disk.status(project.oldData) else {
                    throw ProjectProblem.noSuchProject
                }
                if now.st_ino == inode {
                    throw ProjectProblem.damaged(path: folder.path.text, why: "a file is missing")
                }
            }
        }
        guard (0...stepCount).contains(metadata.stepCursor) else {
            let why = "the cursor is \(metadata.stepCursor), and there are \(stepCount) steps"
            throw ProjectProblem.damaged(path: project.data.text, why: why)
        }
    }

    /// Opens the data folder, or the old data folder. On file systems that cannot exchange, the data folder is missing
    /// for a moment, and the old data folder lies beside it.
    private static func open(_ project: ProjectFolder, on disk: Disk) throws -> Descriptor {
        for path in [project.data, project.oldData, project.data] {
            do throws(SystemCallError) {
                return try disk.openFolder(path)
            } catch {
                if error.code != ENOENT { throw error }
            }
        }
        throw ProjectProblem.noSuchProject
    }

    private init(
        in folder: borrowing Descriptor, of project: ProjectFolder, _ options: ProjectFetchOptions, on disk: Disk
    ) throws {
        do {
            let bytes = try disk.read(disk.open(ProjectFolder.metadata, in: folder))
            metadata = try ProjectMetadata(bytes, path: project.data.entry(ProjectFolder.metadata))
            isOriginal = false
        } catch let error as SystemCallError where error.code == ENOENT {
            let bytes = try disk.read(disk.open(ProjectFolder.originalMetadata, in: folder))
            let dates = try Self.originalDates(of: project, on: disk)
            metadata = try ProjectMetadata(
                original: bytes, path: project.data.entry(ProjectFolder.originalMetadata), created: dates.created,
                modified: dates.modified)
            isOriginal = true
        }
        let list = try disk.open(ProjectFolder.stepIDs, in: folder)
        let size = Int(try disk.status(list).st_size)
        stepCount = StepIDList.count(size: size)
        isListWhole = size == stepCount * StepID.byteCount
        if options.contains(.stepIDs) { stepIDs = StepIDList.decoded(try disk.read(list)) }
        if options.contains(.userData) { userData = try disk.read(disk.open(ProjectFolder.userData, in: folder)) }
    }

    /// Returns the dates of a project in the original's layout. The creation date is the earlier of the folder's birth
    /// time and modification time: a copied folder was born after the original, but keeps the modification time.
    private static func originalDates(
        of project: ProjectFolder, on disk: Disk
    ) throws -> (created: ProjectDate, modified: ProjectDate) {
        guard let info = try disk.status(project.path) else { throw ProjectProblem.noSuchProject }
        let modified = ProjectDate(info.st_mtim)
        var birth = timespec()
        guard linux_birth_time(project.path.bytes, &birth) == 0 else { return (modified, modified) }
        return (min(ProjectDate(birth), modified), modified)
    }
}
