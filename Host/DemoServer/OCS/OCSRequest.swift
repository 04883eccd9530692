package import HTTPTypes

/// A request to the services below `/ocs/v1.php` and `/ocs/v2.php`.
package struct OCSRequest: Sendable {
    package let version: Int
    /// The percent-encoded path below the version, such as `/cloud/user`.
    package var path: String
    package let method: String
    package var query: [String: String]
    package let fields: HTTPFields
    /// Scheme and host as the client uses them.
    package let origin: String

    init(_ asked: Asked, version: Int, path: String) {
        (self.version, self.path, method) = (version, path, asked.method)
        (query, fields, origin) = (Self.query(asked.query), asked.fields, asked.origin)
    }

    /// Splits a path into its OCS version and the path below it; nil if the path is not below an OCS version.
    static func place(of path: Substring) -> (version: Int, path: String)? {
        for version in 1...2 where path.hasPrefix("/ocs/v\(version).php/") {
            return (version, String(path.dropFirst("/ocs/v0.php".count)))
        }
        return nil
    }

    /// Returns the decoded values of a query by their names.
    private static func query(_ text: Substring?) -> [String: String] {
        var values: [String: String] = [:]
        for pair in (text ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { part in
                let bytes = part.replacing("+", with: " ")[...].utf8
                return TreePath.decoded(bytes).map { String(decoding: $0, as: UTF8.self) } ?? String(part)
            }
            values[decoded[0]] = decoded.count > 1 ? decoded[1] : ""
        }
        return values
    }
}
