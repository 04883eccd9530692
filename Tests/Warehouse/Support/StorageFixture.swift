import FoundationEssentials
import Glibc
import Synchronization
import TestSupport

@testable import Warehouse

/// A new folder for a test. The folder is removed with the test's instance.
final class StorageFixture: Sendable {
    /// The folder, on the file system to test, in which tests put their storages; nil for the folder for temporary
    /// files.
    @TaskLocal static var root: String?

    /// A file system in memory, for tests that repeat the same operation thousands of times; nil if there is none.
    static let memory: String? = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil

    let folder: String

    init() throws {
        let root = Self.root ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        folder = "\(root)/larder-test-\(ProjectID())"
        try Files.makeFolder(folder)
    }

    deinit { Files.remove(folder) }

    /// The base folder of the test's storages.
    var base: String { "\(folder)/base" }

    /// A base folder that cannot be created, since a file is in its place.
    var invalidBase: String {
        get throws {
            try Files.write("", to: "\(folder)/file")
            return "\(folder)/file/base"
        }
    }

    /// Makes a storage on the base folder.
    /// - Parameters:
    ///   - faults: The filter that makes the storage's system calls fail and records them; nil for none.
    ///   - clock: The clock that gives the dates; nil for the system's.
    ///   - largestFile: The size limit of a file in bytes; nil for the storage's default.
    func storage(
        bundleID: String = "org.example.editor", faults: DiskFaults? = nil, clock: SetClock? = nil,
        largestFile: Int? = nil
    ) -> ProjectStorage {
        var disk = faults.map { faults in Disk { call, path throws(SystemCallError) in try faults.pass(call, path) } }
        if let largestFile {
            disk = disk ?? Disk()
            disk?.largestFile = largestFile
        }
        return ProjectStorage(
            base: base, bundleID: bundleID, now: { clock?.date ?? .now() }, disk: disk ?? Disk())
    }

    /// Makes a folder with files in it, for use as the source of a step's assets.
    func source(_ files: [String: String] = ["thumbnail.png": "picture"]) throws -> String {
        let source = "\(folder)/source-\(ProjectID())"
        try Files.makeFolder(source)
        for (name, text) in files { try Files.write(text, to: "\(source)/\(name)") }
        return source
    }

    /// Returns all files below the base folder with their content, except the lock.
    func tree() throws -> [String: [UInt8]] {
        var tree: [String: [UInt8]] = [:]
        for path in try Files.filesBelow(base) where path != ".lock" { tree[path] = try Files.read("\(base)/\(path)") }
        return tree
    }

    /// Returns the names of a project's step folders.
    func stepFolders(of id: ProjectID) throws -> [String] {
        let steps = "\(base)/\(id)/steps"
        return Files.isFolder(steps) ? try Files.names(in: steps) : []
    }
}

extension ProjectStorage {
    /// Adds steps behind the current one and makes the last of them current.
    @discardableResult
    func addSteps(_ contents: [StepContent], to id: ProjectID) throws -> [StepID] {
        try updateProject(id, []) { project in
            ProjectUpdateRequest(projectID: id, stepCursor: project.stepCursor + contents.count, stepsToAdd: contents)
        } ?? []
    }

    /// Makes a project with steps whose user data are their numbers.
    func project(steps: Int) throws -> ProjectID {
        let id = try createProject()
        try addSteps((0..<steps).map { StepContent(userData: [UInt8($0)]) }, to: id)
        return id
    }

    func stepIDs(of id: ProjectID) throws -> [StepID] { try fetchProject(id, .stepIDs).stepIDs ?? [] }
}

/// Returns the error that `body` throws; nil if `body` throws none.
func failure<Result>(_ body: () throws(ProjectError) -> Result) -> ProjectError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// A clock that stands still until it is set.
final class SetClock: Sendable {
    private let nanoseconds = Mutex<Int64>(0)

    var date: ProjectDate {
        get { ProjectDate(nanoseconds: nanoseconds.withLock { $0 }) }
        set { nanoseconds.withLock { $0 = newValue.nanoseconds } }
    }
}
