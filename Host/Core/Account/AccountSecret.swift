public import Model

/// An account's secret as its source has it now.
public struct AccountSecret: Sendable {
    public var credentials: Credentials
    /// Which writing of its source this is, such as a file's inode and time; nil: the source does not tell. Nothing of the secret is in
    /// it.
    public var writing: String?

    public init(_ credentials: Credentials, writing: String? = nil) {
        self.credentials = credentials
        self.writing = writing
    }
}

/// Reads an account's secret; asked at the start, and again after the server has refused it.
public typealias CredentialsSource = @Sendable () async throws(Failure) -> AccountSecret
