import LarderSDK

/// The account's calendars, as CalDAV lists them (RFC 4791).
struct CalendarSource {
    private let discover: Host.Discover
    private let dav: Host.DAV
    /// Where the calendars are, and since when this is known.
    private var homes: (paths: [String], at: Int64)?
    private var notOffered: Int64?
    /// What is in front of the server's own paths: `/nextcloud`.
    private(set) var base = ""
    /// Of the last listing, where a home has one (RFC 4331).
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
            // The homes may have moved since they were found, which may be longer ago than this plugin runs.
            if let again = try find(now, records) {
                paths = again
                if let found = try list(paths, records) { return .found(found) }
                homes = nil
            }
            throw PluginError(
                .io, "the server does not find the calendar home \(paths.joined(separator: ", ")) that it named")
        } catch {
            // What is known stays, and the next poll asks again.
            return error.status == .notFound ? .unknown : .failed(error)
        }
    }

    /// The homes; nil: the server has no calendars. Asked once a day.
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
            // Where there were calendars, their absence is no news to believe.
            var known = try records.all(in: "calendars", [])
            if try known.next() != nil {
                throw PluginError(.io, "the server does not show its calendars any more: what is known of them stays")
            }
            notOffered = now
            return nil
        }
    }

    private static func base(of path: String) -> String? {
        let parts = path.split(separator: "/remote.php/", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[0]) : nil
    }

    /// All homes' calendars; nil if one of them is not there.
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
                    .denied, "the server does not take this account's password for the calendars in \(home)")
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

/// How much room an account has, in bytes.
struct Quota {
    var used: Int64?
    var available: Int64?
}

extension String {
    /// With a slash at its end.
    var asFolder: String { utf8.last == UInt8(ascii: "/") ? self : self + "/" }
}
