import CLinux
import Logging
import Model
import Threads

/// Asks the name server where services are (RFC 6764, section 3).
struct ServiceResolver: Sendable {
    /// Where a service is.
    struct Location: Hashable, Sendable {
        /// In lower case, without a closing dot.
        var host: String
        var port: Int
        /// What the TXT record names as the first path to ask; nil if there is none.
        var path: String?
    }

    /// The places of a service, the one to try first first; none if the name server has no answer.
    var locate: @Sendable (_ name: String) async -> [Location]

    static let system = ServiceResolver { name in
        // Each query waits a few seconds at most; a thread that may block does so.
        let answers = await runBlocking { (query(name, type: DNSAnswer.srv), query(name, type: DNSAnswer.txt)) }
        guard let services = answers.0?.services else { return [] }
        let path = answers.1?.texts.lazy.compactMap(Self.path).first
        return services.map { Location(host: $0.host, port: $0.port, path: path) }
    }

    /// RFC 6764, section 4: `path=/dav`.
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

extension Connection {
    /// The path where the name server says that a service of the account's own server is.
    func pathByName(_ service: DAVService, of account: ServerAddress) async -> ServerAddress? {
        var hosts = [account.origin.host]
        // An account named as a mail address: its domain knows its services.
        if let username = bookmark.username, let at = username.lastIndex(of: "@") {
            hosts.append(username[username.index(after: at)...].lowercased())
        }
        for host in hosts where Self.mayHaveRecords(host) {
            for location in await resolver.locate(service.dnsName(at: host, isTLS: account.origin.isTLS)) {
                guard location.host == account.origin.host, location.port == account.origin.port else {
                    logger.info(
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

    /// Whether a host is a name of the public kind: no address, and with a dot in it.
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
