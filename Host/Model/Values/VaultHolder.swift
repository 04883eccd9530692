/// The process that has a vault open, as the vault's lock file names it. The file stays when the process ends.
public struct VaultHolder: Hashable, Sendable {
    /// How a process takes commands for the vaults that it has open.
    public enum Control: Hashable, Sendable {
        /// It takes none, and has the vault for a short time.
        case none
        /// On the socket at this absolute path.
        case socket(String)
        /// It takes none, and may have the vault for long: a host that could make no socket, or one of a version that
        /// makes none.
        case unknown
    }

    /// The process id.
    public var process: Int32
    /// How the process takes commands.
    public var control: Control

    /// Creates a holder from its parts.
    public init(process: Int32, control: Control) { (self.process, self.control) = (process, control) }

    /// Reads the text of a lock file: the process id, and in the next line the socket's path or `-`. Fails if the text
    /// does not begin with a process id.
    public init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let process = lines.first.flatMap({ Int32($0) }) else { return nil }
        switch lines.count > 1 ? lines[1] : "" {
        case "-": self.init(process: process, control: .none)
        case let path where path.hasPrefix("/"): self.init(process: process, control: .socket(String(path)))
        default: self.init(process: process, control: .unknown)
        }
    }

    /// The text of the lock file.
    public var text: String {
        switch control {
        case .none: "\(process)\n-\n"
        case .socket(let path): "\(process)\n\(path)\n"
        case .unknown: "\(process)\n"
        }
    }
}
