import Model
import Synchronization

/// A person's answers about an account's server, as requests and the network heed them. It may be used from any thread.
final class ApprovalBook: Sendable {
    private let url: String
    /// The answers; nil for a connection that needs no approval, except for a pinned key.
    private let answers: Mutex<Approvals?>
    private let seen = Mutex<ServerCertificate?>(nil)

    init(url: String) {
        self.url = url
        answers = Mutex(nil)
    }

    func heed(_ approvals: Approvals) { answers.withLock { $0 = approvals } }

    /// Returns the address to which the approved redirects lead.
    func target(of address: ServerAddress) -> ServerAddress {
        let redirects = answers.withLock { $0?.approved ?? [] }.compactMap(ElsewhereRedirect.init)
        var address = address
        for _ in 0..<Redirect.limit {
            guard let next = redirects.lazy.compactMap({ $0.target(of: address) }).first else { break }
            address = next
        }
        return address
    }

    /// Checks that something was approved.
    /// - Throws: `unapproved`, with the question and whether it was rejected.
    func check(_ approval: Approval) throws(ConnectionError) {
        let (isApproved, isRejected) = answers.withLock { answers in
            (
                answers.map { $0.approved.contains(approval) } ?? (approval.kind != .key),
                answers?.rejected.contains(approval) ?? false
            )
        }
        if !isApproved { throw ConnectionError(approval, isRejected: isRejected) }
    }

    /// Tells whether a server with this public key may get requests.
    func accepts(key: [UInt8]) -> Bool {
        guard let address = try? ServerAddress(url) else { return false }
        do throws(ConnectionError) { try check(.key(key, of: target(of: address).origin)) } catch { return false }
        return true
    }

    /// The certificate that the server showed last; nil if none was read.
    var certificate: ServerCertificate? {
        get { seen.withLock { $0 } }
        set { seen.withLock { $0 = newValue } }
    }
}
