import Connection
public import Model

/// The certificate authorities by which servers' certificates are judged, checked before any request is sent.
public enum ServerTrust {
    /// Reads the file of certificate authorities, if the trust names one.
    /// - Parameter trust: The account's setting.
    /// - Throws: `.config` if the file does not exist or holds no certificate.
    public static func check(_ trust: Bookmark.Trust) throws(Failure) {
        do throws(ConnectionError) { try CertificateTrust.check(trust) } catch { throw error.failure }
    }

    /// Reads the account's own certificate and its key.
    /// - Throws: `.denied` if they cannot be used now.
    public static func check(_ client: Bookmark.ClientCertificate) throws(Failure) {
        do throws(ConnectionError) { try ClientIdentity.check(client, now: .now()) } catch { throw error.failure }
    }
}
