import ArgumentParser
import Core
import Glibc
import Model
import Threads

struct Put: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Upload a file, or a folder and everything below it.",
        discussion: """
            A snapshot of the file is taken at once, so that the file may be changed or removed afterwards. The uploaded \
            file is then also a copy here, as if it had been downloaded. A file on the server is not overwritten, unless \
            --replace makes a new version of it; if somebody has changed it meanwhile, an issue asks what to do.

            Of a folder all files and folders below are uploaded, into the folder of that path on the server, which may \
            exist. Symbolic links, sockets and devices are named and left out.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The file or folder on this machine.", completion: .file()) var file: String
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String
    @Flag(help: "Make a new version if there is such a file on the server.") var replace = false
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try CLIArgument.path(path)
        let bookmark = try global.loadConfig().oneAccount().bookmark
        // The file is read with this command's own rights, whichever process uploads it.
        if let folder = await runBlocking({ [file] in UploadedFolder(file, to: path) }) {
            return try await upload(folder, of: bookmark, console)
        }
        let taken = await runBlocking { [file] () -> Result<(snapshot: TakenSnapshot, lock: any Sendable), Failure> in
            do throws(Failure) { return .success(try Snapshots.take(of: file, for: bookmark)) } catch {
                return .failure(error)
            }
        }
        let (snapshot, lock) = try taken.get()
        defer { withExtendedLifetime(lock) {} }
        return try await make(
            .put(snapshot, path, replaces: replace), showing: path, "uploaded", options, global, console
        ) {
            await runBlocking { Snapshots.discard(snapshot, of: bookmark) }
        }
    }
}

// MARK: Folders

extension Put {
    /// The number of files of which snapshots are taken before their uploads are requested, at once. Each snapshot is an
    /// open file until then.
    private static let batchSize = 200
    /// The number of records that one request waits for.
    private static let mostAwaited = 10_000

    private func upload(
        _ folder: UploadedFolder, of bookmark: Bookmark, _ console: Console
    ) async throws(Failure) -> [Failure] {
        var folder = folder
        var (count, failures, records): (Int, [Failure], [SyncRecordID]) = (0, [], [])
        // The folders that cannot be made. What is in them was not uploaded either, which goes without saying.
        var closed: [ItemPath] = []
        while true {
            let (rest, batch) = await runBlocking { [folder, replace] in
                var folder = folder
                let batch = folder.next(Self.batchSize, for: bookmark, replaces: replace)
                return (folder, batch)
            }
            folder = rest
            failures += batch.failures
            guard !batch.changes.isEmpty else { break }
            let outcome = try await carryOut(ServerChange(batch.changes, waits: false), global, console)
            withExtendedLifetime(batch.locks) {}
            failures += outcome.failures
            for (change, made) in zip(batch.changes, outcome.changes) {
                if let record = made.record { records.append(record) }
                guard let refusal = made.refusal else {
                    if case .put = change { count += 1 }
                    continue
                }
                switch change {
                case .put(let snapshot, let path, _):
                    await runBlocking { Snapshots.discard(snapshot, of: bookmark) }
                    if !closed.contains(where: { $0.isAncestor(of: path) }) { failures.append(refusal) }
                case .haveFolder(let path):
                    if !closed.contains(where: { $0.isAncestor(of: path) }) { failures.append(refusal) }
                    closed.append(path)
                    folder.leave(path)
                default: failures.append(refusal)
                }
            }
        }
        var rest = options.queue ? [] : records[...]
        while !rest.isEmpty {
            let outcome = try await carryOut(
                ServerChange([], after: Array(rest.prefix(Self.mostAwaited)), waits: true), global, console,
                asksServer: true)
            failures += outcome.failures + outcome.issues.map { Failure($0) }
            rest = rest.dropFirst(Self.mostAwaited)
        }
        try await tell(count, of: folder.target, failures, console)
        return failures
    }

    private func tell(
        _ count: Int, of target: ItemPath, _ failures: [Failure], _ console: Console
    ) async throws(Failure) {
        if global.isJSON { return try await tell(nil, target, global, console) }
        let (name, files) = (Text.visible(target.text), Text.count(count, "file"))
        if options.queue {
            console.print("\(name): \(files) queued, for the running host or the next run")
        } else if failures.isEmpty {
            console.print("\(name): \(files) uploaded")
        }
    }
}

/// A folder of a person that is uploaded. It is read while it is uploaded, the folders before what is in them.
private struct UploadedFolder: Sendable {
    /// The changes for a part of the folder, and what cannot be uploaded.
    struct Batch: Sendable {
        var changes: [ChangeRequest] = []
        /// The locks of the snapshots, which are kept until the uploads were requested.
        var locks: [any Sendable] = []
        var failures: [Failure] = []
    }

    /// The path on the server.
    let target: ItemPath
    /// The folders and files that were found and not yet requested, the next one last.
    private var found: [(file: String, path: ItemPath)]

    /// - Returns: Nil if there is no folder at the path.
    init?(_ folder: String, to target: ItemPath) {
        var info = stat()
        guard stat(folder, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { return nil }
        (self.target, found) = (target, [(folder, target)])
    }

    /// Takes snapshots of the next files. Blocks.
    /// - Parameter count: The number of files and folders.
    mutating func next(_ count: Int, for bookmark: Bookmark, replaces: Bool) -> Batch {
        var batch = Batch()
        while batch.changes.count < count, let (file, path) = found.popLast() {
            do throws(Failure) {
                guard let kind = try kind(of: file, isTop: path == target) else {
                    throw Failure(.badData, "\(file) is neither a file nor a folder, and was not uploaded")
                }
                guard kind == .folder else {
                    let (snapshot, lock) = try Snapshots.take(of: file, for: bookmark)
                    batch.changes.append(.put(snapshot, path, replaces: replaces))
                    batch.locks.append(lock)
                    continue
                }
                batch.changes.append(.haveFolder(path))
                for name in try names(in: file).reversed() {
                    guard let name else {
                        batch.failures.append(
                            Failure(.badData, "\(file) has an entry whose name is not UTF-8, which was not uploaded"))
                        continue
                    }
                    do throws(ItemPath.Problem) { found.append(("\(file)/\(name)", try path.appending(name))) } catch {
                        batch.failures.append(
                            Failure(.badData, "\(file)/\(name) was not uploaded: \(error.explanation)"))
                    }
                }
            } catch {
                batch.failures.append(error)
                // A disk that is full, and an account of which nothing is known, fail every other file too.
                if error.kind == .localIO || error.hint == .runFirst { found = [] }
            }
        }
        return batch
    }

    /// Leaves out everything below a folder.
    mutating func leave(_ path: ItemPath) { found.removeAll { path.isAncestor(of: $0.path) } }

    private func kind(of file: String, isTop: Bool) throws(Failure) -> Item.Kind? {
        var info = stat()
        guard (isTop ? stat(file, &info) : lstat(file, &info)) == 0 else { throw .system("reading \(file)", errno) }
        return switch info.st_mode & S_IFMT {
        case S_IFDIR: .folder
        case S_IFREG: .file
        default: nil
        }
    }

    /// Returns the names in a folder, sorted. A name that is not UTF-8 is nil.
    private func names(in folder: String) throws(Failure) -> [String?] {
        guard let stream = opendir(folder) else { throw .system("reading \(folder)", errno) }
        defer { closedir(stream) }
        var names: [String?] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw .system("reading \(folder)", errno) }
                return names.sorted { ($0 ?? "").utf8.lexicographicallyPrecedes(($1 ?? "").utf8) }
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }
}
