import Database
import Glibc
import LocalTree
public import Model

/// The reason why a vault's account is stopped for the moment although its host runs.
public struct VaultTrouble: Hashable, Sendable {
    /// The description of the trouble.
    public var message: String
    /// Advice for the person; nil if there is none.
    public var hint: String?
    /// The time when the host tries again.
    public var nextTry: Timestamp

    /// Creates a description of the trouble.
    public init(message: String, hint: String?, nextTry: Timestamp) {
        self.message = message
        self.hint = hint
        self.nextTry = nextTry
    }
}

/// A note in the vault for `status`. The note is written in place into space that was allocated before, because the
/// trouble may be a full disk.
extension Vault {
    static let noteName = "trouble"
    private static let noteSize = 4_096
    /// The delay after the announced time of the next try after which the host is assumed to be gone.
    private static let staleAfter = Duration.seconds(300)

    /// Writes the note. Blocks.
    /// - Parameters:
    ///   - trouble: The trouble; nil clears the note.
    ///   - path: The absolute path of the vault.
    /// - Returns: Whether the note is on the disk.
    @discardableResult
    public static func note(_ trouble: VaultTrouble?, at path: String) -> Bool {
        let number = Glibc.open("\(path)/\(noteName)", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return false }
        let file = Descriptor(number)
        var lines: [String] = []
        if let trouble {
            lines = ["\(getpid())", "\(trouble.nextTry.nanoseconds)", line(trouble.message), line(trouble.hint ?? "")]
        }
        var bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        bytes += [UInt8](repeating: UInt8(ascii: "\n"), count: max(0, noteSize - bytes.count))
        return pwrite(file.number, bytes, bytes.count, 0) == bytes.count && fsync(file.number) == 0
    }

    /// Returns the trouble that the running host of a vault has noted.
    /// - Parameters:
    ///   - path: The absolute path of the vault.
    ///   - now: The present time.
    /// - Returns: The trouble; nil if there is none, or the host has ended or is 300 seconds late with its next try.
    public static func trouble(at path: String, now: Timestamp) -> VaultTrouble? {
        let number = Glibc.open("\(path)/\(noteName)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        let lines = readText(file.number, limit: noteSize)
            .split(separator: "\n", maxSplits: 4, omittingEmptySubsequences: false)
        guard lines.count == 5, let pid = Int32(lines[0]), pid > 0, let nextTry = Int64(lines[1]) else { return nil }
        guard kill(pid, 0) == 0 || errno == EPERM else { return nil }
        let trouble = VaultTrouble(
            message: String(lines[2]), hint: lines[3].isEmpty ? nil : String(lines[3]),
            nextTry: Timestamp(nanoseconds: nextTry))
        return now < trouble.nextTry + staleAfter ? trouble : nil
    }

    /// Returns a text as one line, shortened so that two such lines fit into the note.
    private static func line(_ text: String) -> String {
        let oneLine = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return oneLine.utf8.count <= 1_500 ? oneLine : String(oneLine.prefix(350)) + "…"
    }
}
