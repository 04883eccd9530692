import Glibc
import LocalTree
public import Model
import Vault

/// The list of the vaults that were used on this machine. It lies outside of them, so that a vault whose disk is not
/// mounted is told from one that there never was. A file with the path of a vault in each line.
public struct KnownVaults: Hashable, Sendable {
    /// The absolute path of the file.
    public let path: String

    /// - Parameter path: The absolute path of the file. It and its folder are made when they are needed.
    public init(path: String) { self.path = path }

    /// Tells whether a vault was used before and is away: neither its database nor its mark is there. Blocks.
    /// - Parameter vault: The absolute path of the vault.
    /// - Returns: The failure to report; nil if the vault is there, or never was.
    public func away(_ vault: String) -> Failure? {
        guard Vault.isMissing(at: vault), contains(vault) else { return nil }
        return Failure(
            .localIO, "The vault \(vault) was used before and is not there",
            hint:
                "Mount it where it was. If it is gone for good, take its line out of \(path); then a new vault is begun"
        )
    }

    /// Tells whether a vault is in the list. A list that cannot be read is empty. Blocks.
    public func contains(_ vault: String) -> Bool {
        let file = Descriptor(open(path, O_RDONLY | O_CLOEXEC))
        return file.number >= 0 && Self.lines(file.number).contains { $0.utf8.elementsEqual(vault.utf8) }
    }

    /// Adds a vault to the list. Blocks.
    /// - Throws: `.cannotCreate` or `.localIO` if the list cannot be written.
    public func add(_ vault: String) throws(Failure) {
        // A path with a line break would be two others.
        guard !contains(vault), !vault.utf8.contains(UInt8(ascii: "\n")) else { return }
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex {
            try makePath(String(path[..<slash]))
        }
        try change { file, _ in
            let line = vault + "\n"
            return lseek(file, 0, SEEK_END) >= 0 && write(file, line, line.utf8.count) == line.utf8.count
        }
    }

    /// Takes a vault out of the list, so that a new one may be begun in its place. Blocks.
    /// - Throws: `.localIO` if the list cannot be written.
    public func remove(_ vault: String) throws(Failure) {
        guard contains(vault) else { return }
        try change { file, lines in
            let text = lines.filter { !$0.utf8.elementsEqual(vault.utf8) }.map { $0 + "\n" }.joined()
            // In this order, so that the list is never empty in between.
            return pwrite(file, text, text.utf8.count, 0) == text.utf8.count
                && ftruncate(file, off_t(text.utf8.count)) == 0
        }
    }

    /// - Parameter body: Changes the file, whose lines it gets; it returns false if that failed.
    private func change(_ body: (Int32, [String]) -> Bool) throws(Failure) {
        let file = Descriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        guard file.number >= 0, flock(file.number, LOCK_EX) == 0, body(file.number, Self.lines(file.number)),
            fsync(file.number) == 0
        else { throw .system("writing \(path)", errno) }
    }

    private static func lines(_ file: Int32) -> [String] {
        readText(file, limit: 1 << 20).split(separator: "\n").map(String.init)
    }
}
