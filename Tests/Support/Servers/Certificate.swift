/// A self-signed certificate for 127.0.0.1, with its key, as PEM files.
public struct Certificate: Sendable {
    /// The path of the certificate.
    public let file: String
    /// The path of the certificate's private key.
    public let key: String
    /// SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` prints it: hexadecimal with colons.
    public let fingerprint: String

    /// Makes a certificate in a folder.
    /// - Parameter authority: the certificate that signs the new one, which then may not sign others; nil makes the
    ///   new one sign itself.
    /// - Parameter known: the file of the key to use; nil makes a new key.
    /// - Parameter mayNotSign: whether a certificate that signs itself says that it may not sign others.
    public static func make(
        in folder: String, name: String = "server", key known: String? = nil, signedBy authority: Certificate? = nil,
        mayNotSign: Bool = false
    ) async throws -> Certificate {
        let (file, key) = ("\(folder)/\(name).pem", known ?? "\(folder)/\(name).key")
        var words = [
            "req", "-x509", "-nodes", "-days", "3",
            "-subj", authority == nil ? "/CN=127.0.0.1" : "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1",
            "-out", file,
        ]
        words +=
            known == nil
            ? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", key] : ["-key", key]
        if let authority {
            words += ["-CA", authority.file, "-CAkey", authority.key]
        }
        if authority != nil || mayNotSign { words += ["-addext", "basicConstraints=critical,CA:FALSE"] }
        try await mustRun("openssl", words)
        let printed = try await mustRun("openssl", ["x509", "-in", file, "-noout", "-fingerprint", "-sha256"])
        let fingerprint = printed.split(separator: "=").last.map { String($0.prefix { $0 != "\n" }) } ?? ""
        return Certificate(file: file, key: key, fingerprint: fingerprint)
    }
}
