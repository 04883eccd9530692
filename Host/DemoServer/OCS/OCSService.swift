import HTTPTypes

/// Answers the requests below `/ocs`: what the server can do, its user, and the services that have parts of their own.
struct OCSService: Sendable {
    let manner: Manner
    let user: String
    let served: Served

    func answer(_ request: OCSRequest) -> Answer {
        guard manner.statusDocument else { return Answer(.notFound) }
        guard request.fields[named: "OCS-APIRequest"] == "true" else {
            return Answer(
                .preconditionFailed, type: "application/json; charset=utf-8", text: #"{"message":"CSRF check failed"}"#)
        }
        switch request.path {
        case "/cloud/capabilities": return request.answer(data: capabilities)
        case "/cloud/user": return request.answer(data: account)
        case let path where path.hasPrefix(ShareService.path):
            return ShareService(shares: served.shares, tree: served.tree, manner: manner.shares, user: user).answer(
                request)
        case let path where HintService.serves(path):
            return HintService(hints: served.hints, manner: manner.hints, user: user).answer(request)
        default: return request.answer(404, "Invalid query, please check the syntax.", data: .list([]))
        }
    }

    private var capabilities: OCSValue {
        var core: [(name: String, value: OCSValue)] = [("webdav-root", .text("remote.php/webdav"))]
        if let interval = manner.pollInterval { core.append(("pollinterval", .number(interval))) }
        if manner.hints.stream { core.append(("support-sse", .bool(true))) }
        var parts: [(name: String, value: OCSValue)] = [
            ("core", .object(core)),
            (
                "checksums",
                .object([("supportedTypes", .list([.text("SHA1")])), ("preferredUploadType", .text("SHA1"))])
            ),
            (
                "files",
                .object([("bigfilechunking", .bool(false)), ("undelete", .bool(false)), ("versioning", .bool(false))])
            ),
        ]
        if manner.shares.offered {
            parts.append(
                (
                    "files_sharing",
                    .object([
                        ("api_enabled", .bool(manner.shares.enabled)), ("resharing", .bool(manner.shares.enabled)),
                        ("public", .object([("enabled", .bool(manner.shares.enabled))])),
                    ])
                ))
        }
        if manner.hints.notifications != .absent {
            let endpoints = ["list", "get", "delete"].map(OCSValue.text)
            parts.append(("notifications", .object([("ocs-endpoints", .list(endpoints))])))
        }
        if manner.hints.activity {
            parts.append(("activity", .object([("apiv2", .list([.text("filters"), .text("rich-strings")]))])))
        }
        return .object([
            (
                "version",
                .object([
                    ("major", .number(10)), ("minor", .number(15)), ("micro", .number(0)), ("string", .text("10.15.0")),
                    ("edition", .text("Community")),
                ])
            ),
            ("capabilities", .object(parts)),
        ])
    }

    private var account: OCSValue {
        let used = served.tree.node(at: .root)?.size ?? 0
        let total = max(manner.quota, used)
        return .object([
            ("id", .text(user)), ("display-name", .text(user)), ("email", .null),
            (
                "quota",
                .object([
                    ("free", .number(total - used)), ("used", .number(used)), ("total", .number(total)),
                    ("definition", .text("default")),
                ])
            ),
        ])
    }
}
