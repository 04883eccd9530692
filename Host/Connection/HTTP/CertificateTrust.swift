import Digests
public import Model
import Transfer

/// The rules by which a server's certificate is trusted.
public enum CertificateTrust {
    /// Checks that the file of authorities can be used, if the account names one.
    /// - Throws: `badAddress` if the file cannot be read as PEM.
    public static func check(_ trust: Bookmark.Trust) throws(ConnectionError) {
        guard case .authorities(let file) = trust, ShownCertificate.all(in: file) == nil else { return }
        throw unreadable(file)
    }

    private static func unreadable(_ file: String) -> ConnectionError {
        ConnectionError(
            .badAddress, "the file of certificate authorities \(file) cannot be read as PEM",
            hint: "tls.ca in the config names a file with one or more BEGIN CERTIFICATE blocks")
    }

    /// Whether a server may have any name and any authority: one certificate is accepted, or approved keys.
    static func isAnyHostTrusted(_ trust: Bookmark.Trust) -> Bool {
        switch trust {
        case .fingerprint, .pinned: true
        case .system, .authorities: false
        }
    }

    /// Returns the rules for new connections. Each of them notes the server's certificate. If the server is not the
    /// right one, the connection never gets a request.
    static func rules(
        for trust: Bookmark.Trust, _ approvals: ApprovalBook
    ) throws(ConnectionError) -> ServerTrust {
        let rules = ServerTrust { certificate in
            let fingerprint = MessageDigest.of(certificate.bytes)
            let key = MessageDigest.of(certificate.key)
            approvals.certificate = ServerCertificate(
                fingerprint: text(fingerprint), key: text(key),
                validUntil: Timestamp(seconds: certificate.validUntil))
            switch trust {
            case .fingerprint(let expected) where fingerprint != expected:
                return .certificate(
                    reason: "it does not have the fingerprint that the config names", fingerprint: fingerprint)
            case .pinned where !approvals.accepts(key: key): return .unapprovedKey(key)
            case .system where !certificate.isSigned, .authorities where !certificate.isSigned:
                return .certificate(reason: "no trusted authority signed it, or it has expired", fingerprint: nil)
            case .fingerprint, .pinned, .system, .authorities: return nil
            }
        }
        if case .authorities(let file) = trust, !rules.setAuthorities(file) { throw unreadable(file) }
        return rules
    }

    /// Returns the advice for a person about a certificate that is not trusted.
    static func hint(_ trust: Bookmark.Trust) -> String {
        let (ifRight, sent) = ("if this is the right server,", "nothing was sent to it")
        switch trust {
        case .system:
            return "\(ifRight) set tls in the account's config: ca: FILE or fingerprint: SHA256; \(sent)"
        case .pinned:
            return "\(ifRight) approve its key; \(sent)"
        case .fingerprint:
            return "\(ifRight) replace the fingerprint in tls by that of its certificate; \(sent)"
        case .authorities(let file):
            // A server's own certificate signs no other, and so proves nothing as an authority.
            let own = serverCertificates(in: file)
            guard !own.isEmpty else {
                return "\(ifRight) set ca in tls to the file of the authority that signed its certificate; \(sent)"
            }
            let choices = own.map { "tls: { fingerprint: \(text($0)) }" }.joined(separator: " or ")
            return "\(file) contains a server's own certificate, not an authority's: replace ca by \(choices); \(sent)"
        }
    }

    /// Returns the fingerprints of the first three certificates in a file; empty if the file cannot be read or one of
    /// its certificates may sign others.
    private static func serverCertificates(in file: String) -> [[UInt8]] {
        guard let all = ShownCertificate.all(in: file)?.map(\.bytes), !all.contains(where: isAuthority) else {
            return []
        }
        return all.prefix(3).map { MessageDigest.of($0) }
    }

    /// Tells whether a certificate says that it may sign others: `cA` of the basic constraints (RFC 5280, section
    /// 4.2.1.9).
    static func isAuthority(_ certificate: [UInt8]) -> Bool {
        let name: [UInt8] = [0x06, 0x03, 0x55, 0x1d, 0x13]
        let isTrue: [UInt8] = [0x01, 0x01, 0xff]
        guard let start = certificate.indices.first(where: { certificate[$0...].starts(with: name) }) else {
            return false
        }
        var rest = certificate[(start + name.count)...]
        // The flag that marks the extension as critical.
        if rest.starts(with: isTrue) { rest = rest.dropFirst(isTrue.count) }
        // Next comes an octet string with a sequence, each of less than 128 bytes.
        guard rest.count > 4, rest.first == 0x04, rest.dropFirst(2).first == 0x30 else { return false }
        return rest.dropFirst(4).starts(with: isTrue)
    }

    /// Returns a fingerprint as `openssl x509 -fingerprint -sha256` prints it.
    static func text(_ fingerprint: [UInt8]) -> String {
        fingerprint.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }
}
