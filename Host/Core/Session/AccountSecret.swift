public import Model

/// An account's secret as its source has it now.
public struct AccountSecret: Sendable {
    /// The credentials.
    public var credentials: Credentials
    /// The identity of the last write of the secret's source, such as a file's inode and time; nil if the source has
    /// none. It reveals nothing of the secret.
    public var writing: String?
    /// The login for the account's proxy, if it needs one.
    public var proxyLogin: ProxyLogin?

    /// Creates a secret.
    public init(_ credentials: Credentials, writing: String? = nil, proxyLogin: ProxyLogin? = nil) {
        self.credentials = credentials
        self.proxyLogin = proxyLogin
        self.writing = writing
    }
}

/// A function that reads an account's secret. It is called at the start, and again after the server has rejected the
/// secret.
public typealias CredentialsSource = @Sendable () async throws(Failure) -> AccountSecret
