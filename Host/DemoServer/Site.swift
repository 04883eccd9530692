/// Whose server it is, and where on it the files are.
package struct Site: Sendable {
    /// Letters and digits.
    package var user: String
    package var password: String
    /// The encoded paths that the tree's root has, without a closing slash.
    package var bases: [String]
    /// How addresses of the server begin: `http`, or `https` where it speaks TLS.
    package var scheme = "http"

    /// - Parameter bases: nil for those of the ownCloud family.
    package init(user: String, password: String, bases: [String]? = nil) {
        (self.user, self.password) = (user, password)
        self.bases = bases ?? ["/remote.php/dav/files/\(user)", "/remote.php/webdav"]
    }

    /// 24 random digits and letters.
    package static func randomPassword() -> String {
        hexadecimal((0..<12).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// What a request's `Authorization` field has to be.
    var authorization: String { "Basic " + base64(Array("\(user):\(password)".utf8)) }
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
