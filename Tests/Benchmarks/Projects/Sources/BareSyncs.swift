import Glibc

/// The `fsync` calls that an update needs, without the rest of the update. They run on files and folders of the same
/// number and size, with renames between them that give each call something to do. The replaced files are removed
/// afterwards. Only the `fsync` calls are timed.
struct BareSyncs {
    private let folder: String
    private var number = 0

    /// Makes the folders.
    /// - Parameter steps: the number of folders that already exist in the folder to which a step's folder is moved.
    init(in parent: String, steps: Int) throws {
        folder = "\(parent)/bare"
        for path in [folder, "\(folder)/steps", "\(folder)/data"] { try Self.makeFolder(path) }
        for number in 0..<steps { try Self.makeFolder("\(folder)/steps/there\(number)") }
        Glibc.sync()
    }

    /// Runs one round.
    /// - Parameters:
    ///   - stepIDs: the size of the list of step ids, which is written anew; nil leaves the list unchanged and adds no
    ///     step.
    ///   - metadata: the size of the metadata.
    /// - Returns: the time of the `fsync` calls.
    mutating func round(stepIDs: Int?, metadata: Int) throws -> Duration {
        number += 1
        let work = "\(folder)/work\(number)"
        try Self.makeFolder(work)
        var written: [String] = []
        if let stepIDs {
            for path in ["step", "step/data", "step/assets"] { try Self.makeFolder("\(work)/\(path)") }
            try Self.write(200, "\(work)/step/data/userData")
            written.append("\(work)/step/data/userData")
            try Self.makeFolder("\(work)/data")
            try Self.write(stepIDs, "\(work)/data/stepIDs")
            written.append("\(work)/data/stepIDs")
        } else {
            try Self.makeFolder("\(work)/data")
        }
        try Self.write(metadata, "\(work)/data/metadata")
        written.append("\(work)/data/metadata")
        if stepIDs != nil { written += ["step/data", "step/assets", "step"].map { "\(work)/\($0)" } }
        written.append("\(work)/data")

        var time = Duration.zero
        for path in written { time += try Self.sync(path) }
        if stepIDs != nil {
            try Self.rename("\(work)/step", "\(folder)/steps/\(number)")
            time += try Self.sync("\(folder)/steps")
        }
        try Self.rename("\(folder)/data", "\(work)/old")
        try Self.rename("\(work)/data", "\(folder)/data")
        time += try Self.sync(folder)
        for name in ["stepIDs", "metadata"] { unlink("\(work)/old/\(name)") }
        rmdir("\(work)/old")
        rmdir(work)
        return time
    }

    private static func makeFolder(_ path: String) throws {
        guard mkdir(path, 0o700) == 0 else { throw BenchmarkError("mkdir", path) }
    }

    private static func rename(_ from: String, _ to: String) throws {
        guard Glibc.rename(from, to) == 0 else { throw BenchmarkError("rename", to) }
    }

    private static func write(_ count: Int, _ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BenchmarkError("open", path) }
        defer { close(file) }
        let bytes = [UInt8](repeating: 7, count: count)
        guard Glibc.write(file, bytes, count) == count else { throw BenchmarkError("write", path) }
    }

    private static func sync(_ path: String) throws -> Duration {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw BenchmarkError("open", path) }
        defer { close(file) }
        let start = ContinuousClock.now
        guard fsync(file) == 0 else { throw BenchmarkError("fsync", path) }
        return ContinuousClock.now - start
    }
}
