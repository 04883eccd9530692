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
            --replace makes a new version of it. The version that it replaces is the one that FILE was copied from with \
            `get --to FILE`, else that of the copy here, else the one that was listed last; --if names another. If the \
            server has another version by then, an issue asks what to do.

            Of a folder all files and folders below are uploaded, into the folder of that path on the server, which may \
            exist. Symbolic links, sockets and devices are named and left out.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The file or folder on this machine.", completion: .file()) var file: String
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String
    @Flag(help: "Make a new version if there is such a file on the server.") var replace = false
    @Option(
        name: .customLong("if"),
        help: ArgumentHelp("Make a new version only if the server still has this one.", valueName: "etag"))
    var version: String?
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try CLIArgument.path(path)
        let replacing = try version.map { field throws(Failure) in
            guard let etag = ETag(field: field) else {
                throw Failure(.usage, "--if needs a version, such as stat shows")
            }
            return etag.opaque
        }
        let account = try global.loadConfig().oneAccount()
        let bookmark = account.bookmark
        let withSHA1 = await account.mayHaveFamilyServer()
        // The file is read with this command's own rights, whichever process uploads it.
        if let folder = await runBlocking({ [file] in UploadedFolder(file, to: path, withSHA1: withSHA1) }) {
            guard replacing == nil else {
                throw Failure(.usage, "--if names the version of one file, and \(file) is a folder")
            }
            return try await upload(folder, of: bookmark, console)
        }
        let taken = await runBlocking { [file] () -> Result<(snapshot: TakenSnapshot, lock: any Sendable), Failure> in
            do throws(Failure) {
                return .success(try Snapshots.take(of: file, for: bookmark, withSHA1: withSHA1))
            } catch {
                return .failure(error)
            }
        }
        let (taking, lock) = try taken.get()
        let snapshot = taking.replacing(replacing)
        defer { withExtendedLifetime(lock) {} }
        return try await make(
            .put(snapshot, path, replaces: replace || replacing != nil), showing: path, "uploaded", options, global,
            console
        ) {
            await runBlocking { Snapshots.discard(snapshot, of: bookmark) }
        }
    }
}

extension AccountConfig {
    /// Tells whether the account's server may be of the ownCloud family, as far as it is known without asking it.
    fileprivate func mayHaveFamilyServer() async -> Bool {
        // A database that cannot be read now is reported by what writes it.
        guard let reader = try? reader() else { return true }
        let answer = (try? await reader.mayHaveFamilyServer()) ?? true
        try? reader.close()
        return answer
    }
}

// MARK: Folders

extension Put {
    /// The number of records that one request waits for.
    private static let mostAwaited = 10_000

