import Glibc

extension ProjectStorage {
    /// The folder that assets are taken from, without symbolic links in its path.
    ///
    /// Which folder is which is told by device and inode: two names that read alike may be two folders, and one folder may have
    /// two names. A link is followed only if it is given with a closing slash, and only to copy from it.
    /// - Throws: ``ProjectProblem/badSource(path:why:)`` if a step or project could lose something by it.
    func usableSource(_ source: String, _ use: StepContent.SourceUse) throws -> Path {
        let given = Path(source)
        func refusal(_ why: String) -> ProjectProblem { .badSource(path: source, why: why) }
        guard let info = try disk.status(given.withoutClosing) else { throw refusal("it does not exist") }
        if info.isSymbolicLink, given != given.withoutClosing, use != .copied {
            throw refusal("it is a symbolic link; name the folder that it leads to")
        }
        guard info.isFolder || (info.isSymbolicLink && given != given.withoutClosing) else {
            throw refusal("it is no folder")
        }
        let real = try resolved(given)
        guard let real, try disk.status(real)?.isFolder == true else { throw refusal("it is no folder") }
        let base = try disk.realPath(folder.path)
        if let own = try identity(base), try identities(from: real).contains(own) {
            throw refusal("it lies in the storage")
        }
        if let own = try identity(real), try identities(from: base).contains(own) {
            throw refusal("the storage lies in it")
        }
        if let why = sourceRefusal(real.text) { throw refusal(why) }
        return real
    }

    /// - Returns: nil if there is nothing behind a link.
    private func resolved(_ path: Path) throws(SystemCallError) -> Path? {
        do throws(SystemCallError) {
            return try disk.realPath(path)
        } catch {
            if [ENOENT, ENOTDIR, ELOOP].contains(error.code) { return nil }
            throw error
        }
    }

    private struct Identity: Hashable {
        var device: dev_t
        var inode: ino_t
    }

    private func identity(_ path: Path) throws(SystemCallError) -> Identity? {
        try disk.status(path).map { Identity(device: $0.st_dev, inode: $0.st_ino) }
    }

    /// Of a folder and those above it.
    private func identities(from path: Path) throws(SystemCallError) -> Set<Identity> {
        var found: Set<Identity> = []
        var next: Path? = path
        while let path = next {
            if let identity = try identity(path) { found.insert(identity) }
            next = path.parent
        }
        return found
    }
}
