import GRDB
import Model

/// The conversion between a claim's validity and its column.
extension ClaimValidity {
    /// The number of levels to which groups may be nested.
    private static let deepest = 16

    /// Whether ``read(_:in:depth:)`` can read what ``json`` writes.
    var isReadable: Bool { isReadable(depth: 0) }

    private func isReadable(depth: Int) -> Bool {
        guard depth < Self.deepest else { return false }
        return switch self {
        case .explicit, .until, .process: true
        case .all(let members), .any(let members): members.allSatisfy { $0.isReadable(depth: depth + 1) }
        case .not(let other): other.isReadable(depth: depth + 1)
        }
    }

    var json: String {
        switch self {
        case .explicit: "{}"
        case .until(let time): #"{"until":\#(time.nanoseconds)}"#
        case .process(let process): #"{"process":[\#(process.pid),"\#(process.started)","\#(process.boot)"]}"#
        case .all(let members): #"{"all":[\#(members.map(\.json).joined(separator: ","))]}"#
        case .any(let members): #"{"any":[\#(members.map(\.json).joined(separator: ","))]}"#
        case .not(let other): #"{"not":\#(other.json)}"#
        }
    }

    /// Reads what ``json`` wrote. SQLite parses the JSON.
    /// - Returns: Nil if the text makes no sense.
    static func read(_ json: String, in db: GRDB.Database, depth: Int = 0) throws -> ClaimValidity? {
        guard depth < deepest else { return nil }
        let members = try parts(of: json, in: db)
        guard let member = members.first else { return .explicit }
        switch (members.count, member.key) {
        case (1, "until"): return Int64(member.value).map { .until(Timestamp(nanoseconds: $0)) }
        case (1, "process"):
            let parts = try parts(of: member.value, in: db).map(\.value)
            guard parts.count == 3, let pid = Int32(parts[0]), let started = UInt64(parts[1]) else { return nil }
            return .process(ProcessIdentity(pid: pid, started: started, boot: parts[2]))
        case (1, "all"): return try list(member.value, in: db, depth).map(ClaimValidity.all)
        case (1, "any"): return try list(member.value, in: db, depth).map(ClaimValidity.any)
        case (1, "not"): return try read(member.value, in: db, depth: depth + 1).map(ClaimValidity.not)
        default: return nil
        }
    }

    private static func list(_ json: String, in db: GRDB.Database, _ depth: Int) throws -> [ClaimValidity]? {
        let parts = try parts(of: json, in: db)
        let members = try parts.compactMap { try read($0.value, in: db, depth: depth + 1) }
        return members.count == parts.count ? members : nil
    }

    private static func parts(of json: String, in db: GRDB.Database) throws -> [(key: String, value: String)] {
        // The statement is not cached, since one is stepped while another is read.
        let statement = try RawStatement(db, "SELECT key, value FROM json_each(?)", isCached: false)
        defer { statement.reset() }
        statement.bind(1, json)
        var parts: [(String, String)] = []
        while try statement.step() { parts.append((statement.text(0) ?? "", statement.text(1) ?? "")) }
        return parts
    }
}
