/// How far the loop of a calendar has come, as its event id says.
enum Position: Equatable {
    /// The server's sync-token.
    case synced(String)
    /// The same, after a delta without changes although the calendar's own token is another one.
    case stalled(String)
    /// A digest of the listing of a calendar without sync-tokens, and the calendar's ctag then.
    case listed(digest: String, ctag: String)
    /// The listing is to be compared with the records, `page` times so far, and then the loop is at `then`.
    indirect case comparing(page: Int, then: Position)

    /// A token stands for itself, unless it looks like one of the others.
    init(_ eventID: String) {
        if let rest = eventID.after("fetch:"), let colon = rest.firstIndex(of: ":"), let page = Int(rest[..<colon]) {
            self = .comparing(page: page, then: Position(String(rest[rest.index(after: colon)...])))
        } else if let rest = eventID.after("list:"), let colon = rest.firstIndex(of: ":") {
            self = .listed(digest: String(rest[..<colon]), ctag: String(rest[rest.index(after: colon)...]))
        } else if let rest = eventID.after("stall:") {
            self = .stalled(rest)
        } else {
            self = .synced(eventID.after("sync:") ?? eventID)
        }
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
    /// What follows a prefix, byte by byte; nil if it does not begin with it.
    fileprivate func after(_ prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...])
    }
}
