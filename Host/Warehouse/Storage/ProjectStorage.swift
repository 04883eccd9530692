import Glibc

/// A storage that keeps projects in a folder of the file system.
///
/// A project is a document that a person works on in a program. It consists of a list of steps with a step cursor for
/// undo and redo, user data (bytes that only the program interprets), and a folder of files (assets). Each update is
/// atomic: even after a crash or a power cut the project is in the state before the update or in the state after it.
/// When a function returns without an error, its changes are durable.
///
/// All functions block on the disk and on other writers of the same base folder, so call them from a thread that may
/// block. They may be called from any thread. Several objects and processes may share a base folder: a writer waits for
/// other writers, and a reader waits for nobody. A base folder must not lie in another base folder.
public final class ProjectStorage: Sendable {
    /// The absolute path of the base folder, which holds the projects.
    public let base: String
    /// The id of the program that new projects are created for. Each project keeps this id.
    public let bundleID: String

    let folder: BaseFolder
    let disk: Disk
    let now: @Sendable () -> ProjectDate
    let sourceRefusal: @Sendable (_ source: String) -> String?
    private let observers = Observers()

    /// Opens a storage and removes the remains of interrupted work from its base folder.
    ///
    /// The base folder is created if it is missing. If the creation fails, each later call fails with its own error.
    /// - Parameters:
    ///   - base: The path of the base folder.
    ///   - bundleID: The id of the program, such as `org.example.editor`.
    ///   - now: Returns the date for created and updated projects.
    ///   - sourceRefusal: Receives the absolute path of a folder, without symbolic links. Returns the reason why assets
    ///     must not be taken from the folder, or nil if they may be taken. The storage's own checks apply as well.
    public convenience init(
        base: String, bundleID: String, now: @escaping @Sendable () -> ProjectDate = ProjectDate.now,
        sourceRefusal: @escaping @Sendable (_ source: String) -> String? = { _ in nil }
    ) {
        self.init(base: base, bundleID: bundleID, now: now, sourceRefusal: sourceRefusal, disk: Disk())
    }

    /// Opens a storage only for reading: the base folder is not created, and the remains of interrupted work stay in
    /// it.
    /// - Parameter base: The path of the base folder.
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
        // By contract, opening does not fail. The first call that needs the folder reports the error.
        try? disk.makeFolders(folder.path)
        try? sweep()
    }

    private static var workingFolder: String {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }

    /// Adds an observer. Each observer is called once for each change, however often it was added. The storage does not
    /// retain its observers.
    public func addObserver(_ observer: any ProjectStorageObserver) { observers.add(observer) }

    /// Removes an observer. Does nothing if the observer was not added.
    public func removeObserver(_ observer: any ProjectStorageObserver) { observers.remove(observer) }

    func notify(_ call: (any ProjectStorageObserver) -> Void) { observers.notify(call) }

    /// Runs `body` while no other writer is at work. `body` gets the path of a new folder in the base folder for its
    /// temporary files. The folder is removed afterwards with everything in it.
    func writing<Result>(_ body: (_ work: Path) throws -> Result) throws -> Result {
        let result = try disk.holdingLock(at: folder.lock, waits: true) {
            try finishMoves()
            if try disk.status(folder.staging) == nil { try disk.makeFolder(folder.staging) }
            let work = folder.staging.entry(UniqueID<Path>().description)
            try disk.makeFolder(work)
            // A folder that cannot be removed disturbs nobody. It is removed when a storage is opened next.
            defer { try? disk.removeTree(work) }
            return try body(work)
        }
        guard let result else { throw SystemCallError(call: "flock", path: folder.lock.text, code: EWOULDBLOCK) }
        return result
    }

    /// Runs `body` and turns its errors into a ``ProjectError`` with a code, a message and the project or step
    /// concerned. An error that is a ``ProjectError`` already passes through.
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
