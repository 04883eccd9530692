import Glibc
import Model

/// A config file that is changed in place of its old text.
struct ConfigFile {
    /// Absolute, and what a symbolic link leads to.
    let path: String
    let text: String
    private let status: stat

    /// - Throws: `config` if it cannot be read or is not UTF-8.
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

    /// Replaces the text, whole or not at all: a new file beside it, made durable, takes its name. Mode and, where the
    /// system lets us, owner stay.
    /// - Throws: `cannotCreate` with the reason.
    func replace(with text: String) throws(Failure) {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
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
        guard rename(template, path) == 0 else {
            let number = errno
            unlink(template)
            throw failure("the file cannot be replaced", number)
        }
        syncFolder(folder)
    }

    private func write(_ text: String, to descriptor: Int32) throws(Failure) {
        // Not ours to give away is no obstacle: the mode decides who reads it.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else {
            throw failure("the new file's mode cannot be set", errno)
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure("the new file cannot be written", errno) }
            rest.removeFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw failure("the new file cannot be synced to the disk", errno) }
        var now = stat()
        guard stat(path, &now) == 0, now.st_ino == status.st_ino, now.st_size == status.st_size,
            now.st_mtim.tv_sec == status.st_mtim.tv_sec, now.st_mtim.tv_nsec == status.st_mtim.tv_nsec
        else {
            throw Failure(
                .cannotCreate, "another program changed \(path) in the meantime; nothing was written",
                hint: "try again")
        }
    }

    private func syncFolder(_ folder: String) {
        let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func failure(_ what: String, _ number: Int32) -> Failure {
        Failure(.cannotCreate, "\(path) was not changed: \(what): \(errorText(number))")
    }
}
