import Model
import Transfer

/// The rules of redirects.
enum Redirect {
    /// The largest number of redirects that one request follows.
    static let limit = 5

    /// Returns the error for a redirect of a request that changes something. These statuses let a client repeat it as a
    /// GET.
    static func notFollowed(_ status: Int, from address: ServerAddress, doing: String) -> ConnectionError {
        ConnectionError(
            .redirectRefused,
            "\(address.withoutQuery) answered \(status) while \(doing), a redirect that is not followed where something is "
                + "changed",
            hint: "check the account's url; a login page or a proxy may be in between", status: status)
    }

    /// Tells whether an answer redirects to the same address with a closing slash.
    static func addsSlash(
        _ status: Int, _ headers: HTTPHeaders, from address: ServerAddress
    ) throws(ConnectionError) -> Bool {
        guard let target = try target(of: status, headers, from: address) else { return false }
        return target.path != address.path && target.path == address.asFolder.path
    }

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
            var error = ConnectionError(
                .redirectRefused,
                "\(address.origin) redirects to \(target.withoutQuery) on another server: nothing was sent there",
                hint: "if that is the right server, set the account's url to it", status: status)
            error.redirect = ElsewhereRedirect(from: address, to: target)
            throw error
        }
        return target
    }
}

/// A redirect of a folder to another server, which a person may approve.
struct ElsewhereRedirect: Hashable, Sendable {
    /// The address of the folder that is redirected.
    let from: ServerAddress
    /// The address to which the folder is redirected.
    let to: ServerAddress

    /// Creates the redirect of the folder of which an answer's redirect shows a part: the names at the end that both
    /// addresses have are left out.
    /// - Returns: nil if the redirect leads from TLS to an address without TLS, or if it is not the redirect of a whole
    ///   folder, as of a page that asks for a login.
    init?(from address: ServerAddress, to target: ServerAddress) {
        guard target.origin.isTLS || !address.origin.isTLS else { return nil }
        var (from, to) = (Self.names(of: address.path), Self.names(of: target.path))
        while let name = from.last, name == to.last {
            from.removeLast()
            to.removeLast()
        }
        guard from.last?.hasSuffix("/") ?? true else { return nil }
        self.from = ServerAddress(origin: address.origin, path: "/" + from.joined())
        self.to = ServerAddress(origin: target.origin, path: "/" + to.joined()).asFolder
    }

    /// Returns the names of a path, each with the slash that follows it.
    private static func names(of path: String) -> [String] {
        var names = path.split(separator: "/").map { "\($0)/" }
        if !path.hasSuffix("/"), let last = names.popLast() { names.append(String(last.dropLast())) }
        return names
    }

    /// Reads the redirect that an approval is about; nil for an approval of another kind.
    init?(_ approval: Approval) {
        let parts = approval.subject.split(separator: " ")
        guard approval.kind == .redirect, parts.count == 2, let from = try? ServerAddress(String(parts[0])),
            let to = try? ServerAddress(String(parts[1]))
        else { return nil }
        (self.from, self.to) = (from, to)
    }

    /// Returns the address to which an address is redirected; nil if it does not lie in the redirected folder.
    func target(of address: ServerAddress) -> ServerAddress? {
        guard address.origin == from.origin, address.path.utf8.starts(with: from.path.utf8) else { return nil }
        let rest = address.path.utf8.dropFirst(from.path.utf8.count)
        return ServerAddress(origin: to.origin, path: to.path + String(decoding: rest, as: UTF8.self))
    }
}
