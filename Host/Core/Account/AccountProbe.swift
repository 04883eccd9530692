import Connection
public import Model

/// A try of an account that is not in the config yet. It has no vault and writes nothing.
public struct AccountProbe: Sendable {
    /// What a try found.
    public enum Finding: Sendable {
        /// The login works.
        case works(ServerReport?)
        /// This has to be approved before credentials are sent. The failure describes it.
        case asks(Approval, Failure)
        /// The server's certificate is not trusted.
        case distrusts(Failure)
        /// The account cannot be used.
        case fails(Failure)
    }

    private let bookmark: Bookmark
    private let secret: AccountSecret
    private let options: HostOptions

    /// Creates a probe. Sends nothing.
    /// - Parameters:
    ///   - bookmark: The account.
    ///   - secret: The account's secret.
    ///   - options: The process's options.
    public init(_ bookmark: Bookmark, _ secret: AccountSecret, options: HostOptions) {
        (self.bookmark, self.secret, self.options) = (bookmark, secret, options)
    }

    /// Connects to the server.
    /// - Parameter approvals: What was approved.
    /// - Returns: What was found, and the certificate that the server showed, if it showed one.
    public func connect(_ approvals: [Approval]) async -> (finding: Finding, certificate: ServerCertificate?) {
        let connection = options.connect(
            bookmark, secret, Limits(), options.bandwidth, options.clock, options.logger)
        connection.heed(Approvals(approved: approvals))
        let finding: Finding
        do throws(ConnectionError) {
            _ = try await connection.connect()
            finding = .works(connection.known.map(ServerReport.init))
        } catch {
            finding =
                error.kind == .certificate
                ? .distrusts(error.failure) : error.approval.map { .asks($0, error.failure) } ?? .fails(error.failure)
        }
        await connection.shutdown()
        return (finding, connection.certificate)
    }
}
