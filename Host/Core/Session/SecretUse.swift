import Model

/// The secrets that an account has used and may use.
struct SecretUse: Sendable {
    /// The secret that requests use.
    var current: AccountSecret
    /// A secret that was written since and is not in use yet.
    var offered: AccountSecret?
    /// The credentials that the server accepted last.
    var worked: Credentials?

    init(current: AccountSecret) { self.current = current }

    /// The newest known secret.
    var newest: AccountSecret { offered ?? current }

    /// Whether the server accepted exactly this secret before; nil if it accepted no secret since the start.
    var hasWorked: Bool? { worked.map { $0 == current.credentials } }
}

extension AccountSecret {
    /// Tells whether nothing was written anew.
    func isSame(as other: AccountSecret) -> Bool {
        credentials == other.credentials && writing == other.writing && proxyLogin == other.proxyLogin
    }
}
