import Database
import Glibc
import LocalTree
public import Model

/// Why a vault's account does not go on at the moment, although its host runs.
public struct VaultTrouble: Hashable, Sendable {
    public var message: String
    public var hint: String?
    /// When the host tries again.
    public var nextTry: Timestamp

    public init(message: String, hint: String?, nextTry: Timestamp) {
        self.message = message
        self.hint = hint
        self.nextTry = nextTry
    }
}

/// A note in the vault, for `status`. Its file gets its room while there is some and is written in place, since the trouble may be
/// that the disk is full.
extension Vault {
    static let noteName = "trouble"
    private static let noteSize = 4_096
    /// How much longer than it said a host may take to try again, before it is taken to have gone.
    private static let staleAfter = Duration.seconds(300)

    /// Writes the note, or nil: that there is no trouble. It blocks.
    /// - Returns: whether it is on the disk.
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

    /// What the host says that is at work for this vault; nil if there is no trouble, or that host has ended.
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

    /// A text on one line, so long at most that two of them have room.
    private static func line(_ text: String) -> String {
        let oneLine = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return oneLine.utf8.count <= 1_500 ? oneLine : String(oneLine.prefix(350)) + "…"
    }
}
