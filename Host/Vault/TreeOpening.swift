import CLinux
import Database
import Glibc
import LocalTree
import Model

extension MetaKey {
    /// The last place of the local copies: `inside` for `<vault>/files` without a mark, `marked` for a folder with a
    /// mark.
    static let tree = MetaKey("tree")
}

/// The opening of the folder of local copies. It checks that the folder is the vault's before missing files are taken
/// for removed files.
///
/// The mount point of an unmounted file system looks like a folder from which everything was removed. Therefore each
/// folder of local copies other than `<vault>/files` on the vault's own file system contains a mark. Once a vault has
/// had local copies, a folder without the vault's mark is an error, and nothing is done. When a folder is used first,
/// it gets the mark; files that it already contains are taken for local files that the server does not have.
struct TreeOpening {
    let vault: String
    let vaultFolder: OpenFolder
    let id: VaultMark
    let database: Database
    let clock: @Sendable () -> Timestamp

    func open(files: String) throws -> Tree {
        let last = try database.readBlocking { try $0.meta.text(.tree) }
        let isDefault = files == vault + "/files"
        if isDefault, mkdirat(vaultFolder.number, "files", 0o700) != 0, errno != EEXIST {
            throw Failure.system("making \(files)", errno)
        }
        if !isDefault {
            if last == nil { try makePath(files) }
            try refuseNesting(files)
        }
        let number = Glibc.open(files, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw notThere(files, last) }
        let root = OpenFolder(Descriptor(number))
        // In the vault's own folder, `.larder` may be an item of the server's.
        let isInVault = isDefault && sameDevice(root.number, vaultFolder.number)
        let mark = isInVault && last == "inside" ? nil : try readMark(root.number, files)
        if let mark, mark != id {
            throw Failure.lasting(
                .localIO, "The folder \(files) holds the local copies of another vault",
                hint: "Name another folder as `files` in the config")
        }
        let isInside = isInVault && mark == nil && last != "marked"
        if !isInside, mark == nil {
            guard last == nil else { throw notThere(files, last) }
            try makeMark(root.number, files)
        }
        let now = isInside ? "inside" : "marked"
        if last != now { try database.writeBlocking { try $0.meta.set(.tree, now) } }

        let staging = try stagingFolders(root, files, isMarked: !isInside)
        let proof = try measureProof(in: staging, files)
        return Tree(
            root: files, folder: root, staging: staging, reservesDotLarder: !isInside, clock: clock, proof: proof)
    }

    /// Measures the resolution of the file system's times. Marks recorded under a finer resolution than the measured
    /// one are no proof any more.
    private func measureProof(in staging: StagingFolders, _ files: String) throws -> MarkProof {
        let incoming = try staging.openIncoming()
        guard var proof = MarkProof.measure(in: incoming.number) else {
            throw Failure.system("keeping times in \(files)", errno)
        }
        let step = proof.step.nanoseconds
        proof.since = try database.writeBlocking { tx in
            if step > (try tx.meta.integer(.markStep) ?? FileMark.clockStep.nanoseconds) {
                try tx.distrustMarks(now: clock())
            }
            try tx.meta.set(.markStep, step)
            return try tx.meta.time(.marksTrustedSince)
        }
        return proof
    }

    private func notThere(_ files: String, _ last: String?) -> Failure {
        let was = last == "inside" ? "; they were in \(vault)/files" : ""
        return .lasting(
            .localIO, "The folder \(files) does not hold this vault's local copies\(was)",
            hint:
                "Mount it, or move the copies there. To start with the files that are there: mkdir -p "
                + "\(files)/.larder && cp \(vault)/vault \(files)/.larder/"
        )
    }

    private func refuseNesting(_ files: String) throws {
        guard let real = realPath(files), let own = realPath(vault) else { return }
        let outer = real == "/" ? "/" : real + "/"
        let inner = own + "/"
        if inner.utf8.starts(with: outer.utf8) { throw nested(files) }
        if outer.utf8.starts(with: inner.utf8), real != own + "/files" { throw nested(files) }
    }

