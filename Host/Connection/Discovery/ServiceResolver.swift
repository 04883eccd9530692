import CLinux
import Logging
import Model
import Threads

/// A resolver that asks the name server for the addresses of services (RFC 6764, section 3).
struct ServiceResolver: Sendable {
    /// The address of a service.
    struct Location: Hashable, Sendable {
        /// The host's name, in lower case and without a closing dot.
        var host: String
        var port: Int
        /// The path in the TXT record, to be asked first; nil if there is none.
        var path: String?
    }

    /// Returns the addresses of a service in the order in which to try them; empty if the name server has no answer.
    var locate: @Sendable (_ name: String) async -> [Location]

    static let system = ServiceResolver { name in
        // Each query waits for a few seconds at most, on a thread that may block.
        let answers = await runBlocking { (query(name, type: DNSAnswer.srv), query(name, type: DNSAnswer.txt)) }
        guard let services = answers.0?.services else { return [] }
        let path = answers.1?.texts.lazy.compactMap(Self.path).first
        return services.map { Location(host: $0.host, port: $0.port, path: path) }
    }

    /// Returns the path in a TXT record such as `path=/dav` (RFC 6764, section 4).
    static func path(_ text: String) -> String? {
        guard text.lowercased().hasPrefix("path=/") else { return nil }
        return String(text.dropFirst("path=".count))
    }

    private static func query(_ name: String, type: UInt16) -> DNSAnswer? {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let length = linux_query_name(name, CInt(type), 2, &bytes, bytes.count)
        guard length > 0, length <= bytes.count else { return nil }
        return DNSAnswer(bytes[..<Int(length)])
    }
}

extension LoopRequests {
    /// Returns the path that the name server tells for a service of the account's own server; nil if there is none.
    /// With a proxy no name is looked up here: this network may not know the name, or may not be meant to hear it.
    func pathByName(_ service: DAVService, of account: ServerAddress) async -> ServerAddress? {
        guard wire.bookmark.proxy == nil else { return nil }
        var hosts = [account.origin.host]
        // If the username is a mail address, its domain may have records about its services.
        if let username = wire.bookmark.username, let at = username.lastIndex(of: "@") {
            hosts.append(username[username.index(after: at)...].lowercased())
        }
        for host in hosts where Self.mayHaveRecords(host) {
            for location in await resolver.locate(service.dnsName(at: host, isTLS: account.origin.isTLS)) {
                guard location.host == account.origin.host, location.port == account.origin.port else {
                    wire.logger.info(
                        "the name server names another server than the account's",
                        metadata: ["service": "\(service)", "host": "\(location.host)", "port": "\(location.port)"])
                    continue
                }
                guard let path = location.path else { continue }
                do { return try target(path) } catch { continue }
            }
        }
        return nil
    }

    /// Tells whether a host has a public name: not an address, and with a dot in the name.
    private static func mayHaveRecords(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last?.utf8, last.contains(where: { !(0x30...0x39).contains($0) })
        else {
            return false
        }
        let isName = host.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) || $0 == 0x2d || $0 == 0x2e || $0 == 0x5f
        }
        return isName && labels.allSatisfy { (1...63).contains($0.utf8.count) } && !host.hasSuffix(".localhost")
    }
}
