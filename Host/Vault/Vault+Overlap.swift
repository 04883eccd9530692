import Database
import Glibc
import LocalTree
import Model

extension Vault {
    /// Returns the reason why a folder must not be used for another purpose: it is a vault or a folder of local copies,
    /// lies in one, or contains one. Vaults and folders of local copies are recognized by their marks, whichever config
    /// names them. Blocks, and checks every folder below.
    /// - Parameter folder: The absolute path of the folder, without symbolic links.
    /// - Returns: The reason, such as `it lies in the vault /a`; nil if nothing overlaps.
    public static func overlap(with folder: String) -> String? {
        if let kind = kind(of: folder) { return "it is \(kind)" }
        var above = folder
        while let slash = above.utf8.lastIndex(of: UInt8(ascii: "/")), above.utf8.count > 1 {
            above = slash == above.startIndex ? "/" : String(above[..<slash])
            if let kind = kind(of: above) { return "it lies in \(above), which is \(kind)" }
        }
        return inside(folder)
    }

    private static func inside(_ folder: String) -> String? {
        for name in folders(in: folder) {
            let path = "\(folder)/\(name)"
            if let kind = kind(of: path) { return "\(path) lies in it, which is \(kind)" }
            if let found = inside(path) { return found }
        }
        return nil
    }

    /// Returns the names of the subfolders of a folder; none if the folder cannot be read. The later user of the folder
    /// finds that error.
    private static func folders(in path: String) -> [String] {
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return [] }
        let folder = Descriptor(number)
        let all = (try? names(in: folder.number)) ?? []
        return all.filter { status(of: $0, in: folder.number).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }
    }

    private static func kind(of path: String) -> String? {
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let folder = Descriptor(number)
        if isMarked(folder.number) || status(of: "larder.db", in: folder.number) != nil { return "a vault of Larder's" }
        let mark = openat(folder.number, Tree.dotLarder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard mark >= 0 else { return nil }
        let inner = Descriptor(mark)
        return isMarked(inner.number) ? "a folder of local copies of Larder's" : nil
    }

    /// Tells whether a folder contains a valid vault mark. Another program's file may have the same name.
    private static func isMarked(_ folder: Int32) -> Bool { (try? VaultMark.read(in: folder, at: "")) != nil }
}
