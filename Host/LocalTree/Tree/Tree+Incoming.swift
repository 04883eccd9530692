import CLinux
import Glibc
public import Model
import Synchronization

extension Tree {
    /// The names of files in `incoming/` are the caller's: letters, digits, `-` and `_`, at most 128.
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

    /// Opens a file in `incoming/` to append to, or makes it. What is there already is read and hashed.
    /// - Throws: `.localIO` if it cannot be opened, made or read; `.internal` for a name that no download has.
    public func incomingFile(_ name: String) throws(Failure) -> IncomingFile {
        guard Self.isIncomingName(name) else { throw Failure(.internal, "incoming/\(name) is no name for a download") }
        return try IncomingFile(
            name, in: incoming.number, failures: failures.load(ordering: .sequentiallyConsistent), clock: clock)
    }

    /// Whether no write to the disk has failed since the file was opened. If one has, some of its bytes may never get there, though
    /// they can still be read: it is fetched anew.
    public func isBelieved(_ file: CompletedFile) -> Bool {
        file.failures == failures.load(ordering: .sequentiallyConsistent)
    }

    /// Before the failure is counted: what is opened by then is not believed, and what comes after finds nothing to go on with.
    func abandonAllIncoming() {
        for name in (try? names(in: incoming.number)) ?? [] where !Self.isStagedName(name) { abandonIncoming(name) }
    }

    /// How many bytes of a download are there; nil if there is no such file.
    public func incomingSize(_ name: String) -> Int64? {
        guard let info = status(of: name, in: incoming.number), info.isRegular else { return nil }
        return Int64(info.st_size)
    }

    /// Removes a download, whole or not. It is no error if there is none.
    public func abandonIncoming(_ name: String) {
        guard Self.isIncomingName(name) else { return }
        unlinkat(incoming.number, name, 0)
    }

    /// Tidies `incoming/` at a start: finishes what was set aside, and removes what is not to be kept.
    /// - Parameter keep: Whether a download with this name is still wanted.
    /// - Returns: files of unknown content that were found and put into the tree's root, where they are new local files.
    /// - Throws: What `keep` throws; `.localIO` if `incoming/` cannot be read, or a rescued file cannot be put into the
    ///   root.
    public func sweepIncoming(keeping keep: (String) throws -> Bool) throws -> [ItemPath] {
        var rescued: [ItemPath] = []
        for name in try names(in: incoming.number) {
            guard !Self.isStagedName(name), let info = status(of: name, in: incoming.number) else { continue }
            if let aside = SetAside(name: name) {
                if aside.isFile(info) {
                    unlinkat(incoming.number, name, 0)
                } else if let replacement = aside.replacement, replacement.inode == UInt64(info.st_ino) {
                    _ = linux_rename_noreplace(incoming.number, name, incoming.number, replacement.name)
                    if try !keep(replacement.name) { abandonIncoming(replacement.name) }
                } else if info.isRegular {
                    let kept = try self.keep(name, beside: "rescued", in: folder.number)
                    rescued.append(ItemPath(unchecked: "/" + kept))
                }
            } else if info.isRegular, try !keep(name) {
                unlinkat(incoming.number, name, 0)
            }
        }
        return rescued
    }
}
