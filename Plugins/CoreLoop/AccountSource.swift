import LarderSDK

/// The account's name, its room, and the server's capabilities.
struct AccountSource {
    var dav: Host.DAV?

    mutating func list(_ ocs: inout OCS, _ now: Int64, _ records: Host.Records, _ home: Quota?) -> Outcome {
        do throws(PluginError) {
            guard let user = try ocs.ask("cloud/user", now) else {
                guard let home else { return .notOffered }
                return .found(found([:], home))
            }
            let capabilities = try ocs.capabilities(now)
            var quota = Quota(
                used: user["quota"]?["used"]?.wholeNumber, available: user["quota"]?["free"]?.wholeNumber)
            if quota.used == nil, let id = user["id"]?.plainText {
                quota = try files(of: id, ocs, now) ?? home ?? quota
            }
            var digest = Digest()
            digest.add(capabilities?.text ?? "")
            return .found(
                found(
                    [
                        "id": user["id"]?.plainText.map { .string($0) },
                        "displayName": (user["display-name"] ?? user["displayname"])?.plainText.map { .string($0) },
                        "email": user["email"]?.plainText.map { .string($0) },
                        "capabilities": capabilities.map { _ in .string(digest.text) },
                    ], quota))
        } catch {
            return .failed(error)
        }
    }

    private func found(_ members: KeyValuePairs<String, JSON?>, _ quota: Quota) -> Found {
        var all = members.compactMap { name, value in value.map { JSON.Member(name: name, value: $0) } }
        // A negative number means that there is no limit, or none is known (RFC 4331, and ownCloud's own numbers).
        let amounts = [("quotaUsed", quota.used), ("quotaAvailable", quota.available)]
        for case (let name, let bytes?) in amounts where bytes >= 0 {
            all.append(JSON.Member(name: name, value: .integer(bytes)))
        }
        return Found(
            collection: "account", records: [Record(key: "account", value: JSON.object(all).text)], isAll: false)
    }

    /// Returns the quota of the files (RFC 4331), for a server whose OCS does not tell it.
    private func files(of id: String, _ ocs: OCS, _ now: Int64) throws(PluginError) -> Quota? {
        guard let dav else { return nil }
        var answer = try dav.propfind(
            "\(ocs.base)/remote.php/dav/files/\(EventFeed.escaped(id))/", depth: 0,
            ["{DAV:}quota-used-bytes", "{DAV:}quota-available-bytes"])
        guard let response = try answer.next(), response.status == 200 else { return nil }
        return Quota(
            used: response.values[0].flatMap { Int64($0) }, available: response.values[1].flatMap { Int64($0) })
    }
}
