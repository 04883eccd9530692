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
        var reader = Reader(bytes: Array(message))
        guard reader.bytes.count >= 12, reader.bytes[2] & 0x80 != 0, reader.bytes[3] & 0x0f == 0 else { return nil }
        reader.position = 4
        guard let questions = reader.number(), let answers = reader.number() else { return nil }
        reader.position = 12
        for _ in 0..<questions {
            guard reader.name() != nil, reader.skip(4) else { return nil }
        }
        for _ in 0..<answers {
            guard reader.name() != nil, let type = reader.number(), reader.skip(6), let length = reader.number() else {
                return nil
            }
            let end = reader.position + Int(length)
            guard end <= reader.bytes.count else { return nil }
            if type == Self.srv {
                guard let service = reader.service() else { return nil }
                // A record with the root as its name says that there is no such service here.
                if !service.host.isEmpty { services.append(service) }
            } else if type == Self.txt {
                guard let text = reader.text(until: end) else { return nil }
                texts.append(text)
            }
            reader.position = end
        }
        services.sort { ($0.priority, $1.weight) < ($1.priority, $0.weight) }
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        mutating func skip(_ count: Int) -> Bool {
            position += count
            return position <= bytes.count
        }

        mutating func number() -> UInt16? {
            guard position + 2 <= bytes.count else { return nil }
            defer { position += 2 }
            return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
        }

        mutating func service() -> Service? {
            guard let priority = number(), let weight = number(), let port = number(), let host = name() else {
                return nil
            }
            return Service(priority: priority, weight: weight, port: Int(port), host: host)
        }

        /// Reads a name. The rest of a name may stand at an earlier position of the message.
        mutating func name() -> String? {
            var labels: [String] = []
            var length = 0
            var at = position
            var hasJumped = false
            while at < bytes.count {
                let count = Int(bytes[at])
                if count & 0xc0 == 0xc0 {
                    guard at + 1 < bytes.count else { return nil }
                    let target = (count & 0x3f) << 8 | Int(bytes[at + 1])
                    if !hasJumped { position = at + 2 }
                    hasJumped = true
                    // Jumps go only backwards, so the loop ends.
                    guard target < at else { return nil }
                    at = target
                    continue
                }
                guard count < 64, at + 1 + count <= bytes.count else { return nil }
                if count == 0 {
                    if !hasJumped { position = at + 1 }
                    return labels.joined(separator: ".").lowercased()
                }
                length += count + 1
                guard length <= 255 else { return nil }
                labels.append(String(decoding: bytes[(at + 1)...(at + count)], as: UTF8.self))
                at += 1 + count
            }
            return nil
        }

        /// Reads the pieces of a text and joins them.
        mutating func text(until end: Int) -> String? {
            var text: [UInt8] = []
            while position < end {
                let next = position + 1 + Int(bytes[position])
                guard next <= end else { return nil }
                text += bytes[(position + 1)..<next]
                position = next
            }
            return String(decoding: text, as: UTF8.self)
        }
    }
}
