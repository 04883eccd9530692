import LarderSDK

/// A client of the OCS interface of ownCloud, OpenCloud and Nextcloud.
struct OCS {
    let http: Host.HTTP
    /// The path in front of `/ocs`.
    var base = ""
    private var capabilities: (json: JSON, at: Int64)?
    private var absent: [String: Int64] = [:]

    init(http: Host.HTTP) { self.http = http }

    /// Returns the server's capabilities, or nil if it has no OCS. It asks once a day, or at once if `anew` is true.
    mutating func capabilities(_ now: Int64, anew: Bool = false) throws(PluginError) -> JSON? {
        if !anew, let capabilities, !Optional(capabilities.at).isDayBefore(now) { return capabilities.json }
        guard let json = try ask("cloud/capabilities", now) else { return nil }
        let found = json["capabilities"] ?? .object([])
        capabilities = (found, now)
        return found
    }

    /// Returns the answer's `data`, or nil if the server has no such resource. It then does not ask for the resource
    /// again for a day.
    mutating func ask(_ path: String, _ now: Int64, query: String = "") throws(PluginError) -> JSON? {
        if let since = absent[path], !Optional(since).isDayBefore(now) { return nil }
        absent[path] = nil
        var answer = try http.send(
            "GET", "\(base)/ocs/v2.php/\(path)?format=json\(query)",
            headers: [("OCS-APIRequest", "true"), ("Accept", "application/json")])
        let status = answer.status
        let body = try answer.body()
        let json: JSON
        do throws(PluginError) { json = try JSON(parsing: body.span) } catch { json = .null }
        guard let code = json["ocs"]?["meta"]?["statuscode"]?.wholeNumber else {
            // The page is not one of OCS.
            if status < 500, status != 200 || (body.first != UInt8(ascii: "{")) {
                absent[path] = now
                return nil
            }
            throw PluginError(.io, "the server answered \(status) without JSON for \(path)")
        }
        switch code {
        case 100, 200: return json["ocs"]?["data"] ?? .null
        case 404, 998:
            absent[path] = now
            return nil
        case 401, 403, 997: throw PluginError(.denied, "the server does not let this account ask for \(path)")
        default: throw PluginError(.io, "the server answered \(code) for \(path)")
        }
    }

}

extension JSON {
    /// The number, in any notation.
    var wholeNumber: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value.rounded())
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// The text, or the number as text. Nil if the value is neither, or empty.
    var plainText: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text.clipped
        case .integer(let value): "\(value)"
        default: nil
        }
    }

    /// The boolean, also written as a number or text. Nil if the value is none.
    var isTrue: Bool? {
        switch self {
        case .boolean(let value): value
        case .string("true"): true
        case .string("false"): false
        default: wholeNumber.map { $0 != 0 }
        }
    }
}
