import DemoServer

extension TestServer {
    /// What a server is started with.
    public struct Configuration: Sendable {
        /// Where the tree lies below the server's address.
        public enum Layout: Sendable {
            /// `/remote.php/dav/files/USER/` and `/remote.php/webdav/`.
            case ownCloud
            /// Right below this path, such as `/dav`; an empty text is the address's root.
            case prefix(String)
        }

        /// Letters and digits.
        public var user = "demo"
        /// 24 random letters and digits unless it is set.
        public var password = Site.randomPassword()
        public var layout = Layout.ownCloud
        public var manner = Manner()
        /// PEM files of a certificate and its key, to speak TLS.
        public var certificate: (file: String, key: String)?
        /// On 127.0.0.1; 0 lets the system choose.
        public var port = 0
        /// A folder that exists, for bodies too large for memory.
        public var scratchFolder = "/tmp"

        public init() {}

        var site: Site {
            var site = Site(user: user, password: password)
            if case .prefix(let prefix) = layout { site.bases = [prefix] }
            if certificate != nil { site.scheme = "https" }
            return site
        }
    }
}
