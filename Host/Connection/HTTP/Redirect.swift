import NIOHTTP1

/// Where an answer sends a request, if anywhere.
enum Redirect {
    /// The most redirects that one request follows.
    static let limit = 5

    /// The next address, on the same origin.
    /// - Returns: nil if the answer is no redirect.
    /// - Throws: the address that is refused, if it is another origin's or none.
    static func target(
        of status: Int, _ headers: HTTPHeaders, from address: ServerAddress
    ) throws(ConnectionError) -> ServerAddress? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        guard let location = headers.first(name: "Location") else {
            throw ConnectionError(
                .protocolViolation, "\(address.origin) answered \(status) without saying where to", status: status)
        }
        let target: ServerAddress
        do { target = try address.resolving(location) } catch {
            throw ConnectionError(
                .redirectRefused,
                "\(address.origin) redirects to \(PercentCoding.printable(String(location.prefix { $0 != "?" }))), which is no address",
                hint: "check the account's url", status: status)
        }
        guard target.origin == address.origin else {
            throw ConnectionError(
                .redirectRefused,
                "\(address.origin) redirects to \(target.withoutQuery), another server: nothing was sent there",
                hint: "if that is the right one, set the account's url to it", status: status)
        }
        return target
    }
}
