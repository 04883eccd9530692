/// Any request to the account's server.
public struct PlainRequest: Sendable {
    public var method: String
    /// A path with or without a query, percent-encoded, from the origin's root: `/ocs/v2.php/cloud/user?format=json`; or a whole
    /// address at the account's origin.
    public var target: String
    /// `Authorization`, `Host`, `Content-Length` and those of the connection are not the caller's.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// How long the server may take until its answer begins.
    public var timeLimit: Duration

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
