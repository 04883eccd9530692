import CLinux
import Glibc
public import Model

extension Tree {
    /// Puts a complete download in place.
    ///
    /// A reader finds the old file or the new one, never a mix and never none. Missing folders above the path are
    /// created.
    /// - Parameters:
    ///   - file: The complete file. If the row that names the file is to be trusted after a power failure, the file
    ///     must be on the disk (``syncData()``).
    ///   - known: The row's record of the existing copy. With nil, an existing file is left alone unless it has the
    ///     same content.
    /// - Throws: `.localIO` if a folder on the way cannot be opened or created, or a file cannot be moved, such as on a
    ///   full disk. An existing file of a person's is an outcome, not an error.
    public func place(
        _ file: CompletedFile, at path: ItemPath, replacing known: LocalCopy?
    ) throws(Failure) -> PlaceOutcome {
        switch locate(path, makingFolders: true) {
        case .failure(.obstructed(let obstruction)): return .obstructed(obstruction)
        case .failure(.failed(let failure)): throw failure
        // A folder that was just created has been removed again.
        case .failure(.missing): return .inUse
        case .success(let location):
            let incoming = try staging.openIncoming()
            // An entry may appear or disappear between the attempts. The function then tries again.
            for _ in 0..<3 {
                if let placed = try placeWhereNothingIs(file, of: incoming, location) { return placed }
                switch try takeOut(location, known: known.map(KnownContent.init), replacement: file, lease: .unwritten)
                {
                case .taken: return .placed(placedMark(of: file, location))
                case .sameAsReplacement(let mark):
                    unlinkat(incoming.number, file.name, 0)
                    return .alreadyThere(mark)
                case .nothingThere: continue
                case .modified: return .modified
                case .inUse: return .inUse
                case .obstructed(let obstruction): return .obstructed(obstruction)
                }
            }
            return .inUse
        }
    }

    /// Removes a copy if its content is known to be the server's and no program has the copy open.
    /// - Parameter known: The row's record of the copy.
    /// - Throws: `.localIO` if the folder of the copy cannot be reached, so that the copy is not taken for removed.
    public func remove(at path: ItemPath, known: LocalCopy) throws(Failure) -> RemoveOutcome {
        switch locate(path) {
        case .failure(.missing): return .nothingThere
        case .failure(let reason) where !reason.isAbsence: throw unreachable(path, reason)
        case .failure(.obstructed(let obstruction)): return .obstructed(obstruction)
        case .failure(.failed(let failure)): throw failure
        case .success(let location):
            return switch try takeOut(location, known: KnownContent(known), replacement: nil, lease: .unused) {
            case .taken: .removed
            case .nothingThere: .nothingThere
            case .modified, .sameAsReplacement: .modified
            case .inUse: .inUse
            case .obstructed(let obstruction): .obstructed(obstruction)
            }
        }
    }

    /// Returns the mark of the file at a path if the file's content has this digest. The function reads the file.
    ///
    /// This serves a download that was put in place when the host was killed before the row recorded it.
    public func mark(at path: ItemPath, ifDigest digest: [UInt8]) -> FileMark? {
        guard case .same(let mark) = read(path, comparingWith: digest) else { return nil }
        return mark
    }

    func unreachable(_ path: ItemPath, _ reason: LocationFailure) -> Failure {
        if case .failed(let failure) = reason { return failure }
        return Failure(
            .localIO, "\(localPath(of: path)) cannot be reached through the folder above it: \(reason.text)",
            hint: "Put the folder back")
    }

    /// Reads a copy whose mark does not prove its content, so that its new mark does.
    /// - Returns: The new mark; nil if the reading would gain nothing now, or the content differs from the row's.
    public func prove(_ copy: LocalCopy, at path: ItemPath) -> FileMark? {
        guard proof.showsChanges, !proof.isProof(copy.mark),
            case .same(let mark) = read(path, comparingWith: copy.digest),
            proof.isProof(mark)
        else { return nil }
        return mark
    }

    /// Gives a copy another modification time, if it is the file that its row knows and nobody writes it.
    ///
    /// If the process ends before the row has the new mark, the next comparison finds the content by its digest.
    /// - Parameter copy: The row's record of the copy.
    /// - Returns: The copy's new mark; nil if it is not known that the content is still the row's.
    public func setModificationTime(_ time: Timestamp, of copy: LocalCopy, at path: ItemPath) -> FileMark? {
        guard case .success(let location) = locate(path) else { return nil }
        let file = OwnFile(location, ownOpens)
        guard file.number >= 0, let info = file.status(), info.isRegular,
            FileMark(info, now: clock()).matches(copy.mark)
        else { return nil }
        // Without a lease a write could come between the comparison and the new mark, and would never be found.
        let lease: Lease
        do throws(Lease.Denial) { lease = try Lease(file.number, .unwritten) } catch { return nil }
        // The new mark proves nothing until the content was compared: the old one may not have proved it either.
        let now = clock()
        guard let guarded = file.status(), FileMark(guarded, now: now).matches(copy.mark),
            setTime(time, of: file.number), let after = file.status(), lease.isUncontested
        else { return nil }
        return FileMark(after, now: now)
    }

    private func placeWhereNothingIs(
        _ file: CompletedFile, of incoming: borrowing Descriptor, _ location: borrowing TreeLocation
    ) throws(Failure) -> PlaceOutcome? {
        if linux_rename_noreplace(incoming.number, file.name, location.folder.number, location.name) == 0 {
            return .placed(placedMark(of: file, location))
        }
        let code = errno
        if code == EEXIST { return nil }
        if let name = Obstruction(nameError: code) { return .obstructed(name) }
        throw .system("putting incoming/\(file.name) in place as \(location.name)", code)
    }

    /// Returns the mark of a file that was put in place just now. If the mark's content fields differ from those in
    /// `incoming/`, somebody has already written the file. The mark in `incoming/` is returned then, so that the first
    /// comparison finds the difference.
    private func placedMark(of file: CompletedFile, _ location: borrowing TreeLocation) -> FileMark {
        guard let info = status(of: location.name, in: location.folder.number) else { return file.mark }
        let mark = FileMark(info, now: clock())
        return mark.hasContent(like: file.mark) ? mark : file.mark
    }
}

extension KnownContent {
    init(_ copy: LocalCopy) { self.init(digest: copy.digest, size: copy.mark.size, mark: copy.mark) }
}
