/// A service that answers the requests for shares: `/apps/files_sharing/api/v1/…`.
package struct ShareService: Sendable {
    let shares: Shares
    let tree: Tree
    let user: String

    package static let path = "/apps/files_sharing/api/v1/"

    /// Returns the reply to a request.
    /// - Parameter request: The request, whose path is below `path`.
    func reply(to request: OCSRequest) -> OCSReply {
        guard request.method == "GET" else { return OCSReply(405, "Method not allowed") }
        let parts = request.path.dropFirst(Self.path.count).split(separator: "/").map(String.init)
        switch parts {
        case ["shares"]: return list(request)
        case ["remote_shares"]: return OCSReply(remote(.accepted))
        case ["remote_shares", "pending"]: return OCSReply(remote(.pending))
        default:
            guard parts.count == 2, parts[0] == "shares", let id = Int(parts[1]), let share = shares.all[id] else {
                return OCSReply(404, "Wrong share ID, share doesn't exist")
            }
            return OCSReply(.list([value(id, share, request)]))
        }
    }

    private func list(_ request: OCSRequest) -> OCSReply {
        // Only the literal text `true` selects the shares with the user; every other text selects the shares by the
        // user.
        let withMe = request.query["shared_with_me"] == "true"
        var states: Set<Share.State> = [.accepted]
        if let state = request.query["state"] {
            switch state {
            case "all": states = [.accepted, .pending, .rejected]
            default: states = Int(state).flatMap(Share.State.init).map { [$0] } ?? states
            }
        }
        let place = request.query["path"].map { TreePath($0) }
        if let place, tree.node(at: place) == nil {
            return OCSReply(404, "Wrong path, file/folder doesn't exist")
        }
        let below = request.query["subfiles"] == "true"
        let found = shares.all.sorted { $0.key < $1.key }.filter { _, share in
            guard share.isAvailable else { return false }
            guard withMe ? isReceived(share) && states.contains(share.state) : share.direction == .byMe else {
                return false
            }
            guard let place else { return true }
            let names = TreePath(share.path).names
            return below ? Array(names.dropLast()) == place.names : names == place.names
        }
        return OCSReply(.list(found.map { value($0.key, $0.value, request) }))
    }

    /// Tells whether the user received the share. Shares from other servers' users are excluded, because they have
    /// addresses of their own.
    private func isReceived(_ share: Share) -> Bool { share.direction == .withMe && share.type != 6 }

    private func remote(_ state: Share.State) -> OCSValue {
        let found = shares.all.sorted { $0.key < $1.key }.filter { _, share in
            share.direction == .withMe && share.type == 6 && share.state == state && share.isAvailable
        }
        return .list(
            found.map { id, share in
                .object([
                    ("id", .number(id)), ("remote", .text("https://far.example.org/")),
                    ("remote_id", .number(1_000 + id)),
                    ("share_token", .text(share.token ?? "token\(id)")), ("name", .text(share.path)),
                    ("owner", .text(share.owner ?? "someone")), ("user", .text(user)),
                    ("mountpoint", .text(share.path)),
                    ("accepted", .number(state == .accepted ? 1 : 0)), ("permissions", .number(share.permissions)),
                ])
            })
    }

    private func value(_ id: Int, _ share: Share, _ request: OCSRequest) -> OCSValue {
        let node = tree.node(at: TreePath(share.path))
        let owner = share.owner ?? user
        let item = node.map { OCSValue.number(Int($0.id)) } ?? .null
        let isFolder = node?.isFolder ?? true
        var fields: [(name: String, value: OCSValue)] = [
            ("id", .text("\(id)")), ("share_type", .number(share.type)), ("uid_owner", .text(owner)),
            ("displayname_owner", .text(owner)), ("permissions", .number(share.permissions)),
            ("stime", .number(1_790_000_000 + id)), ("parent", .null), ("expiration", OCSValue(share.expiration)),
            ("token", OCSValue(share.token)), ("uid_file_owner", .text(owner)),
            ("displayname_file_owner", .text(owner)), ("path", .text(share.path)),
            ("item_type", .text(isFolder ? "folder" : "file")),
            ("mimetype", .text(isFolder ? "httpd/unix-directory" : "application/octet-stream")),
            ("storage", .number(1)),
            ("item_source", item), ("file_source", item),
            ("file_parent", node?.parent.map { .number(Int($0)) } ?? .null), ("file_target", .text(share.path)),
            ("share_with", OCSValue(share.direction == .withMe ? share.sharedWith ?? user : share.sharedWith)),
            (
                "share_with_displayname",
                OCSValue(share.direction == .withMe ? share.sharedWith ?? user : share.sharedWith)
            ),
            ("mail_send", .number(0)), ("attributes", OCSValue(share.attributes)),
        ]
        if share.direction == .withMe { fields.append(("state", .number(share.state.rawValue))) }
        if let token = share.token { fields.append(("url", .text("\(request.origin)/s/\(token)"))) }
        return .object(fields)
    }
}
