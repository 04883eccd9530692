import Database
import Glibc
import LocalTree
import Model

/// The file `vault` that says by its id which vault a folder is, or which vault's local copies lie in it.
struct VaultMark: Hashable {
    static let fileName = "vault"
    let id: String

    /// Nil unless the text is an id.
    init?(_ id: String) {
        guard id.utf8.count == 32, id.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else {
            return nil
        }
        self.id = id
    }

    private init(random: LocalID) { id = random.text }

    static func random() -> VaultMark { VaultMark(random: .random()) }

    /// The mark in a folder; nil if it has none.
    static func read(in folder: Int32, at path: String) throws(Failure) -> VaultMark? {
        let number = openat(folder, fileName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if number < 0 {
            guard errno == ENOENT else { throw .system("reading \(path)/\(fileName)", errno) }
            return nil
        }
        let file = Descriptor(number)
        guard let mark = VaultMark(readText(file.number, limit: 64)) else {
            throw Failure(
                .localIO, "The mark \(path)/\(fileName) is damaged",
                hint: "It holds the vault's id, 32 hexadecimal digits; put it back from a backup")
        }
        return mark
    }

    /// Writes the mark unless it is there. When this returns it is on the disk.
    func write(in folder: Int32, at path: String) throws(Failure) {
        if try Self.read(in: folder, at: path) == self { return }
        let new = Self.fileName + ".new"
        let number = openat(folder, new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("writing \(path)/\(new)", errno) }
        let file = Descriptor(number)
        let text = id + "\n"
        guard Glibc.write(file.number, text, text.utf8.count) == text.utf8.count, fsync(file.number) == 0,
            renameat(folder, new, folder, Self.fileName) == 0, fsync(folder) == 0
        else { throw .system("writing \(path)/\(Self.fileName)", errno) }
    }
}
