import Glibc

/// Keeps projects in a folder of the file system.
///
/// A project is what a person works on in a program: a list of steps with a cursor for undo and redo, bytes of the program's
/// own (user data), and a folder of files (assets). Each update is one: however it ends, a crash or a power cut included, the
/// project is as it was before or as it is after. What was returned without an error is durable.
///
/// All functions block, on the disk and on others who write to the same base folder; call them from a thread that may. They
/// may be called from any thread, and several objects and processes may share a base folder: whoever writes waits for whoever
/// does, whoever reads waits for nobody. Base folders must not lie in one another.
public final class ProjectStorage: Sendable {
    /// The path of the folder in which the projects lie.
    public let base: String
    /// The program that projects are created for; they keep it.
    public let bundleID: String

    let folder: BaseFolder
    let disk: Disk
    let now: @Sendable () -> ProjectDate
    let sourceRefusal: @Sendable (_ source: String) -> String?
    private let observers = Observers()

    /// Opens a storage and removes what interrupted work left in it.
    ///
    /// The folder is made if it is missing. If that fails, each later call fails in its own way.
    /// - Parameters:
    ///   - base: the path of the base folder.
    ///   - bundleID: names the program, such as `org.example.editor`.
    ///   - now: gives the dates of what is created and updated.
    ///   - sourceRefusal: says of a folder, an absolute path without symbolic links, why no assets are taken from it, besides what
    ///     the storage itself refuses; nil: they are.
    public convenience init(
        base: String, bundleID: String, now: @escaping @Sendable () -> ProjectDate = ProjectDate.now,
        sourceRefusal: @escaping @Sendable (_ source: String) -> String? = { _ in nil }
    ) {
        self.init(base: base, bundleID: bundleID, now: now, sourceRefusal: sourceRefusal, disk: Disk())
    }

    /// Opens a storage to read from it alone: the folder is not made, and what interrupted work left in it stays.
    public convenience init(readingFrom base: String) {
        self.init(base: base, bundleID: "", disk: Disk(), isReading: true)
    }

    init(
        base: String, bundleID: String, now: @escaping @Sendable () -> ProjectDate = ProjectDate.now,
        sourceRefusal: @escaping @Sendable (_ source: String) -> String? = { _ in nil }, disk: Disk,
        isReading: Bool = false
    ) {
        self.base = base.hasPrefix("/") ? base : Self.workingFolder + "/" + base
        self.bundleID = bundleID
        self.disk = disk
        self.now = now
        self.sourceRefusal = sourceRefusal
        folder = BaseFolder(path: Path(self.base))
        if isReading { return }
        // By contract opening does not fail: what is wrong with the folder shows with the first call that needs it.
        try? disk.makeFolders(folder.path)
        try? sweep()
    }

    private static var workingFolder: String {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }

    /// Each observer is called once for each change, however often it was added, and is not kept alive.
    public func addObserver(_ observer: any ProjectStorageObserver) { observers.add(observer) }

    /// Removing one that was not added does nothing.
    public func removeObserver(_ observer: any ProjectStorageObserver) { observers.remove(observer) }

    func notify(_ call: (any ProjectStorageObserver) -> Void) { observers.notify(call) }

    /// Runs `body` while nobody else writes, with a path in the base folder for what it makes. What is there afterwards is
    /// removed.
    func writing<Result>(_ body: (_ work: Path) throws -> Result) throws -> Result {
        let result = try disk.holdingLock(at: folder.lock, waits: true) {
            try finishMoves()
            if try disk.status(folder.staging) == nil { try disk.makeFolder(folder.staging) }
            let work = folder.staging.entry(UniqueID<Path>().description)
            try disk.makeFolder(work)
            // What cannot be removed is in nobody's way, and is swept when a storage is opened next.
            defer { try? disk.removeTree(work) }
            return try body(work)
        }
        guard let result else { throw SystemCallError(call: "flock", path: folder.lock.text, code: EWOULDBLOCK) }
        return result
    }

    /// Gives what fails its code and what it was about.
    func reporting<Result>(
        _ code: ProjectError.Code, _ message: @autoclosure () -> String, project: ProjectID? = nil,
        step: StepID? = nil, _ body: () throws -> Result
    ) throws(ProjectError) -> Result {
        do {
            return try body()
        } catch let error as ProjectError {
            throw error
        } catch {
            guard let project else { throw ProjectError(code, message(), underlying: error) }
            throw ProjectError(code, message(), project: project, step: step, underlying: error)
        }
    }
}
