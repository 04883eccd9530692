public import Model
import NIOSSL

/// The account's own certificate with its key, as TLS needs them.
public enum ClientIdentity {
    /// Checks that an account's own certificate can be used.
    /// - Parameter now: The time at which the certificate has to be valid.
    /// - Throws: `certificate` if a file cannot be read as PEM, the key is encrypted or belongs to another certificate,
    ///   or the certificate is not valid now.
    public static func check(
        _ client: Bookmark.ClientCertificate, now: Timestamp
    ) throws(ConnectionError) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        try add(client, to: &configuration, now: now)
    }

    static func add(
        _ client: Bookmark.ClientCertificate, to configuration: inout TLSConfiguration, now: Timestamp
    ) throws(ConnectionError) {
        let chain: [NIOSSLCertificate]
        do { chain = try NIOSSLCertificate.fromPEMFile(client.certificate) } catch {
            throw wrong(
                "the client certificate \(client.certificate) cannot be read as PEM",
                "tls.certificate in the config names a file with a BEGIN CERTIFICATE block")
        }
        let seconds = now.nanoseconds / 1_000_000_000
        if let first = chain.first, Int64(first.notValidAfter) < seconds {
            throw wrong(
                "the client certificate \(client.certificate) has expired",
                "get a new one from whoever runs the server, and write it to this file")
        }
        if let first = chain.first, Int64(first.notValidBefore) > seconds {
            throw wrong(
                "the client certificate \(client.certificate) is not valid yet", "check this machine's date")
        }
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(try key(client.key))
        do { _ = try NIOSSLContext(configuration: configuration) } catch {
            throw wrong(
                "the key \(client.key) does not belong to the client certificate \(client.certificate)",
                "tls.key in the config names the key with which the certificate was made")
        }
    }

    private static func key(_ file: String) throws(ConnectionError) -> NIOSSLPrivateKey {
        struct HasPassphrase: Error {}
        var isLocked = false
        do {
            // Without a function of ours the library would ask for the passphrase on the terminal.
            return try NIOSSLPrivateKey(file: file, format: .pem) { (_: (String.UTF8View) -> Void) in
                isLocked = true
                throw HasPassphrase()
            }
        } catch {
            guard !isLocked else {
                throw wrong(
                    "the key \(file) has a passphrase, which Larder does not take",
                    "write it without one: openssl pkey -in \(file) -out NEWFILE, and name NEWFILE in tls.key")
            }
            throw wrong(
                "the key \(file) cannot be read as PEM",
                "tls.key in the config names a file with a BEGIN PRIVATE KEY block")
        }
    }

    private static func wrong(_ message: String, _ hint: String) -> ConnectionError {
        ConnectionError(.certificate, message, hint: hint)
    }

    /// Returns the error for a server that ends the connection because of the account's certificate (RFC 8446, section
    /// 6.2); nil for any other text.
    static func refusal(in text: String) -> TransportError? {
        if text.contains("ALERT_CERTIFICATE_REQUIRED") { return .clientCertificate(nil) }
        let reasons = [
            "ALERT_UNKNOWN_CA": "it does not know the authority that signed it",
            "ALERT_CERTIFICATE_EXPIRED": "it calls it expired", "ALERT_CERTIFICATE_REVOKED": "it was revoked",
            "ALERT_BAD_CERTIFICATE": "it calls it wrong", "ALERT_CERTIFICATE_UNKNOWN": "it does not accept it",
            "ALERT_UNSUPPORTED_CERTIFICATE": "it does not take certificates of this kind",
            "ALERT_ACCESS_DENIED": "it does not let its owner in",
        ]
        return reasons.first { text.contains($0.key) }.map { .clientCertificate($0.value) }
    }
}
