import Core
import Glibc
import Model

/// Files and folders of a person that are uploaded. They are read while they are uploaded, the folders before what is in
/// them.
struct UploadedFiles: Sendable {
    /// The changes for a part of the files, and what cannot be uploaded.
    struct Batch: Sendable {
        var changes: [ChangeRequest] = []
        /// The lock of the snapshots, which is kept until the uploads were requested.
        var lock: (any Sendable)?
        var failures: [Failure] = []
    }

    private struct Found: Sendable {
        var file: String
        var path: ItemPath
        /// Whether the person has named it, so that a symbolic link stands for what it leads to.
        var isNamed = false
        /// Its kind, if the folder that it is in tells.
        var kind: Item.Kind?
    }

    /// The path on the server: that of the folder, or of the folder into which the files go.
    let target: ItemPath
    /// Whether it is one folder that gets the path.
    let isFolder: Bool
    private let withSHA1: Bool
    /// The folders and files that were found and not yet requested, the next one last.
    private var found: [Found]

    /// Creates the upload of one folder. Blocks.
    /// - Returns: Nil if there is no folder at the path.
    init?(folder: String, to target: ItemPath, withSHA1: Bool) {
        var info = stat()
        guard stat(folder, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { return nil }
        (self.target, self.withSHA1, isFolder) = (target, withSHA1, true)
        found = [Found(file: folder, path: target, isNamed: true)]
    }

    /// Creates the upload of files and folders into a folder, each under its own name.
    /// - Throws: `badData` if a file has no name that it could have on the server, or two have the same.
    init(_ files: [String], into target: ItemPath, withSHA1: Bool) throws(Failure) {
        (self.target, self.withSHA1, isFolder) = (target, withSHA1, false)
        var found: [Found] = []
        var taken: [ItemPath: String] = [:]
        for file in files {
            let name = file.split(separator: "/").last.map { String($0) } ?? ""
            let path: ItemPath
            do throws(ItemPath.Problem) { path = try target.appending(name) } catch {
                throw Failure(
                    .badData, "\(file) has no name that it could have on the server: \(error.explanation)",
                    hint: "Upload it alone, with the path that it is to have")
            }
            if let other = taken.updateValue(file, forKey: path) {
                throw Failure(
                    .badData, "\(other) and \(file) would both be \(path)",
                    hint: "Upload one of them under another name")
            }
            found.append(Found(file: file, path: path, isNamed: true))
        }
        self.found = found.reversed()
    }

    /// Takes snapshots of the next files. Blocks.
    /// - Parameters:
    ///   - count: The largest number of files and folders.
    ///   - bytes: The number of bytes after which no more files are taken.
    mutating func next(_ count: Int, _ bytes: Int64, for bookmark: Bookmark, replaces: Bool) -> Batch {
        var batch = Batch()
        var snapshots: Snapshots.Batch?
        var size: Int64 = 0
        while batch.changes.count < count, size < bytes, let next = found.popLast() {
            do throws(Failure) {
                guard let kind = try kind(of: next) else {
                    throw Failure(.badData, "\(next.file) is neither a file nor a folder, and was not uploaded")
                }
                if kind == .folder {
                    batch.changes.append(.haveFolder(next.path))
                    try find(in: next, &batch)
                } else {
                    let taking: Snapshots.Batch
                    if let snapshots {
                        taking = snapshots
                    } else {
                        taking = try Snapshots.Batch(for: bookmark, withSHA1: withSHA1)
                        snapshots = taking
                    }
                    let snapshot = try taking.take(next.file, to: next.path, followsLink: next.isNamed)
                    batch.changes.append(.put(snapshot, next.path, replaces: replaces))
                    size += snapshot.size
                }
            } catch {
                batch.failures.append(error)
                // A disk that is full, and an account of which nothing is known, fail every other file too.
                if error.kind == .localIO || error.hint == .runFirst {
                    if let next = found.last, error.kind == .localIO {
                        batch.failures.append(Self.left(next))
                    }
                    found = []
                }
            }
        }
        batch.lock = snapshots?.lock
        do throws(Failure) { try snapshots?.sync() } catch {
            for case .put(let snapshot, let path, _) in batch.changes {
                Snapshots.discard(snapshot, of: bookmark)
                batch.failures.append(Failure(error.kind, "\(path) was not uploaded: \(error.message)"))
            }
            if let next = found.last { batch.failures.append(Self.left(next)) }
            (batch.changes, batch.lock, found) = ([], nil, [])
        }
        return batch
    }

    private static func left(_ next: Found) -> Failure {
        Failure(
            .failed, "\(next.file) and what comes after it was not uploaded",
            hint: "Repeat the command when that is mended")
    }

    /// Leaves out everything below a folder.
    mutating func leave(_ path: ItemPath) { found.removeAll { path.isAncestor(of: $0.path) } }

    private mutating func find(in folder: Found, _ batch: inout Batch) throws(Failure) {
        for (bytes, kind) in try entries(of: folder.file).reversed() {
            guard let name = String(validating: bytes, as: UTF8.self) else {
                batch.failures.append(
                    Failure(
                        .badData,
                        "\(folder.file)/\(Self.shown(bytes)) was not uploaded: its name is not UTF-8",
                        hint: "Rename it, and repeat the command"))
                continue
            }
            let file = "\(folder.file)/\(name)"
            do throws(ItemPath.Problem) {
                found.append(Found(file: file, path: try folder.path.appending(name), kind: kind))
            } catch {
                batch.failures.append(Failure(.badData, "\(file) was not uploaded: \(error.explanation)"))
            }
        }
    }

    private func kind(of next: Found) throws(Failure) -> Item.Kind? {
        if let kind = next.kind { return kind }
        var info = stat()
        guard (next.isNamed ? stat(next.file, &info) : lstat(next.file, &info)) == 0 else {
            throw .reading(next.file, errno)
        }
        return switch info.st_mode & S_IFMT {
        case S_IFDIR: .folder
        case S_IFREG: .file
        default: nil
        }
    }

    /// Returns a name that is not UTF-8 as bash takes it in `$'…'`.
    private static func shown(_ name: [UInt8]) -> String {
        name.map { byte in
            let isPlain = byte >= 0x20 && byte < 0x7f && byte != UInt8(ascii: "\\")
            let digits = String(byte, radix: 16)
            return isPlain ? String(UnicodeScalar(byte)) : "\\x" + (digits.utf8.count == 1 ? "0" : "") + digits
        }.joined()
    }

    /// Returns the names in a folder, sorted, and what each is, if it is a file or a folder and the file system tells.
    private func entries(of folder: String) throws(Failure) -> [(name: [UInt8], kind: Item.Kind?)] {
        guard let stream = opendir(folder) else { throw .reading(folder, errno) }
        defer { closedir(stream) }
        var entries: [(name: [UInt8], kind: Item.Kind?)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw .system("reading \(folder)", errno) }
                return entries.sorted { $0.name.lexicographicallyPrecedes($1.name) }
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in Array(bytes.prefix { $0 != 0 }) }
            guard !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) else { continue }
            let kind: Item.Kind? =
                switch Int(entry.pointee.d_type) {
                case Int(DT_REG): .file
                case Int(DT_DIR): .folder
                default: nil
                }
            entries.append((name, kind))
        }
    }
}