    private func upload(
        _ folder: UploadedFolder, of bookmark: Bookmark, _ console: Console
    ) async throws(Failure) -> [Failure] {
        let target = folder.target
        let upload = FolderUpload(folder, of: bookmark, replaces: replace)
        let waits = !options.queue
        let outcome = try await carryOut(global, console, asksServer: waits) {
            host, account, hear throws(Failure) -> ChangeOutcome? in
            while let changes = await upload.next() {
                let change = ServerChange(changes, waits: false)
                guard let outcome = try await host.carryOut(change, for: account, hear: hear) else { return nil }
                await upload.queued(outcome.changes)
            }
            var all = ChangeOutcome()
            var rest = waits ? await upload.records[...] : []
            while !rest.isEmpty {
                let change = ServerChange([], after: Array(rest.prefix(Self.mostAwaited)), waits: true)
                guard let outcome = try await host.carryOut(change, for: account, hear: hear) else { return nil }
                all.failures += outcome.failures
                all.issues += outcome.issues
                rest = rest.dropFirst(Self.mostAwaited)
            }
            return all
        } alone: { host, hear throws(Failure) in
            let feed = ChangeFeed {
                await upload.next() ?? []
            } queued: {
                await upload.queued($0)
            }
            return try await host.make(feed, after: upload.records, waits: waits, progress: hear)
        }
        let failures = await upload.failures + outcome.failures + outcome.issues.map { Failure($0) }
        try await tell(await upload.count, of: target, failures, console)
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

/// The upload of a folder: the changes that it consists of, and what became of them.
private actor FolderUpload {
    /// The number of files and folders, and of bytes, after which the changes are queued that were found. Each snapshot
    /// is an open file until then.
    private static let (mostChanges, mostBytes) = (200, Int64(64 << 20))

    private let bookmark: Bookmark
    private let replaces: Bool
    private var folder: UploadedFolder
    /// The changes that are not queued yet.
    private var batch = UploadedFolder.Batch()
    /// The folders that cannot be made. What is in them was not uploaded either, which goes without saying.
    private var closed: [ItemPath] = []
    /// The number of files that are uploaded, or queued.
    private(set) var count = 0
    private(set) var records: [SyncRecordID] = []
    private(set) var failures: [Failure] = []

    init(_ folder: UploadedFolder, of bookmark: Bookmark, replaces: Bool) {
        (self.folder, self.bookmark, self.replaces) = (folder, bookmark, replaces)
    }

    /// Returns the next changes, or again those that are not queued yet; nil at the end.
    func next() async -> [ChangeRequest]? {
        if batch.changes.isEmpty {
            (folder, batch) = await runBlocking { [folder, bookmark, replaces] in
                var folder = folder
                let batch = folder.next(Self.mostChanges, Self.mostBytes, for: bookmark, replaces: replaces)
                return (folder, batch)
            }
            failures += batch.failures
        }
        return batch.changes.isEmpty ? nil : batch.changes
    }

    /// Notes the outcomes of the changes that ``next()`` has returned last.
    func queued(_ outcomes: [ChangeOutcome.Change]) async {
        let changes = batch.changes
        // The locks of the snapshots end.
        batch = UploadedFolder.Batch()
        for (change, outcome) in zip(changes, outcomes) {
            if let record = outcome.record { records.append(record) }
            guard let refusal = outcome.refusal else {
                if case .put = change { count += 1 }
                continue
            }
            switch change {
            case .put(let snapshot, let path, _):
                await runBlocking { [bookmark] in Snapshots.discard(snapshot, of: bookmark) }
                if !closed.contains(where: { $0.isAncestor(of: path) }) { failures.append(refusal) }
            case .haveFolder(let path):
                if !closed.contains(where: { $0.isAncestor(of: path) }) { failures.append(refusal) }
                closed.append(path)
                folder.leave(path)
            default: failures.append(refusal)
            }
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
    private let withSHA1: Bool
    /// The folders and files that were found and not yet requested, the next one last.
    private var found: [(file: String, path: ItemPath)]

    /// - Returns: Nil if there is no folder at the path.
    init?(_ folder: String, to target: ItemPath, withSHA1: Bool) {
        var info = stat()
        guard stat(folder, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { return nil }
        (self.target, self.withSHA1, found) = (target, withSHA1, [(folder, target)])
    }

    /// Takes snapshots of the next files. Blocks.
    /// - Parameters:
    ///   - count: The largest number of files and folders.
    ///   - bytes: The number of bytes after which no more files are taken.
    mutating func next(_ count: Int, _ bytes: Int64, for bookmark: Bookmark, replaces: Bool) -> Batch {
        var batch = Batch()
        var size: Int64 = 0
        while batch.changes.count < count, size < bytes, let (file, path) = found.popLast() {
            do throws(Failure) {
                guard let kind = try kind(of: file, isTop: path == target) else {
                    throw Failure(.badData, "\(file) is neither a file nor a folder, and was not uploaded")
                }
                guard kind == .folder else {
                    let (snapshot, lock) = try Snapshots.take(of: file, for: bookmark, withSHA1: withSHA1)
                    batch.changes.append(.put(snapshot, path, replaces: replaces))
                    batch.locks.append(lock)
                    size += snapshot.size
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
                if error.kind == .localIO || error.hint == .runFirst {
                    if let next = found.last, error.kind == .localIO {
                        batch.failures.append(
                            Failure(
                                .failed, "\(next.file) and what comes after it was not uploaded",
                                hint: "Repeat the command when that is mended"))
                    }
                    found = []
                }
            }
        }
        return batch
    }

    /// Leaves out everything below a folder.
    mutating func leave(_ path: ItemPath) { found.removeAll { path.isAncestor(of: $0.path) } }

    private func kind(of file: String, isTop: Bool) throws(Failure) -> Item.Kind? {
        var info = stat()
        guard (isTop ? stat(file, &info) : lstat(file, &info)) == 0 else { throw .reading(file, errno) }
        return switch info.st_mode & S_IFMT {
        case S_IFDIR: .folder
        case S_IFREG: .file
        default: nil
        }
    }

    /// Returns the names in a folder, sorted. A name that is not UTF-8 is nil.
    private func names(in folder: String) throws(Failure) -> [String?] {
        guard let stream = opendir(folder) else { throw .reading(folder, errno) }
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
