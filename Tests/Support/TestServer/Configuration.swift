public import DemoServer

extension TestServer {
    /// The settings that a server is started with.
    public struct Configuration: Sendable {
        /// The location of the tree below the server's address.
        public enum Layout: Sendable {
            /// `/remote.php/dav/files/USER/` and `/remote.php/webdav/`.
            case ownCloud
            /// Directly below this path, such as `/dav`; an empty text is the root of the address.
            case prefix(String)
        }

        /// The user's name, in letters and digits.
        public var user = "demo"
        /// The password, 24 random letters and digits by default.
        public var password = Site.randomPassword()
        /// The location of the tree below the server's address.
        public var layout = Layout.ownCloud
        /// The server's manner at the start.
        public var manner = Manner()
        /// The PEM files of a certificate and its key, for TLS.
        public var certificate: (file: String, key: String)?
        /// The port on 127.0.0.1; 0 lets the system choose.
        public var port = 0
        /// An existing folder for bodies that are too large for memory.
        public var scratchFolder = "/tmp"
        /// The clock of modification times, locks and resumable uploads, in seconds since 1970; nil for the system's.
        public var clock: Tree.Clock?

        public init() {}

        var site: Site {
            var site = Site(user: user, password: password)
            if case .prefix(let prefix) = layout { site.bases = [prefix] }
            if certificate != nil { site.scheme = "https" }
            return site
        }
    }
}
