import Database
import Glibc
import LocalTree
import Model

extension Vault {
    /// What lies in `incoming/` now, read beside a host that may be at work: names, and how many bytes each has.
    /// - Parameters:
    ///   - path: the vault, absolute.
    ///   - files: the folder of the local copies, absolute. If it is not in the vault, its own `incoming/` is read too.
    public static func incomingFiles(at path: String, files: String) -> [(name: String, size: Int64)] {
        var folders = [path + "/incoming"]
        if files != path + "/files" { folders.append("\(files)/\(Tree.dotLarder)/incoming") }
        return folders.flatMap { folder -> [(name: String, size: Int64)] in
            let number = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 else { return [] }
            let folder = Descriptor(number)
            do {
                return try names(in: folder.number).compactMap { name in
                    guard let info = status(of: name, in: folder.number), info.isRegular else { return nil }
                    return (name, Int64(info.st_size))
                }
            } catch {
                // What cannot be looked at is not known.
                return []
            }
        }
    }
}
