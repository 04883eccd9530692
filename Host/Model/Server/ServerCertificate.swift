/// A server's certificate, as it is shown to a person.
public struct ServerCertificate: Hashable, Sendable {
    /// The SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` prints it.
    public var fingerprint: String
    /// The SHA-256 of its public key (SubjectPublicKeyInfo, RFC 5280), written like the fingerprint.
    public var key: String
    /// The time until which it is valid.
    public var validUntil: Timestamp

    /// Creates a certificate.
    public init(fingerprint: String, key: String, validUntil: Timestamp) {
        (self.fingerprint, self.key, self.validUntil) = (fingerprint, key, validUntil)
    }
}
