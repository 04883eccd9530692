import Glibc
import Model

/// A config file whose text can be replaced.
struct ConfigFile {
    /// The absolute path, with symbolic links resolved.
    let path: String
    let text: String
    /// The file's status when it was read; nil for a file that does not exist yet.
    private let status: stat?

    /// Reads the file.
    /// - Throws: `config` if the file cannot be found or is not UTF-8, `localIO` if it cannot be read.
    init(_ path: String) throws(Failure) {
        guard let real = realpath(path, nil) else {
            throw Failure(.config, "the config cannot be read: \(path): \(errorText(errno))")
        }
        defer { free(real) }
        self.path = String(cString: real)
        var status = stat()
        guard stat(self.path, &status) == 0,
            let text = String(validating: try readFile(self.path, limit: 4 << 20), as: UTF8.self)
        else { throw Failure(.config, "\(path) cannot be read as UTF-8 text") }
        self.text = text
        self.status = status
    }

    /// Begins a file that does not exist yet. It is created when its text is replaced, readable by its owner only, with
    /// the folders above it.
    private init(new path: String) {
        (self.path, text, status) = (path, "", nil)
    }

    /// Reads the file, or begins a new one if there is none.
    /// - Throws: As `init(_:)`.
    static func readOrNew(_ path: String) throws(Failure) -> ConfigFile {
        var status = stat()
        // A symbolic link that leads nowhere is a mistake, and no place for a new file.
        if lstat(path, &status) != 0, errno == ENOENT || errno == ENOTDIR { return ConfigFile(new: path) }
        return try ConfigFile(path)
    }

    /// Whether the file does not exist yet.
    var isNew: Bool { status == nil }

    /// Replaces the text, whole or not at all: a new file is written beside the old one, made durable and renamed. The
    /// new file keeps the mode and, if the system allows it, the owner.
    /// - Throws: `cannotCreate` with the reason, also if the file was changed since it was read.
    func replace(with text: String) throws(Failure) {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        if isNew { try PrivateFile.makeFolder(folder) }
        var template = Array("\(folder)/.larder-config-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure("no file can be created in \(folder)", errno) }
        do throws(Failure) {
            defer { close(descriptor) }
            try write(text, to: descriptor)
        } catch {
            unlink(template)
            throw error
        }
        // A new file must not replace one that another program made meanwhile.
        let isDone = isNew ? link(template, path) == 0 && unlink(template) == 0 : rename(template, path) == 0
        guard isDone else {
            let number = errno
            unlink(template)
            throw failure("the file cannot be replaced", number)
        }
        PrivateFile.syncFolder(folder)
    }

    private func write(_ text: String, to descriptor: Int32) throws(Failure) {
        if let status {
            // A failure to change the owner is ignored: the mode decides who can read the file.
            _ = fchown(descriptor, status.st_uid, status.st_gid)
            guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else {
                throw failure("the new file's mode cannot be set", errno)
            }
        }
        guard PrivateFile.write(Array(text.utf8), to: descriptor) else {
            throw failure("the new file cannot be written", errno)
        }
        guard let status else { return }
        var now = stat()
        guard stat(path, &now) == 0, now.st_ino == status.st_ino, now.st_size == status.st_size,
            now.st_mtim.tv_sec == status.st_mtim.tv_sec, now.st_mtim.tv_nsec == status.st_mtim.tv_nsec
        else {
            throw Failure(
                .cannotCreate, "another program changed \(path) in the meantime; nothing was written",
                hint: "try again")
        }
    }

    private func failure(_ what: String, _ number: Int32) -> Failure {
        Failure(.cannotCreate, "\(path) was not changed: \(what): \(errorText(number))")
    }
}
