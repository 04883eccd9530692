import LarderSDK

/// The account's calendars, as CalDAV lists them (RFC 4791).
struct CalendarSource {
    private let discover: Host.Discover
    private let dav: Host.DAV
    /// The calendar homes, and the time since when they are known.
    private var homes: (paths: [String], at: Int64)?
    private var notOffered: Int64?
    /// The path in front of the server's own paths: `/nextcloud`.
    private(set) var base = ""
    /// The quota in the last listing, if a home has one (RFC 4331).
    private(set) var quota: Quota?

    init(discover: Host.Discover, dav: Host.DAV) {
        self.discover = discover
        self.dav = dav
    }

    mutating func list(_ now: Int64, _ records: Host.Records) -> Outcome {
        do throws(PluginError) {
            guard var paths = try find(now, records) else { return .notOffered }
            if let found = try list(paths, records) { return .found(found) }
            homes = nil
            // The homes may have moved since they were found, which may be before this plugin started.
            if let again = try find(now, records) {
                paths = again
                if let found = try list(paths, records) { return .found(found) }
                homes = nil
            }
            throw PluginError(
                .io, "the server named the calendar home \(paths.joined(separator: ", ")) but does not find it")
        } catch {
            // The known calendars stay, and the next poll asks again.
            return error.status == .notFound ? .unknown : .failed(error)
        }
    }

    /// Returns the calendar homes, or nil if the server has no calendars. It asks the server once a day.
    private mutating func find(_ now: Int64, _ records: Host.Records) throws(PluginError) -> [String]? {
        if let homes, !Optional(homes.at).isDayBefore(now) { return homes.paths }
        if !notOffered.isDayBefore(now) { return nil }
        do throws(PluginError) {
            let found = try discover.calendarHomes()
            var seen: Set<[UInt8]> = []
            let paths = found.homes.map(\.asFolder).filter { seen.insert(Array($0.utf8)).inserted }
            homes = (paths, now)
            notOffered = nil
            base = Self.base(of: found.principal) ?? paths.compactMap(Self.base).first ?? ""
            return paths
        } catch {
            guard error.status == .unsupported else { throw error }
            // If there were calendars, a server without calendars is not believed.
            var known = try records.all(in: "calendars", [])
            if try known.next() != nil {
                throw PluginError(.io, "the server no longer shows its calendars: the known calendars stay as they are")
            }
            notOffered = now
            return nil
        }
    }

    private static func base(of path: String) -> String? {
        let parts = path.split(separator: "/remote.php/", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[0]) : nil
    }

    /// Returns the calendars of all homes, or nil if one of the homes does not exist.
    private mutating func list(_ paths: [String], _ records: Host.Records) throws(PluginError) -> Found? {
        let properties = Array(try CalendarListing.Marks(known: records).properties)
        var found = Found(collection: "calendars", records: [], isAll: true)
        quota = nil
        for home in paths {
            var answer = try dav.propfind(home, depth: 1, properties)
            var isComplete = false
            while let response = try answer.next() {
                let listing = CalendarListing(response)
                if listing.path.utf8.elementsEqual(home.utf8), response.status == 200 {
                    isComplete = true
                    quota = quota ?? listing.quota
                }
                guard listing.path.utf8.count <= 4096 else { continue }
                if response.status != 200 {
                    found.unknown.insert(Array(listing.path.utf8))
                } else if let record = listing.record {
                    found.records.append(record)
                }
            }
            let end = try answer.end()
            switch answer.status {
            case 207: break
            case 404, 410: return nil
            case 401:
                throw PluginError(
                    .denied, "the server does not accept this account's password for the calendars in \(home)")
            case 403: throw PluginError(.denied, "the server does not let this account list the calendars in \(home)")
            default: throw PluginError(.io, "the server answered \(answer.status) for the calendars in \(home)")
            }
            guard isComplete, !end.isTruncated else {
                throw PluginError(.io, "the listing of the calendars in \(home) is not complete")
            }
        }
        return found
    }
}

/// The room of an account, in bytes.
struct Quota {
    var used: Int64?
    var available: Int64?
}

extension String {
    /// The path with a closing slash.
    var asFolder: String { utf8.last == UInt8(ascii: "/") ? self : self + "/" }
}
