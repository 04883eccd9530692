/// An account: where its server is, who asks, and how the server proves itself. Secrets are not part of it.
public struct Bookmark: Hashable, Sendable {
    /// What the server's certificate is checked against.
    public enum Trust: Hashable, Sendable {
        /// The system's certificate authorities.
        case system
        /// The authorities in this PEM file alone.
        case authorities(file: String)
        /// A certificate with this SHA-256 fingerprint, 32 bytes, whoever signed it.
        case fingerprint([UInt8])
    }

    /// What is done about copies that were changed here.
    public enum LocalChanges: String, Hashable, Sendable { case report, ignore }

    public var name: String
    /// The server's root or a WebDAV collection, as it stands in the config.
    public var url: String
    public var username: String?
    public var trust: Trust
    /// The vault's folder, absolute.
    public var vault: String
    /// The folder of the local copies, absolute.
    public var files: String
    public var localChanges: LocalChanges

    public init(
        name: String, url: String, username: String?, trust: Trust = .system, vault: String, files: String,
        localChanges: LocalChanges = .report
    ) {
        self.name = name
        self.url = url
        self.username = username
        self.trust = trust
        self.vault = vault
        self.files = files
        self.localChanges = localChanges
    }
}

/// What a server is asked with. It prints as nothing.
public enum Credentials: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    case none
    case basic(username: String, password: String)
    case bearer(token: String)

    public var description: String { "(credentials)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
