import LarderSDK

/// The shares by and with the account, as OCS lists them. OCS has no pages, events or deletions, so two listings are
/// compared.
struct ShareSource {
    private static let path = "apps/files_sharing/api/v1/"
    let log: Host.Log?
    private let discover: Host.Discover
    private let dav: Host.DAV
    private var tree: SharedTree?
    private var saidDisabled = false

    init(log: Host.Log?, discover: Host.Discover, dav: Host.DAV) {
        (self.log, self.discover, self.dav) = (log, discover, dav)
    }

    mutating func list(_ ocs: inout OCS, _ now: Int64, _ records: Host.Records) -> Outcome {
        do throws(PluginError) {
            var known: [Record] = []
            var cursor = try records.all(in: "shares", .value)
            while let record = try cursor.next() { known.append(record) }
            guard let capabilities = try ocs.capabilities(now) else {
                guard known.isEmpty else { throw PluginError(.io, "the server no longer shows its shares") }
                return .notOffered
            }
            guard try isEnabled(capabilities, known) else { return .notOffered }
            if tree == nil { tree = try SharedTree(discover, dav) }
            guard var found = try read(&ocs, now, capabilities) else { return .notOffered }
            if try isSurprising(found, known) {
                // Two listings are not a snapshot, and an empty one may mean that sharing was switched off just now.
                guard let capabilities = try ocs.capabilities(now, anew: true), try isEnabled(capabilities, known),
                    let again = try read(&ocs, now, capabilities)
                else { return .notOffered }
                found = again
            }
            return .found(try merged(found, known))
        } catch {
            return .failed(error)
        }
    }

    /// Tells whether sharing is switched on at the server. If it is off and shares are known, it logs that once.
    private mutating func isEnabled(_ capabilities: JSON, _ known: [Record]) throws(PluginError) -> Bool {
        let isEnabled = capabilities["files_sharing"]?["api_enabled"]?.isTrue ?? (capabilities["files_sharing"] != nil)
        if isEnabled {
            saidDisabled = false
        } else if !known.isEmpty, !saidDisabled {
            saidDisabled = true
            log?.error(
                "sharing is switched off on the server: the \(known.count) known shares stay as they are until it is "
                    + "switched on again")
        }
        return isEnabled
    }

    /// Returns the shares of all lists that the server has, or nil if it has none of the lists.
    private mutating func read(_ ocs: inout OCS, _ now: Int64, _ capabilities: JSON) throws(PluginError) -> [Share]? {
        var found: [[UInt8]: Share] = [:]
        var tree = tree
        defer { self.tree = tree }
        func add(
            _ data: JSON, _ direction: Share.Direction, remote: Bool = false, state: String? = nil
        ) throws(PluginError) {
            for json in try Self.list(data) {
                let share = try Share(json, direction, isRemote: remote, state: state, in: &tree)
                // A share by the account stays one, even if a group with the account gets it.
                if found[Array(share.key.utf8)]?.direction != .byMe { found[Array(share.key.utf8)] = share }
            }
        }
        let shares = Self.path + "shares"
        guard let byMe = try ocs.ask(shares, now) else { return nil }
        try add(byMe, .byMe)
        // ownCloud compares with the text `true`, and lists pending shares only on request.
        guard let withMe = try ocs.ask(shares, now, query: "&shared_with_me=true&state=all") else { return nil }
        try add(withMe, .withMe)
        let saysState = try Self.list(withMe).contains { $0["state"] != nil }
        if !saysState, let pending = try ocs.ask(shares + "/pending", now) {
            try add(pending, .withMe, state: "pending")
        }
        if capabilities["files_sharing"]?["federation"]?["incoming"]?.isTrue == true {
            let remote = Self.path + "remote_shares"
            if let accepted = try ocs.ask(remote, now) { try add(accepted, .withMe, remote: true) }
            if let pending = try ocs.ask(remote + "/pending", now) {
                try add(pending, .withMe, remote: true, state: "pending")
            }
        }
        return found.values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Returns a list's values. PHP writes an empty list and an empty object in the same way.
    private static func list(_ data: JSON) throws(PluginError) -> [JSON] {
        switch data {
        case .array(let values): return values
        case .object(let members): return members.map(\.value)
        case .null: return []
        default: throw PluginError(.io, "the server's list of shares is not a list")
        }
    }

    /// Tells whether a known share is missing, or is now in the other list.
    private func isSurprising(_ found: [Share], _ known: [Record]) throws(PluginError) -> Bool {
        var directions: [[UInt8]: String] = [:]
        for share in found { directions[Array(share.key.utf8)] = share.direction.rawValue }
        for record in known {
            guard let direction = directions[Array(record.key.utf8)] else { return true }
            if try Self.value(record)["direction"]?.string != direction { return true }
        }
        return false
    }

    /// Merges the found and the known shares. A missing share stays, and its record counts the listings without it: 1,
    /// or 2 for two or more in a row. The lists also omit a share whose storage is unreachable, so the share's own loop
    /// asks whether it is gone.
    private func merged(_ found: [Share], _ known: [Record]) throws(PluginError) -> Found {
        var records = found.map(\.record)
        let keys = Set(found.map { Array($0.key.utf8) })
        for record in known where !keys.contains(Array(record.key.utf8)) {
            guard case .object(var members) = try Self.value(record) else { continue }
            let times = members.first { $0.name == "missing" }?.value.integer ?? 0
            members.removeAll { $0.name == "missing" }
            members.append(JSON.Member(name: "missing", value: .integer(min(max(times, 0), 1) + 1)))
            records.append(Record(key: record.key, value: JSON.object(members).text))
        }
        return Found(collection: "shares", records: records, isAll: false)
    }

    private static func value(_ record: Record) throws(PluginError) -> JSON {
        record.value.isEmpty ? .object([]) : try JSON(parsing: record.value)
    }
}
