public import Model

extension Approval {
    /// The approval of requests without TLS; nil if the server is asked with TLS or is on this machine.
    static func plainHTTP(_ origin: ServerAddress.Origin) -> Approval? {
        origin.isTLS || origin.isLoopback ? nil : Approval(.plainHTTP, "\(origin)")
    }

    /// The approval of a server's version; nil if the version is not old, or the product is unknown.
    ///
    /// ownCloud before 10 and Nextcloud before 20 get no security fixes any more, and nobody tries Larder with them.
    /// OpenCloud and ownCloud Infinite Scale have no old versions yet. Other names are those of providers, who count as
    /// they like.
    static func version(_ product: String?, _ version: String?, of origin: ServerAddress.Origin) -> Approval? {
        let oldest = ["owncloud": 10, "nextcloud": 20]
        guard let product, let least = oldest[product.lowercased()],
            let major = version?.split(separator: ".").first.flatMap({ Int($0) }), major < least
        else { return nil }
        return Approval(.oldVersion, "\(origin) \(product) \(major)")
    }

    static func redirect(_ redirect: ElsewhereRedirect) -> Approval {
        Approval(.redirect, "\(redirect.from) \(redirect.to)")
    }

    static func key(_ hash: [UInt8], of origin: ServerAddress.Origin) -> Approval {
        Approval(.key, "\(origin) \(CertificateTrust.text(hash))")
    }
}

extension Approvals {
    /// Returns the answers for an account that worked before such questions were asked: what it uses counts as
    /// approved.
    /// - Parameters:
    ///   - bookmark: The account.
    ///   - server: The facts about its server, if they are known.
    public static func ofWorking(_ bookmark: Bookmark, _ server: KnownServer?) -> Approvals {
        guard let origin = try? ServerAddress(bookmark.url).origin else { return Approvals() }
        let version = server.flatMap { Approval.version($0.product, $0.version, of: origin) }
        return Approvals(approved: [Approval.plainHTTP(origin), version].compactMap(\.self))
    }
}

extension ConnectionError {
    /// Creates the error for something that was not approved.
    init(_ approval: Approval, isRejected: Bool) {
        let parts = approval.subject.split(separator: " ", maxSplits: 1).map(String.init)
        let (first, rest) = (parts.first ?? "", parts.last ?? "")
        let what =
            switch approval.kind {
            case .plainHTTP:
                "\(first) is asked without TLS: whoever is in between can read and change the password and the files"
            case .oldVersion: "\(first) runs \(rest), an old version that gets no security fixes any more"
            case .redirect: "\(first) redirects to another server, \(rest), which would get the password"
            case .key:
                "the public key of \(first) is not one that was approved for this account; its SHA-256 is \(rest)"
            }
        self.init(
            .unapproved, isRejected ? "\(what); this was rejected" : "\(what); this waits for an approval",
            hint: isRejected ? .verifyAccountAgain : .verifyAccount)
        (self.approval, self.isRejected) = (approval, isRejected)
    }
}
