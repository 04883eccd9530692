import CLinux
import Glibc
public import Model

/// Writes a local copy's content to a file outside the tree. It works beside the process that has the vault open.
public struct CopyExport: Sendable {
    /// The absolute path of the tree's root.
    private let root: String

    /// Creates an export from a tree.
    /// - Parameter root: The absolute path of the tree's root.
    public init(fromTree root: String) { self.root = root }

    /// Writes a copy's content to a file. The new file appears complete or not at all, and an existing file stays until
    /// then. The files share blocks where the file system can do so. Blocks.
    /// - Parameters:
    ///   - path: The path of the item.
    ///   - digest: The SHA-256 of the copy, as its row records it.
    ///   - target: The path of the new file, absolute or relative to the process's working folder. A symbolic link is
    ///     followed. An existing file keeps its permissions, and a new file gets those that the umask leaves.
    /// - Throws: `.failed` if the copy's content is not as the row records it, `.cannotCreate` if no file can be created
    ///   at the target, `.localIO` if reading or writing fails.
    public func write(_ path: ItemPath, digest: [UInt8], to target: String) throws(Failure) {
        let source = Descriptor(openSource(path))
        var info = stat()
        guard source.number >= 0, fstat(source.number, &info) == 0, info.isRegular else { throw Self.changed(path) }
        let place = try ExportPlace(target)
        let file = Descriptor(open(place.temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666))
        guard file.number >= 0 else { throw place.refusal(errno) }
        do throws(Failure) {
            try copy(source.number, to: file.number, as: target)
            guard self.digest(of: file.number) == digest else { throw Self.changed(path) }
            if let mode = place.mode, fchmod(file.number, mode) != 0 { throw .system("writing \(target)", errno) }
            guard fsync(file.number) == 0 else { throw .system("writing \(target)", errno) }
            guard rename(place.temporary, place.path) == 0 else { throw place.refusal(errno) }
        } catch {
            unlink(place.temporary)
            throw error
        }
    }

    /// Opens the file for reading, without following symbolic links.
    private func openSource(_ path: ItemPath) -> Int32 {
        let tree = Descriptor(open(root, linux_o_path | O_DIRECTORY | O_CLOEXEC))
        let parent = path.parent
        let folder = Descriptor(
            openBeneath(tree.number, parent.isRoot ? "." : String(parent.text.dropFirst()), linux_o_path | O_DIRECTORY))
        return openForReading(path.name, in: folder.number)
    }

    private func digest(of file: Int32) -> [UInt8]? {
        var hash = ContentHash()
        let read = readAll(file) { piece in
            hash.update(piece)
            return true
        }
        return read == true ? hash.digest : nil
    }

    private func copy(_ source: Int32, to file: Int32, as target: String) throws(Failure) {
        if linux_clone_file(source, file) == 0 { return }
        var code: Int32 = 0
        let read = readAll(source) { piece in
            guard writeAll(piece, to: file) else {
                code = errno
                return false
            }
            return true
        }
        if code != 0 { throw .system("writing \(target)", code) }
        if read == nil { throw .system("reading the content for \(target)", errno) }
    }

    private static func changed(_ path: ItemPath) -> Failure {
        Failure(
            .failed, "\(path) was changed here meanwhile and was not copied",
            hint: "Copy the file directly when no program is writing it")
    }
}

/// The target of an export. The content is first written to a temporary file beside the target.
private struct ExportPlace {
    let path: String
    let temporary: String
    /// The permissions of the existing file; nil if there is none.
    let mode: mode_t?
    private let target: String

    init(_ target: String) throws(Failure) {
        self.target = target
        var info = stat()
        guard stat(target, &info) == 0 else {
            guard errno == ENOENT, !target.isEmpty, !target.hasSuffix("/") else { throw Self.refusal(target, errno) }
            (path, mode) = (target, nil)
            temporary = Self.beside(path)
            return
        }
        guard info.isRegular else {
            throw Failure(
                .cannotCreate, info.isFolder ? "\(target) is a folder" : "\(target) is not a regular file",
                hint: "Name a file to write")
        }
        guard let resolved = realpath(target, nil) else { throw Self.refusal(target, errno) }
        defer { free(resolved) }
        (path, mode) = (String(cString: resolved), info.st_mode & 0o7777)
        temporary = Self.beside(path)
    }

    func refusal(_ code: Int32) -> Failure { Self.refusal(target, code) }

    private static func beside(_ path: String) -> String {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        return folder + ".larder-" + randomHex(bytes: 8)
    }

    private static func refusal(_ target: String, _ code: Int32) -> Failure {
        if code == ENOSPC || code == EDQUOT { return .system("writing \(target)", code) }
        return Failure(
            .cannotCreate, "\(target) cannot be written: \(String(cString: strerror(code)))",
            hint: "Check that the folder exists and that you may write to it")
    }
}
