import Model
import Storage

/// How a scan finds what changed.
enum ScanMode: Equatable {
    /// The root's ETag first, then only folders whose ETag changed: the server's ETags tell of changes below.
    case byETags
    /// Every folder.
    case whole

    /// Whether ETags are believed, and when everything was walked last: what is known of the account from earlier scans.
    struct History: Equatable {
        /// A folder's ETag was once the same although something below it had changed.
        var etagsWereWrong = false
        var lastWholeWalk: Timestamp?
        /// When the walk began that lists everything for the first time, if that can go on where it was cut off.
        var firstWalk: Timestamp?
        /// When a scan of either mode last finished.
        var lastScan: Timestamp?
    }

    /// Even where ETags tell, everything is walked this often, in case they do not.
    static let verification: Duration = .seconds(24 * 3600)
    /// After so long without a scan the server may have been restored from a backup.
    static let longAbsence: Duration = .seconds(7 * 24 * 3600)

    static func next(isOwnCloudFamily: Bool, history: History, now: Timestamp) -> ScanMode {
        guard isOwnCloudFamily, !history.etagsWereWrong else { return .whole }
        guard let lastWalk = history.lastWholeWalk, let lastScan = history.lastScan else {
            // What a first walk has not listed by its end is known as left, and what changed since then has another ETag.
            return history.firstWalk.map { isRecent($0, now) } ?? false ? .byETags : .whole
        }
        return isRecent(lastWalk, now) && now - lastScan < longAbsence ? .byETags : .whole
    }

    private static func isRecent(_ walk: Timestamp, _ now: Timestamp) -> Bool {
        now >= walk && now - walk < verification
    }
}

extension MetaKey {
    static let etagsWereWrong = MetaKey("etagsWereWrong")
    static let lastWholeWalk = MetaKey("lastWholeWalk")
    static let firstWalk = MetaKey("firstWalk")
    static let lastScan = MetaKey("lastScan")
}

extension DatabaseReads {
    func scanHistory() throws -> ScanMode.History {
        ScanMode.History(
            etagsWereWrong: try metaInteger(.etagsWereWrong) == 1,
            lastWholeWalk: try metaInteger(.lastWholeWalk).map(Timestamp.init(nanoseconds:)),
            firstWalk: try metaInteger(.firstWalk).map(Timestamp.init(nanoseconds:)),
            lastScan: try metaInteger(.lastScan).map(Timestamp.init(nanoseconds:)))
    }
}

extension Transaction {
    /// A walk over everything begins: what an earlier scan left is part of it.
    /// - Parameter etagsTell: whether it can go on where it was cut off, should it be the first.
    /// - Returns: whether it can.
    func beginWholeWalk(at time: Timestamp, etagsTell: Bool) throws -> Bool {
        for job in try scanJobs() { try removeScanJob(job.path) }
        let goesOn = try etagsTell && scanHistory().lastWholeWalk == nil
        // What an earlier walk listed is listed anew, also when this one is cut off before it comes there.
        if goesOn { try forgetListings() }
        try setMeta(.firstWalk, goesOn ? .integer(time.nanoseconds) : .null)
        return goesOn
    }

    /// A scan has listed all that it had to.
    func endScan(_ mode: ScanMode, begun time: Timestamp) throws {
        try setMeta(.lastScan, .integer(time.nanoseconds))
        let history = try scanHistory()
        if mode == .whole {
            try setMeta(.lastWholeWalk, .integer(time.nanoseconds))
        } else if history.lastWholeWalk == nil, let began = history.firstWalk {
            try setMeta(.lastWholeWalk, .integer(began.nanoseconds))
        }
    }
}
