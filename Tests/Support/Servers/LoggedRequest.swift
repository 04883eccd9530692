/// A request, read from a line of a server's access log.
public struct LoggedRequest: Hashable, Sendable {
    public var method: String
    /// The decoded path, without percent-encoding, as in the server's tree.
    public var path: String
    public var status: Int
    /// The number of bytes of the answer's body that were sent.
    public var bytes: Int
    /// The request's `Range` field.
    public var range: String?

    /// Reads a line in the log format that `Apache` configures: `STATUS BYTES "RANGE" "METHOD TARGET VERSION"`.
    init?(line: some StringProtocol) {
        let quoted = line.split(separator: "\"", omittingEmptySubsequences: false)
        guard quoted.count == 5 else { return nil }
        let numbers = quoted[0].split(separator: " ").compactMap { Int($0) }
        let request = quoted[3].split(separator: " ")
        guard numbers.count == 2, request.count == 3 else { return nil }
        (status, bytes) = (numbers[0], numbers[1])
        method = String(request[0])
        path = Self.decoded(request[1].prefix { $0 != "?" })
        range = quoted[1] == "-" ? nil : String(quoted[1])
    }

    /// - Parameter target: the request's target, percent-encoded.
    init(method: String, target: some StringProtocol, status: Int) {
        (self.method, self.status, bytes) = (method, status, 0)
        path = Self.decoded(target.prefix { $0 != "?" })
    }

    /// Returns a path without its percent-encoding.
    public static func decoded(_ target: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(target.utf8)[...]
        while let first = rest.popFirst() {
            if first == UInt8(ascii: "%"), rest.count >= 2,
                let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(byte)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(first)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Sequence<LoggedRequest> {
    /// Returns the paths of the requests with a method, in the order in which their answers ended.
    public func paths(of method: String) -> [String] { filter { $0.method == method }.map(\.path) }
}
