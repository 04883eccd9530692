import Connection
public import Model

/// What servers' certificates are judged by, before a server is asked.
public enum ServerTrust {
    /// Reads the file of certificate authorities, if the trust is in one.
    /// - Throws: `config` if it is not there or has none.
    public static func check(_ trust: Bookmark.Trust) throws(Failure) {
        do throws(ConnectionError) { try CertificateTrust.check(trust) } catch { throw error.failure }
    }
}
