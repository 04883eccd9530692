import CCurl
import Synchronization

/// What a server's certificate says.
package struct ShownCertificate: Sendable {
    /// The certificate as DER.
    package var bytes: [UInt8]
    /// The public key as SubjectPublicKeyInfo.
    package var key: [UInt8]
    /// Seconds since 1970.
    package var validFrom: Int64
    package var validUntil: Int64
    /// Whether an authority that is trusted signed it, and it is valid now.
    package var isSigned: Bool

    init(_ read: ccurl_certificate) {
        bytes = Array(UnsafeBufferPointer(start: read.bytes, count: read.size))
        key = Array(UnsafeBufferPointer(start: read.key, count: read.key_size))
        (validFrom, validUntil, isSigned) = (read.valid_from, read.valid_until, read.is_signed)
    }

    /// Returns the certificates in a PEM file; nil if it has none, or something in it is none.
    package static func all(in file: String) -> [ShownCertificate]? {
        final class Found { var all: [ShownCertificate] = [] }
        let found = Found()
        let count = ccurl_certificates(
            file,
            { context, read in
                guard let context, let read else { return }
                Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().all.append(ShownCertificate(read.pointee))
            }, Unmanaged.passUnretained(found).toOpaque())
        return count < 0 ? nil : found.all
    }
}

/// Whom a client trusts, and how it shows who it is.
package final class ServerTrust: @unchecked Sendable {
    /// Returns the reason why a server with this certificate may not get requests; nil if it may.
    package typealias Judge = @Sendable (ShownCertificate) -> TransportError?

    /// What is wrong with an own certificate.
    package enum IdentityProblem: Error {
        case noCertificate, noKey, lockedKey, otherKey
    }

    private let trust: OpaquePointer
    private let judge: Judge
    private let last = Mutex<TransportError?>(nil)

    /// - Parameter judge: Decides about each new connection over TLS.
    package init(_ judge: @escaping Judge) {
        (trust, self.judge) = (ccurl_trust_new(), judge)
        ccurl_trust_judge(
            trust,
            { context, read in
                guard let context, let read else { return false }
                let trust = Unmanaged<ServerTrust>.fromOpaque(context).takeUnretainedValue()
                let problem = trust.judge(ShownCertificate(read.pointee))
                trust.last.withLock { $0 = problem }
                return problem == nil
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { ccurl_trust_free(trust) }

    /// Trusts the authorities in a PEM file alone. To be called before the first request.
    /// - Returns: Whether the file has any.
    package func setAuthorities(_ file: String) -> Bool { ccurl_trust_authorities(trust, file) }

    /// Shows a certificate to servers that ask for one. To be called before the first request.
    package func setIdentity(certificate: String, key: String) throws(IdentityProblem) {
        switch ccurl_trust_identity(trust, certificate, key) {
        case ccurl_identity_ok: return
        case ccurl_identity_no_certificate: throw .noCertificate
        case ccurl_identity_locked_key: throw .lockedKey
        case ccurl_identity_other_key: throw .otherKey
        default: throw .noKey
        }
    }

    func use(for handle: UnsafeMutableRawPointer) { ccurl_set_trust(handle, trust) }

    /// Whether the last server asked for a certificate, and there is none.
    var wasAskedForIdentity: Bool { ccurl_trust_was_asked(trust) }

    /// The reason why the last server was not trusted.
    var problem: TransportError? { last.withLock { $0 } }
}
