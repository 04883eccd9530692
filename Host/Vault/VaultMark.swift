import Database
import Glibc
import LocalTree
import Model

/// The mark of a vault: the file `vault` with the vault's id. In a vault it identifies the vault; in a folder of local
/// copies it identifies the vault that the copies belong to.
struct VaultMark: Hashable {
    static let fileName = "vault"
    let id: String

    /// Creates a mark from its text; nil if the text is not a vault's id.
    init?(_ id: String) {
        guard id.utf8.count == 32, id.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else {
            return nil
        }
        self.id = id
    }

    private init(random: LocalID) { id = random.text }

    static func random() -> VaultMark { VaultMark(random: .random()) }

    /// Reads the mark in a folder.
    /// - Parameters:
    ///   - folder: The descriptor of the folder.
    ///   - path: The path of the folder, for messages.
    /// - Returns: The mark; nil if the folder has none.
    /// - Throws: `.localIO` if the mark is damaged, or the error of the system call that failed.
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

    /// Writes the mark unless the folder already has it. When the function returns, the mark is on the disk.
    /// - Throws: The errors of ``read(in:at:)``, or the error of the system call that failed.
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
