import Database
import Glibc
import LocalTree
import Model

extension Vault {
    /// Why a folder is not to be used as something else: it is a vault or a folder of local copies, lies in one, or holds one. Those
    /// are known by their marks, whatever config they belong to. It blocks, and looks at each folder below.
    /// - Parameter folder: absolute, without symbolic links.
    /// - Returns: what stands in its way, without a subject, such as `it lies in the vault /a`; nil: nothing.
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

    /// The names of the folders in one; none if it cannot be read, which whoever wants what is in it finds out.
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

    /// A file of somebody's may have the mark's name.
    private static func isMarked(_ folder: Int32) -> Bool { (try? VaultMark.read(in: folder, at: "")) != nil }
}
