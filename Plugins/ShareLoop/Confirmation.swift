import LarderSDK

/// Asks the server whether a share that is missing from the lists is gone.
struct Confirmation {
    let http: Host.HTTP

    /// Tells whether a share is gone. The lists also omit a share whose storage is unreachable, and all shares while
    /// sharing is switched off. So only the server's answer that there is no such share counts, and only while sharing
    /// is on.
    func isGone(_ share: Share, home: String) throws(PluginError) -> Bool {
        let base = Self.base(home)
        let (id, isRemote) = share.serverID
        let list = isRemote ? "remote_shares" : "shares"
        let (code, _) = try ask("\(base)/ocs/v2.php/apps/files_sharing/api/v1/\(list)/\(EventFeed.escaped(id))")
        switch code {
        case 100, 200: return false
        case 404, 998:
            let (code, data) = try ask("\(base)/ocs/v2.php/cloud/capabilities")
            switch data["capabilities"]?["files_sharing"]?["api_enabled"] {
            case .boolean(true), .integer(1), .string("1"), .string("true"): return code == 100 || code == 200
            default: return false
            }
        default: throw PluginError(.io, "the server answered \(code) for the share \(id)")
        }
    }

    private func ask(_ path: String) throws(PluginError) -> (code: Int64, data: JSON) {
        var answer = try http.send(
            "GET", path + "?format=json", headers: [("OCS-APIRequest", "true"), ("Accept", "application/json")])
        let status = answer.status
        let body = try answer.body(atMost: 1 << 20)
        do throws(PluginError) {
            let json = try JSON(parsing: body.span)
            let code = json["ocs"]?["meta"]?["statuscode"]
            if let code = code?.integer ?? code?.string.flatMap({ Int64($0) }) {
                return (code, json["ocs"]?["data"] ?? .null)
            }
        } catch {
            throw PluginError(.io, "the server answered \(status) without JSON for \(path)")
        }
        throw PluginError(.io, "the server answered \(status) without a status of OCS for \(path)")
    }

    /// Returns the path in front of `/ocs`, which lies beside `remote.php`.
    private static func base(_ home: String) -> String {
        let names = home.split(separator: "/", omittingEmptySubsequences: false)
        guard let end = names.firstIndex(where: { $0 == "remote.php" || $0 == "index.php" }) else { return "" }
        return names[..<end].joined(separator: "/")
    }
}
