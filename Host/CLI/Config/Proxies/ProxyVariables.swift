/// The environment variables that name proxies, read as curl reads them: `https_proxy`, `http_proxy`, `all_proxy` and
/// `no_proxy`, each also in upper case except `HTTP_PROXY`, which a web server may set for a program that it runs.
struct ProxyVariables {
    let environment: [String: String]

    /// Returns the variable that names the proxy for a server, and the variable's value; nil if there is no proxy.
    /// - Parameter url: the server's address, which begins with `https://` or `http://`.
    func proxy(for url: String) -> (variable: String, value: String)? {
        let isTLS = url.lowercased().hasPrefix("https")
        let names = isTLS ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        guard let found = first(of: names + ["all_proxy", "ALL_PROXY"]) else { return nil }
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let (host, port) = NetworkAddress.parts(rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
        let isExcepted = isExcepted(host.lowercased(), port: port.flatMap { Int($0) } ?? (isTLS ? 443 : 80))
        return isExcepted ? nil : found
    }

    /// Returns the first variable that is set. An empty one counts as not set.
    private func first(of names: [String]) -> (variable: String, value: String)? {
        for name in names { if let value = environment[name], !value.isEmpty { return (name, value) } }
        return nil
    }

    /// Tells whether `no_proxy` names a server. It lists, with commas or spaces between them, `*` for all servers,
    /// domains with all names below them, addresses, and networks like `10.0.0.0/8`; each may have a port.
    private func isExcepted(_ host: String, port: Int) -> Bool {
        guard let list = first(of: ["no_proxy", "NO_PROXY"])?.value.lowercased() else { return false }
        let host = host.hasSuffix(".") ? String(host.dropLast()) : host
        let address = NetworkAddress(host)
        return list.split { $0 == "," || $0.isWhitespace }.contains { entry in
            if entry == "*" { return true }
            // A colon in an address without brackets begins no port.
            let (name, only): (String, Substring?) =
                NetworkAddress(entry) == nil ? NetworkAddress.parts(entry) : (String(entry), nil)
            if let only, Int(only) != port { return false }
            if let address {
                let parts = name.split(separator: "/", maxSplits: 1)
                guard let first = parts.first, let network = NetworkAddress(first) else { return false }
                guard parts.count > 1 else { return network == address }
                return Int(parts[1]).map { address.has($0, of: network) } ?? false
            }
            let domain = (name.hasPrefix(".") ? name.dropFirst() : name[...])
            let plain = domain.hasSuffix(".") ? domain.dropLast() : domain
            return !plain.isEmpty && (host == plain || host.hasSuffix("." + plain))
        }
    }
}
