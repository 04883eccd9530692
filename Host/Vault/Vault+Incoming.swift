import Database
import Glibc
import LocalTree
import Model

extension Vault {
    /// Returns the names and sizes in bytes of the files in `incoming/`, also while a host is at work.
    /// - Parameters:
    ///   - path: The absolute path of the vault.
    ///   - files: The absolute path of the folder of local copies. If this folder is not `<vault>/files`, its own
    ///     `incoming/` is read too.
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
                // The content of an unreadable folder is not known.
                return []
            }
        }
    }

    /// Returns the absolute path of `outgoing/`, which lies beside the `incoming/` that is in use; nil if the vault has
    /// none yet.
    /// - Parameters:
    ///   - path: The absolute path of the vault.
    ///   - files: The absolute path of the folder of local copies.
    public static func outgoingFolder(at path: String, files: String) -> String? {
        let folders = ["\(files)/\(Tree.dotLarder)/outgoing", path + "/outgoing"]
        return folders.first { access($0, F_OK) == 0 }
    }
}
