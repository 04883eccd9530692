/// A request of any kind to the account's server.
public struct PlainRequest: Sendable {
    /// The method.
    public var method: String
    /// A percent-encoded path from the origin's root, with or without a query: `/ocs/v2.php/cloud/user?format=json`. Or
    /// a whole URL at the account's origin.
    public var target: String
    /// The headers. The caller may not set `Authorization`, `Host`, `Content-Length` and the headers of the connection.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: [UInt8]
    /// The time that the server may take until its answer begins.
    public var timeLimit: Duration

    /// Creates a request.
    public init(
        _ method: String = "GET", _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeLimit: Duration = .seconds(60)
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.timeLimit = timeLimit
    }
}
