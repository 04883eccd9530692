import Crypto
public import Model
import NIOCore
import NIOSSL

/// How a server's certificate is judged.
public enum CertificateTrust {
    /// - Throws: what is wrong with the file of authorities.
    public static func check(_ trust: Bookmark.Trust) throws(ConnectionError) { _ = try configuration(for: trust) }

    static func configuration(for trust: Bookmark.Trust) throws(ConnectionError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        switch trust {
        case .system: break
        case .authorities(let file):
            do {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file))
            } catch {
                throw ConnectionError(
                    .badAddress, "the file of certificate authorities \(file) cannot be read as PEM",
                    hint: "tls.ca in the config names a file with one or more BEGIN CERTIFICATE blocks")
            }
        case .fingerprint:
            // Who signed it does not matter: `check` lets one certificate pass, on every connection.
            configuration.certificateVerification = .none
        }
        return configuration
    }

    /// Compares the leaf certificate's SHA-256 with the expected one; on a difference the connection is closed and never
    /// gets a request.
    static func check(_ expected: [UInt8], on channel: any Channel) -> EventLoopFuture<Void> {
        channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
            let found = try certificate.map { Array(SHA256.hash(data: try $0.toDERBytes())) }
            guard found == expected else {
                throw TransportError.certificate(
                    reason: "it does not have the fingerprint that the config names", fingerprint: found)
            }
        }.flatMapErrorThrowing { error in
            channel.close(promise: nil)
            // A connection without TLS has no certificate to ask for.
            throw (error as? TransportError) ?? TransportError.tls("the server's certificate could not be read")
        }
    }

    /// A fingerprint as `openssl x509 -fingerprint -sha256` prints it.
    static func text(_ fingerprint: [UInt8]) -> String {
        fingerprint.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }
}
