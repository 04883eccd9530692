public import Model
import Transfer

/// The account's own certificate with its key, as TLS needs them.
public enum ClientIdentity {
    /// Checks that an account's own certificate can be used.
    /// - Parameter now: The time at which the certificate has to be valid.
    /// - Throws: `certificate` if a file cannot be read as PEM, the key is encrypted or belongs to another certificate,
    ///   or the certificate is not valid now.
    public static func check(
        _ client: Bookmark.ClientCertificate, now: Timestamp
    ) throws(ConnectionError) {
        try add(client, to: ServerTrust { _ in nil }, now: now)
    }

    static func add(
        _ client: Bookmark.ClientCertificate, to trust: ServerTrust, now: Timestamp
    ) throws(ConnectionError) {
        let seconds = now.nanoseconds / 1_000_000_000
        if let first = ShownCertificate.all(in: client.certificate)?.first {
            if first.validUntil < seconds {
                throw wrong(
                    "the client certificate \(client.certificate) has expired",
                    "get a new one from whoever runs the server, and write it to this file")
            }
            if first.validFrom > seconds {
                throw wrong(
                    "the client certificate \(client.certificate) is not valid yet", "check this machine's date")
            }
        }
        do throws(ServerTrust.IdentityProblem) {
            try trust.setIdentity(certificate: client.certificate, key: client.key)
        } catch {
            switch error {
            case .noCertificate:
                throw wrong(
                    "the client certificate \(client.certificate) cannot be read as PEM",
                    "tls.certificate in the config names a file with a BEGIN CERTIFICATE block")
            case .lockedKey:
                throw wrong(
                    "the key \(client.key) has a passphrase, which Larder does not take",
                    "write it without one: openssl pkey -in \(client.key) -out NEWFILE, and name NEWFILE in tls.key")
            case .noKey:
                throw wrong(
                    "the key \(client.key) cannot be read as PEM",
                    "tls.key in the config names a file with a BEGIN PRIVATE KEY block")
            case .otherKey:
                throw wrong(
                    "the key \(client.key) does not belong to the client certificate \(client.certificate)",
                    "tls.key in the config names the key with which the certificate was made")
            }
        }
    }

    private static func wrong(_ message: String, _ hint: String) -> ConnectionError {
        ConnectionError(.certificate, message, hint: hint)
    }
}
