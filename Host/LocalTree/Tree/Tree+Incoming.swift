import CLinux
import Glibc
public import Model
import Synchronization

extension Tree {
    /// Tells whether a name is valid for a download. The caller chooses the names of files in `incoming/`: letters,
    /// digits, `-` and `_`, at most 128 bytes.
    static func isIncomingName(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Opens or creates a file in `incoming/` to append to. The function reads and hashes the existing content.
    /// - Throws: `.localIO` if the file cannot be opened, created or read; `.internal` if the name is not valid for a
    ///   download.
    public func incomingFile(_ name: String) throws(Failure) -> IncomingFile {
        guard Self.isIncomingName(name) else {
            throw Failure(.internal, "incoming/\(name) is not a name for a download")
        }
        return try IncomingFile(
            name, in: try staging.openIncoming(), failures: failures.load(ordering: .sequentiallyConsistent),
            clock: clock)
    }

    /// Returns a file in `incoming/` that is complete, with content that is known.
    func completed(_ name: String, digest: [UInt8], _ mark: FileMark) -> CompletedFile {
        CompletedFile(
            name: name, digest: digest, others: [:], mark: mark,
            failures: failures.load(ordering: .sequentiallyConsistent))
    }

    /// Tells whether no write to the disk has failed since the file was opened. After a failure, some of the file's
    /// bytes may never reach the disk, though they can still be read. Such a file must be fetched again.
    public func isBelieved(_ file: CompletedFile) -> Bool {
        file.failures == failures.load(ordering: .sequentiallyConsistent)
    }

    /// Removes all downloads in `incoming/`. The caller counts the failure afterwards: files that were opened before
    /// are then not believed, and later downloads find no bytes to continue from.
    func abandonAllIncoming() {
        let incoming = staging.incoming()
        for name in (try? names(in: incoming.number)) ?? [] where !Self.isStagedName(name) { abandonIncoming(name) }
    }

    /// Returns the number of bytes in a download; nil if there is no such file.
    public func incomingSize(_ name: String) -> Int64? {
        let incoming = staging.incoming()
        guard let info = status(of: name, in: incoming.number), info.isRegular else { return nil }
        return Int64(info.st_size)
    }

    /// Removes a download, complete or not. It is no error if there is none.
    public func abandonIncoming(_ name: String) {
        guard Self.isIncomingName(name) else { return }
        let incoming = staging.incoming()
        unlinkat(incoming.number, name, 0)
    }

    /// Cleans up `incoming/` at a start: finishes interrupted removals and replacements, and removes downloads that are
    /// not wanted any more.
    /// - Parameter keep: A function that tells whether a download with this name is still wanted.
    /// - Returns: The paths of files of unknown content that were found and put into the tree's root, where they are
    ///   new local files.
    /// - Throws: What `keep` throws; `.localIO` if `incoming/` cannot be read, or a rescued file cannot be put into the
    ///   root.
    public func sweepIncoming(keeping keep: (String) throws -> Bool) throws -> [ItemPath] {
        var rescued: [ItemPath] = []
        let incoming = try staging.openIncoming()
        for name in try names(in: incoming.number) {
            guard !Self.isStagedName(name), let info = status(of: name, in: incoming.number) else { continue }
            if let aside = SetAside(name: name) {
                if aside.isFile(info) {
                    unlinkat(incoming.number, name, 0)
                } else if let replacement = aside.replacement, replacement.inode == UInt64(info.st_ino) {
                    _ = linux_rename_noreplace(incoming.number, name, incoming.number, replacement.name)
                    if try !keep(replacement.name) { abandonIncoming(replacement.name) }
                } else if info.isRegular {
                    let kept = try self.keep(name, of: incoming, beside: "rescued", in: folder.number)
                    rescued.append(ItemPath(unchecked: "/" + kept))
                }
            } else if info.isRegular, try !keep(name) {
                unlinkat(incoming.number, name, 0)
            }
        }
        return rescued
    }
}
