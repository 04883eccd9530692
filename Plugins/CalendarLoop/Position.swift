/// The position of a calendar's loop, which its event id encodes.
enum Position: Equatable {
    /// The server's sync-token.
    case synced(String)
    /// The server's sync-token, after a delta without changes although the calendar has another token.
    case stalled(String)
    /// A digest of the listing of a calendar without sync-tokens, and the calendar's ctag at that time.
    case listed(digest: String, ctag: String)
    /// A comparison of the listing with the records, of which `page` pages are done. After it the loop is at `then`.
    indirect case comparing(page: Int, then: Position)

    /// Decodes an event id. A token stands for itself, unless it looks like one of the other positions.
    init(_ eventID: String) {
        if let rest = eventID.after("fetch:"), let colon = rest.firstIndex(of: ":"), let page = Int(rest[..<colon]),
            (0...1_000_000).contains(page)
        {
            self = .comparing(page: page, then: Position(String(rest[rest.index(after: colon)...])))
        } else if let rest = eventID.after("list:"), let colon = rest.firstIndex(of: ":") {
            self = .listed(digest: String(rest[..<colon]), ctag: String(rest[rest.index(after: colon)...]))
        } else if let rest = eventID.after("stall:") {
            self = .stalled(rest)
        } else {
            self = .synced(eventID.after("sync:") ?? eventID)
        }
    }

    /// Tells whether a token is a number that may count from one, with any prefix.
    static func isNumber(_ token: String) -> Bool {
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        func isWord(_ byte: UInt8) -> Bool {
            byte >= 0x80 || isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        let end = token.utf8.lastIndex(where: isWord).map { token.utf8.index(after: $0) } ?? token.utf8.startIndex
        let word = token.utf8[..<end].reversed().prefix(while: isWord)
        return !word.isEmpty && word.count < 19 && word.allSatisfy(isDigit)
    }

    var eventID: String {
        switch self {
        case .synced(let token):
            ["fetch:", "list:", "stall:", "sync:"].contains { token.after($0) != nil } ? "sync:" + token : token
        case .stalled(let token): "stall:" + token
        case .listed(let digest, let ctag): "list:\(digest):\(ctag)"
        case .comparing(let page, let then): "fetch:\(page):\(then.eventID)"
        }
    }
}

extension String {
    /// Returns the text after a prefix, compared byte by byte, or nil if the text does not begin with it.
    fileprivate func after(_ prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...])
    }
}
