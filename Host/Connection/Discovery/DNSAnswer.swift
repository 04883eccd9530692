import CLinux

/// The records about services in a name server's answer (RFC 1035, section 4; RFC 2782).
struct DNSAnswer: Equatable {
    static let txt: UInt16 = 16
    static let srv: UInt16 = 33

    struct Service: Equatable {
        var priority: UInt16
        var weight: UInt16
        var port: Int
        /// The host's name, in lower case and without a closing dot.
        var host: String
    }

    /// The services in the order in which to try them: by ascending priority, then by descending weight.
    private(set) var services: [Service] = []
    private(set) var texts: [String] = []

    /// Reads a message.
    /// - Returns: nil if the message is not an answer or cannot be read.
    init?(_ message: some Sequence<UInt8>) {
        let bytes = Array(message)
        // No record is shorter than eleven bytes.
        var records = [linux_name_record](repeating: linux_name_record(), count: bytes.count / 11)
        let count = linux_read_answer(bytes, bytes.count, &records, records.count)
        guard count >= 0 else { return nil }
        for record in records[..<Int(count)] {
            if record.type == Self.srv {
                guard let host = Self.name(record, in: bytes) else { return nil }
                // A record with the root as its name says that there is no such service here.
                guard !host.isEmpty else { continue }
                services.append(
                    Service(
                        priority: record.priority, weight: record.weight, port: Int(record.port), host: host))
            } else {
                guard let text = Self.text(bytes[record.start..<record.start + record.length]) else { return nil }
                texts.append(text)
            }
        }
        services.sort { ($0.priority, $1.weight) < ($1.priority, $0.weight) }
    }

    /// The largest length of a name as text, with the null at its end (`NS_MAXDNAME`).
    private static let longestName = 1_025

    private static func name(_ record: linux_name_record, in bytes: [UInt8]) -> String? {
        var name = [UInt8](repeating: 0, count: longestName)
        guard linux_read_name(bytes, record.start, record.length, &name, name.count) == 0 else { return nil }
        let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        return text == "." ? "" : text.lowercased()
    }

    /// Reads the pieces of a text and joins them.
    private static func text(_ data: ArraySlice<UInt8>) -> String? {
        var (text, rest) = ([UInt8](), data)
        while let length = rest.popFirst() {
            guard length <= rest.count else { return nil }
            text += rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
