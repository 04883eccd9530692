/// An account: the address of its server, the user, and the way in which the server proves its identity. Secrets are
/// not part of a bookmark.
public struct Bookmark: Hashable, Sendable {
    /// The trust against which the server's certificate is checked.
    public enum Trust: Hashable, Sendable {
        /// The system's certificate authorities.
        case system
        /// The authorities in this PEM file and no others.
        case authorities(file: String)
        /// A certificate with this SHA-256 fingerprint, 32 bytes, whoever signed the certificate.
        case fingerprint([UInt8])
        /// A certificate with a public key that a person has approved, whoever signed the certificate.
        case pinned
    }

    /// The account's own certificate, by which it proves its identity to the server.
    public struct ClientCertificate: Hashable, Sendable {
        /// The absolute path of a PEM file with the certificate and those that lead from it to its authority.
        public var certificate: String
        /// The absolute path of a PEM file with the certificate's private key.
        public var key: String

        /// Creates a certificate from its files.
        public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
    }

    /// The treatment of copies that were changed here.
    public enum LocalChanges: String, Hashable, Sendable { case report, ignore }

    /// The account's name.
    public var name: String
    /// The address of the server's root or of a WebDAV collection, as written in the config.
    public var url: String
    /// The login name, if the account has one.
    public var username: String?
    /// The trust against which the server's certificate is checked.
    public var trust: Trust
    /// The account's own certificate, if it has one.
    public var clientCertificate: ClientCertificate?
    /// The proxy that requests go through, if there is one.
    public var proxy: Proxy?
    /// The absolute path of the vault's folder.
    public var vault: String
    /// The absolute path of the folder of the local copies.
    public var files: String
    /// The treatment of copies that were changed here.
    public var localChanges: LocalChanges
    /// The rules for uploads that meet another version on the server.
    public var onConflict: ConflictRules
    /// What is different for the account in the settings of plugins.
    public var plugins: [PluginID: PluginOverride]

    /// Creates a bookmark.
    public init(
        name: String, url: String, username: String?, trust: Trust = .system,
        clientCertificate: ClientCertificate? = nil, proxy: Proxy? = nil, vault: String, files: String,
        localChanges: LocalChanges = .report, onConflict: ConflictRules = ConflictRules(),
        plugins: [PluginID: PluginOverride] = [:]
    ) {
        self.name = name
        self.url = url
        self.username = username
        self.trust = trust
        self.clientCertificate = clientCertificate
        self.proxy = proxy
        self.vault = vault
        self.files = files
        self.localChanges = localChanges
        self.onConflict = onConflict
        self.plugins = plugins
    }
}

/// The credentials for requests to a server, and the kind of login that they are for. Their text form does not contain
/// the secret.
public enum Credentials: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    case none
    /// A password for the best kind of login that the server offers: Digest (RFC 7616), or else Basic (RFC 7617). Over
    /// TLS and to this machine it is Basic, unless the server offers Digest alone.
    case password(username: String, password: String)
    /// A password for Basic authentication, which is sent unasked.
    case basic(username: String, password: String)
    /// A password for Digest authentication. The password itself is never sent.
    case digest(username: String, password: String)
    /// A token (RFC 6750).
    case bearer(token: String)

    public var description: String { "(credentials)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
