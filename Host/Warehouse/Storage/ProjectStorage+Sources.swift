import Glibc

extension ProjectStorage {
    /// Returns the path of the folder that assets are taken from, without symbolic links.
    ///
    /// Folders are identified by device and inode: two equal-looking names may name two folders, and one folder may
    /// have two names. A symbolic link is followed only if the path ends with a slash and `use` is `.copied`.
    /// - Throws: ``ProjectProblem/badSource(path:why:)`` if the path is not that of a folder, if using the folder could
    ///   damage a step or project, or if `sourceRefusal` returns a reason.
    func usableSource(_ source: String, _ use: StepContent.SourceUse) throws -> Path {
        let given = Path(source)
        func refusal(_ why: String) -> ProjectProblem { .badSource(path: source, why: why) }
        guard let info = try disk.status(given.withoutClosing) else { throw refusal("it does not exist") }
        if info.isSymbolicLink, given != given.withoutClosing, use != .copied {
            throw refusal("it is a symbolic link; name the folder that it leads to")
        }
        guard info.isFolder || (info.isSymbolicLink && given != given.withoutClosing) else {
            throw refusal("it is not a folder")
        }
        let real = try resolved(given)
        guard let real, try disk.status(real)?.isFolder == true else { throw refusal("it is not a folder") }
        let base = try disk.realPath(folder.path)
        if let own = try identity(base), try identities(from: real).contains(own) {
            throw refusal("it is inside the storage")
        }
        if let own = try identity(real), try identities(from: base).contains(own) {
            throw refusal("the storage is inside it")
        }
        if let why = sourceRefusal(real.text) { throw refusal(why) }
        return real
    }

    /// Resolves all symbolic links of a path.
    /// - Returns: The path; nil if a link leads nowhere.
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

    /// Returns the identities of a folder and of all folders above it.
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
