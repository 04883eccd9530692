import CLinux
import Glibc
public import Model

extension Tree {
    /// Returns the kind of entry at a path.
    package func entry(at path: ItemPath) -> FoundEntry {
        if path.isRoot { return .folder }
        switch locate(path) {
        case .success(let location): return entry(location.name, in: location.folder.number)
        case .failure(let reason): return reason.isAbsence ? .nothing : .unreadable(because: reason.text)
        }
    }

    /// Returns the reason why the contents of a folder cannot be read. Nil if they can be read, or there is no such
    /// folder.
    public func whyUnreadable(_ folder: ItemPath) -> String? {
        switch openFolder(folder, making: false) {
        case .success(let number):
            // Reading the status of a name in the folder needs the permission to search the folder.
            let folder = Descriptor(number)
            return status(of: ".", in: folder.number) == nil ? String(cString: strerror(errno)) : nil
        case .failure(let reason): return reason.isAbsence ? nil : reason.text
        }
    }

    func entry(_ name: String, in folder: Int32) -> FoundEntry { inspect(name, in: folder).entry }

    /// Returns the kind of an entry, and the time at which another program last read it; nil if the system does not
    /// tell.
    package func inspect(_ name: String, in folder: Int32) -> (entry: FoundEntry, accessed: Timestamp?) {
        guard let info = status(of: name, in: folder) else {
            let code = errno
            let isAbsence = code == ENOENT || code == ENOTDIR
            return (isAbsence ? .nothing : .unreadable(because: String(cString: strerror(code))), nil)
        }
        guard info.isRegular else {
            return (info.isFolder ? .folder : info.isSymbolicLink ? .link : .other, nil)
        }
        let now = clock()
        // In another user's file, Larder's own reads change the access time too. A time in the future was set by hand.
        let accessed = Timestamp(info.st_atim)
        let isTold = (info.st_uid == ownUser || ownUser == 0) && accessed <= now
        return (.file(FileMark(info, now: now)), isTold ? accessed : nil)
    }

    /// The result of comparing a file's content with a digest.
    package enum Reading {
        case same(FileMark)
        case different(FileMark)
        /// A program writes the file, or the file's state cannot be found out.
        case unstable
    }

    package func read(_ path: ItemPath, comparingWith digest: [UInt8]) -> Reading {
        guard case .success(let location) = locate(path) else { return .unstable }
        let file = OwnFile(location, ownOpens)
        guard file.number >= 0, let info = file.status(), info.isRegular else { return .unstable }
        // Without a guard, the mark could be taken for proof although somebody has the file mapped and continues to
        // write.
        guard
            case .held(let watch) = ContentWatch.begin(
                file.number, info, .unwritten, now: clock(), step: proof.step, instead: hooks.openFiles)
        else { return .unstable }
        var hash = ContentHash()
        let read = readAll(file.number) { piece in
            hash.update(piece)
            return watch.isUncontested
        }
        guard read == true, let after = file.status() else { return .unstable }
        let mark = FileMark(after, now: clock())
        guard mark.matches(FileMark(info, now: clock())), watch.isUndisturbed(file.number, now: clock()) else {
            return .unstable
        }
        return hash.digest == digest ? .same(mark) : .different(mark)
    }

    /// Reads the entries of a folder. Names that no item can have (not UTF-8, too long a path) are left out, and so is
    /// `.larder`.
    /// - Parameter each: A function that receives each entry's name, its kind, and the folder's descriptor. The kind is
    ///   nil for anything except a folder or a regular file.
    /// - Returns: False if the folder cannot be read.
    /// - Throws: What `each` throws.
    package func eachEntry(of path: ItemPath, _ each: (String, Item.Kind?, Int32) throws -> Void) rethrows -> Bool {
        let relative = path.isRoot ? "." : String(path.text.dropFirst())
        let number = openBeneath(folder.number, relative, O_RDONLY | O_DIRECTORY)
        guard number >= 0, let stream = fdopendir(number) else { return false }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            guard let name = String(validating: FolderEntry.bytes(of: entry), as: UTF8.self), name != ".", name != "..",
                !(path.isRoot && reservesDotLarder && name == Self.dotLarder)
            else { continue }
            var kind: Item.Kind?
            switch Int32(entry.pointee.d_type) {
            case Int32(DT_REG): kind = .file
            case Int32(DT_DIR): kind = .folder
            case Int32(DT_UNKNOWN):
                if let info = status(of: name, in: number) {
                    kind = info.isRegular ? .file : info.isFolder ? .folder : nil
                }
            default: break
            }
            try each(name, kind, number)
        }
        return true
    }
}
