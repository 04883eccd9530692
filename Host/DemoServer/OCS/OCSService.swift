import HTTPTypes

/// A service that answers the requests below `/ocs`: the server's capabilities, its user, and the shares.
package struct OCSService: Sendable {
    package let site: Site
    let tree: Tree
    let shares: Shares

    /// The answer to a request that does not say that it comes from a program.
    static var unasked: Answer {
        Answer(
            .preconditionFailed, type: "application/json; charset=utf-8", text: #"{"message":"CSRF check failed"}"#)
    }

    package func reply(to request: OCSRequest) -> OCSReply {
        switch request.path {
        case "/cloud/capabilities": OCSReply(capabilities)
        case "/cloud/user": OCSReply(account(quota: 10 << 30))
        case let path where path.hasPrefix(ShareService.path):
            ShareService(shares: shares, tree: tree, user: site.user).reply(to: request)
        default: .unknown
        }
    }

    /// Returns the user's account.
    /// - Parameter quota: The number of bytes that the user may store on the server.
    package func account(quota: Int) -> OCSValue {
        let used = tree.node(at: .root)?.size ?? 0
        let total = max(quota, used)
        return .object([
            ("id", .text(site.user)), ("display-name", .text(site.user)), ("email", .null),
            (
                "quota",
                .object([
                    ("free", .number(total - used)), ("used", .number(used)), ("total", .number(total)),
                    ("definition", .text("default")),
                ])
            ),
        ])
    }

    private var capabilities: OCSValue {
        .object([
            (
                "version",
                .object([
                    ("major", .number(10)), ("minor", .number(15)), ("micro", .number(0)), ("string", .text("10.15.0")),
                    ("edition", .text("Community")),
                ])
            ),
            (
                "capabilities",
                .object([
                    (
                        "core",
                        .object([("webdav-root", .text("remote.php/webdav")), ("pollinterval", .number(30_000))])
                    ),
                    (
                        "checksums",
                        .object([
                            ("supportedTypes", .list(Checksum.Kind.allCases.map { .text($0.rawValue) })),
                            ("preferredUploadType", .text("SHA1")),
                        ])
                    ),
                    (
                        "files",
                        .object([
                            ("bigfilechunking", .bool(false)), ("undelete", .bool(false)), ("versioning", .bool(false)),
                            ("favorites", .bool(true)),
                        ])
                    ),
                    (
                        "files_sharing",
                        .object([
                            ("api_enabled", .bool(true)), ("resharing", .bool(true)),
                            ("public", .object([("enabled", .bool(true))])),
                        ])
                    ),
                ])
            ),
        ])
    }
}
