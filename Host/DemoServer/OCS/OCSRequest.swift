import HTTPTypes

/// A request to the services below `/ocs/v1.php` and `/ocs/v2.php`.
struct OCSRequest: Sendable {
    var version: Int
    /// The path below the version, `/cloud/user`, percent-encoded.
    var path: String
    var method: String
    var query: [String: String]
    var fields: HTTPFields
    /// Scheme and host as the client has them.
    var origin: String

    /// - Returns: nil if it is not below an OCS version.
    static func place(of path: Substring) -> (version: Int, path: String)? {
        for version in 1...2 where path.hasPrefix("/ocs/v\(version).php/") {
            return (version, String(path.dropFirst("/ocs/v0.php".count)))
        }
        return nil
    }

    /// The decoded values of a query, by their names.
    static func query(_ text: Substring?) -> [String: String] {
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

    /// The answer of a service in the form that the request wants: XML unless it says `format=json`.
    /// - Parameters:
    ///   - status: HTTP's; version 1 says 200 and tells the real one in its own code.
    ///   - alwaysHundred: whether version 2 has the first version's code for success.
    func answer(
        _ status: Int = 200, _ message: String = "OK", data: OCSValue, alwaysHundred: Bool = false
    ) -> Answer {
        let code =
            switch status {
            case 200 where version == 1 || alwaysHundred: 100
            case 401 where version == 1: 997
            case 404 where version == 1: 998
            case 500 where version == 1: 996
            default: status
            }
        let meta = OCSValue.object([
            ("status", .text(status == 200 ? "ok" : "failure")), ("statuscode", .number(code)),
            ("message", .text(message)),
        ])
        let whole = OCSValue.object([("ocs", .object([("meta", meta), ("data", data)]))])
        let httpStatus = HTTPResponse.Status(code: version == 1 ? 200 : status)
        if query["format"] == "json" {
            return Answer(httpStatus, type: "application/json; charset=utf-8", text: whole.json)
        }
        return Answer(
            httpStatus, type: "text/xml; charset=utf-8", text: "<?xml version=\"1.0\"?>\n\(whole.xml)\n")
    }
}
