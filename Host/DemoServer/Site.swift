import Digests
import FoundationEssentials

/// The user of a server, and the paths of the files on it.
package struct Site: Sendable {
    /// The user's name: letters and digits.
    package var user: String
    package var password: String
    /// The encoded paths of the tree's root, without a closing slash.
    package var bases: [String]
    /// The scheme of the server's addresses: `http`, or `https` where the server speaks TLS.
    package var scheme = "http"

    /// Creates a site.
    /// - Parameters:
    ///   - user: The user's name: letters and digits.
    ///   - password: The user's password.
    ///   - bases: The encoded paths of the tree's root; nil for those of the ownCloud family.
    package init(user: String, password: String, bases: [String]? = nil) {
        (self.user, self.password) = (user, password)
        self.bases = bases ?? ["/remote.php/dav/files/\(user)", "/remote.php/webdav"]
    }

    /// Returns 24 random hexadecimal digits.
    package static func randomPassword() -> String {
        hexadecimal((0..<12).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// The value that a request's `Authorization` field must have.
    var authorization: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
}
