import CLinux
import Glibc
import Model

/// The name in `incoming/` under which a file is held between leaving its path and being deleted or put back.
///
/// The name identifies the judged file, so that a start after a crash can decide whether to delete the file:
/// `aside.<inode>.<size>.<modified>[.<the replacement's inode>.<its name>]`, with numbers in hexadecimal.
struct SetAside: Hashable {
    struct Replacement: Hashable {
        var inode: UInt64
        /// The name in `incoming/`.
        var name: String
    }

    let inode: UInt64
    let size: Int64
    let modified: Timestamp
    let replacement: Replacement?

    init(_ mark: FileMark, replacement: CompletedFile?) {
        inode = mark.inode
        size = mark.size
        modified = mark.modified
        self.replacement = replacement.map { Replacement(inode: $0.mark.inode, name: $0.name) }
    }

    init?(name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 || parts.count == 6, parts[0] == "aside", let inode = UInt64(parts[1], radix: 16),
            let size = Int64(parts[2], radix: 16), let modified = Int64(parts[3], radix: 16)
        else { return nil }
        self.inode = inode
        self.size = size
        self.modified = Timestamp(nanoseconds: modified)
        guard parts.count == 6 else {
            replacement = nil
            return
        }
        guard let inode = UInt64(parts[4], radix: 16), Tree.isIncomingName(String(parts[5])) else { return nil }
        replacement = Replacement(inode: inode, name: String(parts[5]))
    }

    var name: String {
        var text =
            "aside.\(String(inode, radix: 16)).\(String(size, radix: 16)).\(String(modified.nanoseconds, radix: 16))"
        if let replacement { text += ".\(String(replacement.inode, radix: 16)).\(replacement.name)" }
        return text
    }

    func isFile(_ info: stat) -> Bool {
        UInt64(info.st_ino) == inode && Int64(info.st_size) == size && Timestamp(info.st_mtim) == modified
    }
}

extension Tree {
    /// Puts a file back that was moved aside and then found to be another file, or to be wanted by a program.
    func putBack(
        _ aside: SetAside, from incoming: borrowing Descriptor, at location: borrowing TreeLocation,
        replacement: CompletedFile?
    ) throws(Failure) {
        if let replacement {
            if linux_rename_exchange(location.folder.number, location.name, incoming.number, aside.name) == 0 {
                switch cameOut(aside.name, from: incoming, of: replacement) {
                case .replacement:
                    _ = linux_rename_noreplace(incoming.number, aside.name, incoming.number, replacement.name)
                    return
                case .writtenReplacement:
                    // Somebody opened the replacement for writing in the moment in which it was in place.
                    break
                case .another:
                    // Somebody put yet another file in place, which is the newest. That file goes back to the path, and
                    // the file that it would have replaced is kept beside it.
                    _ = linux_rename_exchange(location.folder.number, location.name, incoming.number, aside.name)
                }
            } else if linux_rename_noreplace(incoming.number, aside.name, location.folder.number, location.name) == 0 {
                return
            }
        } else if linux_rename_noreplace(incoming.number, aside.name, location.folder.number, location.name) == 0 {
            return
        }
        try keep(aside.name, of: incoming, beside: location.name, in: location.folder.number)
    }

    private enum CameOut { case replacement, writtenReplacement, another }

    private func cameOut(
        _ name: String, from incoming: borrowing Descriptor, of replacement: CompletedFile
    ) -> CameOut {
        let file = Descriptor(openForReading(name, in: incoming.number))
        guard file.number >= 0, let info = file.status(), UInt64(info.st_ino) == replacement.mark.inode else {
            return .another
        }
        guard FileMark(info, now: clock()).hasContent(like: replacement.mark),
            case .held(let watch) = ContentWatch.begin(
                file.number, info, .unwritten, now: clock(), step: proof.step, instead: hooks.openFiles)
        else { return .writtenReplacement }
        return watch.isUndisturbed(file.number, now: clock()) ? .replacement : .writtenReplacement
    }

    /// Moves a file of unknown content from `incoming/` into a folder of the tree, under a free name.
    /// - Returns: The name.
    @discardableResult
    func keep(
        _ held: String, of incoming: borrowing Descriptor, beside name: String, in folder: Int32
    ) throws(Failure) -> String {
        for number in 1...10_000 {
            for stem in [name, "file"] {
                let free = "\(stem).larder-kept-\(number)"
                if linux_rename_noreplace(incoming.number, held, folder, free) == 0 { return free }
                switch errno {
                case ENAMETOOLONG: continue
                case EEXIST: break
                default: throw .system("keeping \(name), which is in incoming/\(held),", errno)
                }
                break
            }
        }
        throw .system("keeping \(name), which is in incoming/\(held),", EEXIST)
    }
}
