import CLinux
import Glibc
import Model
import Synchronization

/// Content that the server is known to have, as a version that it gave or took.
struct KnownContent {
    /// The SHA-256, 32 bytes. Empty for a changed file that a person has agreed to lose. Such a file is known by its
    /// mark alone.
    var digest: [UInt8]
    /// The size in bytes.
    var size: Int64
    /// The recorded mark of the file that holds the content; nil if none was recorded.
    var mark: FileMark?
}

/// The outcome of taking a file out of the tree.
enum TakeOutOutcome {
    /// The file is gone, and its replacement, if any, is in place.
    case taken
    /// The file already has the replacement's content. Nothing was changed.
    case sameAsReplacement(FileMark)
    case nothingThere
    case modified
    case inUse
    case obstructed(Obstruction)
}

extension Tree {
    /// Takes a file out of the tree if, and only if, the server is known to have its content. No other code in Larder
    /// deletes, overwrites or truncates a file of the tree.
    ///
    /// The function opens the file and takes a lease, so that nobody can write the file meanwhile. The file's mark, or
    /// else its bytes, decide whether its content is known. Under the lease, the function then moves the file aside
    /// into `incoming/`, or exchanges it with its replacement in one step, so that the path always leads to one of the
    /// two files. It then checks the moved file again. If somebody had put another file at the path meanwhile, or
    /// somebody waits to write the file, the function puts the file back. Otherwise the function deletes the file.
    /// After a power failure, the name identifies a file that was moved aside (`SetAside`).
    ///
    /// - Parameters:
    ///   - known: The content that the file is expected to have; nil if none is known.
    ///   - replacement: A complete file in `incoming/`.
    ///   - lease: The kind of lease, which decides whether other programs may have the file open for reading meanwhile.
    func takeOut(
        _ location: borrowing TreeLocation, known: KnownContent?, replacement: CompletedFile?, lease kind: Lease.Kind
    ) throws(Failure) -> TakeOutOutcome {
        guard let first = status(of: location.name, in: location.folder.number) else {
            return try missing(errno, location.name)
        }
        if let obstruction = Obstruction(first) { return .obstructed(obstruction) }
        let file = OwnFile(location, ownOpens)
        guard file.number >= 0 else {
            // The content of a file that cannot be read cannot be known.
            return errno == ELOOP
                ? .obstructed(.symbolicLink) : errno == EACCES ? .modified : try missing(errno, location.name)
        }
        guard let info = file.status() else { throw .system("reading \(location.name)", errno) }
        if let obstruction = Obstruction(info) { return .obstructed(obstruction) }
        hooks.reached(.opened)

        let watch: ContentWatch
        switch ContentWatch.begin(
            file.number, info, kind, now: clock(), step: proof.step, instead: hooks.openFiles)
        {
        case .held(let held): watch = held
        case .inUse: return .inUse
        }
        let expected: FileMark
        switch try judge(file.number, watch, known: known, replacement: replacement, name: location.name) {
        case .known(let mark): expected = mark
        case .same(let mark): return .sameAsReplacement(mark)
        case .modified: return .modified
        case .inUse: return .inUse
        }
        hooks.reached(.judged)

        // It stays open, since the file may have to be put back when no more files can be opened.
        let incoming = try staging.openIncoming()
        let aside = SetAside(expected, replacement: replacement)
        if let replacement {
            guard linux_rename_noreplace(incoming.number, replacement.name, incoming.number, aside.name) == 0 else {
                throw .system("renaming incoming/\(replacement.name)", errno)
            }
        }
        hooks.reached(.prepared)
        let moved =
            replacement == nil
            ? linux_rename_noreplace(location.folder.number, location.name, incoming.number, aside.name)
            : linux_rename_exchange(location.folder.number, location.name, incoming.number, aside.name)
        guard moved == 0 else {
            let code = errno
            if let replacement {
                // The replacement gets its name back. If even that fails, the next start renames it.
                _ = linux_rename_noreplace(incoming.number, aside.name, incoming.number, replacement.name)
            }
            return try missing(code, location.name)
        }
        hooks.reached(.acted)

        if let taken = status(of: aside.name, in: incoming.number),
            FileMark(taken, now: clock()).hasContent(like: expected),
            watch.isUndisturbed(file.number, now: clock())
        {
            unlinkat(incoming.number, aside.name, 0)
            if replacement == nil { hasUnsyncedRemovals.store(true, ordering: .sequentiallyConsistent) }
            return .taken
        }
        hooks.reached(.puttingBack)
        try putBack(aside, from: incoming, at: location, replacement: replacement)
        return .inUse
    }

    private enum Judgement {
        case known(FileMark)
        case same(FileMark)
        case modified
        case inUse
    }

    /// Decides whether the content of a guarded file is known, by its mark or by reading the file.
    private func judge(
        _ file: Int32, _ watch: borrowing ContentWatch, known: KnownContent?, replacement: CompletedFile?, name: String
    ) throws(Failure) -> Judgement {
        guard let before = markOf(file) else { throw .system("reading \(name)", errno) }
        if let known, let mark = known.mark, mark.matches(before),
            known.digest.isEmpty ? proof.suffices(mark) : proof.isProof(mark)
        {
            return .known(before)
        }
        guard before.size == known?.size || before.size == replacement?.size else { return .modified }
        var hash = ContentHash()
        let read = readAll(file) { piece in
            hash.update(piece)
            // A program that wants to write the file waits for the end of the reading.
            return watch.isUncontested
        }
        guard let read else { throw .system("reading \(name)", errno) }
        guard read, let after = markOf(file), after.matches(before) else { return .inUse }
        let digest = hash.digest
        if let known, digest == known.digest { return .known(after) }
        if let replacement, digest == replacement.digest { return .same(after) }
        return .modified
    }

    private func markOf(_ file: Int32) -> FileMark? {
        var info = stat()
        return fstat(file, &info) == 0 ? FileMark(info, now: clock()) : nil
    }

    private func missing(_ code: Int32, _ name: String) throws(Failure) -> TakeOutOutcome {
        guard code == ENOENT || code == ESTALE else { throw .system("reading \(name) in \(root)", code) }
        return .nothingThere
    }
}