    private func nested(_ files: String) -> Failure {
        Failure(
            .config, "The folder \(files) for local copies and the vault \(vault) contain one another",
            hint: "Name another folder as `files`, or leave `files` out to use \(vault)/files")
    }

    private func readMark(_ root: Int32, _ files: String) throws(Failure) -> VaultMark? {
        let number = openat(root, Tree.dotLarder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let folder = Descriptor(number)
        return try VaultMark.read(in: folder.number, at: "\(files)/\(Tree.dotLarder)")
    }

    private func makeMark(_ root: Int32, _ files: String) throws(Failure) {
        let path = "\(files)/\(Tree.dotLarder)"
        if mkdirat(root, Tree.dotLarder, 0o700) != 0, errno != EEXIST { throw .system("making \(path)", errno) }
        let number = openat(root, Tree.dotLarder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw .system("opening \(path)", errno) }
        let folder = Descriptor(number)
        try id.write(in: folder.number, at: path)
        guard fsync(root) == 0 else { throw .system("writing \(files)", errno) }
    }

    /// Returns the vault's `incoming/` if a file can be renamed from there into the tree, else an `incoming/` beside the
    /// tree's mark.
    private func stagingFolders(
        _ root: OpenFolder, _ files: String, isMarked: Bool
    ) throws(Failure) -> StagingFolders {
        let own = StagingFolders(below: vaultFolder, in: "")
        let incoming = try own.openIncoming()
        if !isMarked || canRename(from: incoming.number, to: root.number) {
            try refuseSimpleFileSystem(incoming.number, at: "\(vault)/incoming", files)
            return own
        }
        let path = Tree.dotLarder + "/incoming"
        if mkdirat(root.number, path, 0o700) != 0, errno != EEXIST { throw .system("making \(files)/\(path)", errno) }
        let beside = StagingFolders(below: root, in: Tree.dotLarder + "/")
        let marked = try beside.openIncoming()
        try refuseSimpleFileSystem(marked.number, at: "\(files)/\(path)", files)
        return beside
    }

    /// Tells whether a file can be renamed from `incoming/` into the tree. The function tries it: bind mounts may
    /// prevent the rename even if the device numbers are equal.
    private func canRename(from incoming: Int32, to root: Int32) -> Bool {
        let target = "\(Tree.dotLarder)/probe"
        guard makeEmptyFile("probe", in: incoming) else { return false }
        defer {
            unlinkat(incoming, "probe", 0)
            unlinkat(root, target, 0)
        }
        return renameat(incoming, "probe", root, target) == 0
    }

    /// Throws `.localIO` if the file system cannot exchange two files in one step. Without the exchange there would be
    /// moments without a file, or a person's file could be overwritten.
    private func refuseSimpleFileSystem(
        _ incoming: Int32, at path: String, _ files: String
    ) throws(Failure) {
        defer {
            unlinkat(incoming, "probe", 0)
            unlinkat(incoming, "probe2", 0)
        }
        guard makeEmptyFile("probe", in: incoming), makeEmptyFile("probe2", in: incoming) else {
            throw .system("writing to \(path)", errno)
        }
        guard linux_rename_exchange(incoming, "probe", incoming, "probe2") == 0 else {
            throw Failure(
                .localIO, "The file system of \(files) cannot exchange two files in one step",
                hint: "Name a folder on a local file system such as ext4, XFS or Btrfs as `files` in the config")
        }
    }

    private func makeEmptyFile(_ name: String, in folder: Int32) -> Bool {
        let number = openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { return false }
        close(number)
        return true
    }

    private func sameDevice(_ a: Int32, _ b: Int32) -> Bool {
        var first = stat()
        var second = stat()
        return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev
    }

    private func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
