extension DemoServer {
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
        public var password = Self.randomPassword()
        public var layout = Layout.ownCloud
        public var manner = Manner()
        /// PEM files of a certificate and its key, to speak TLS.
        public var certificate: (file: String, key: String)?
        /// On 127.0.0.1; 0 lets the system choose.
        public var port = 0
        /// A folder that exists, for bodies too large for memory.
        public var scratchFolder = "/tmp"

        public init() {}

        /// The encoded paths that the tree's root has, without a closing slash.
        var bases: [String] {
            switch layout {
            case .ownCloud: ["/remote.php/dav/files/\(user)", "/remote.php/webdav"]
            case .prefix(let prefix): [prefix]
            }
        }

        /// What a request's `Authorization` field has to be.
        var authorization: String { "Basic " + base64(Array("\(user):\(password)".utf8)) }

        private static func randomPassword() -> String {
            hexadecimal((0..<12).map { _ in UInt8.random(in: .min ... .max) })
        }
    }
}

private func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        var value = 0
        for index in 0..<3 { value = value << 8 | (index < group.count ? Int(group[start + index]) : 0) }
        for index in 0..<4 {
            result.append(index <= group.count ? alphabet[value >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
        }
    }
    return String(decoding: result, as: UTF8.self)
}
