import NIOHTTP1

/// The rules of redirects.
enum Redirect {
    /// The largest number of redirects that one request follows.
    static let limit = 5

    /// Returns the address to which an answer redirects, on the same origin.
    /// - Returns: nil if the answer is not a redirect.
    /// - Throws: `redirectRefused` if the target is at another origin or is not an address; `protocolViolation` if the
    ///   answer names no target.
    static func target(
        of status: Int, _ headers: HTTPHeaders, from address: ServerAddress
    ) throws(ConnectionError) -> ServerAddress? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        guard let location = headers.first(name: "Location") else {
            throw ConnectionError(
                .protocolViolation, "\(address.origin) answered \(status) without an address to go to", status: status)
        }
        let target: ServerAddress
        do { target = try address.resolving(location) } catch {
            throw ConnectionError(
                .redirectRefused,
                "\(address.origin) redirects to \(PercentCoding.printable(String(location.prefix { $0 != "?" }))), "
                    + "which is not an address",
                hint: "check the account's url", status: status)
        }
        guard target.origin == address.origin else {
            throw ConnectionError(
                .redirectRefused,
                "\(address.origin) redirects to \(target.withoutQuery) on another server: nothing was sent there",
                hint: "if that is the right server, set the account's url to it", status: status)
        }
        return target
    }
}
