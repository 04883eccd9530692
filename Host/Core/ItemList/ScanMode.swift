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
        /// When a scan of either mode last finished.
        var lastScan: Timestamp?
    }

    /// Even where ETags tell, everything is walked this often, in case they do not.
    static let verification: Duration = .seconds(24 * 3600)
    /// After so long without a scan the server may have been restored from a backup.
    static let longAbsence: Duration = .seconds(7 * 24 * 3600)

    static func next(isOwnCloudFamily: Bool, history: History, now: Timestamp) -> ScanMode {
        guard isOwnCloudFamily, !history.etagsWereWrong, let lastWalk = history.lastWholeWalk,
            let lastScan = history.lastScan
        else { return .whole }
        if now - lastWalk >= verification || now - lastScan >= longAbsence || now < lastWalk { return .whole }
        return .byETags
    }
}

extension MetaKey {
    static let etagsWereWrong = MetaKey("etagsWereWrong")
    static let lastWholeWalk = MetaKey("lastWholeWalk")
    static let lastScan = MetaKey("lastScan")
}

extension DatabaseReads {
    func scanHistory() throws -> ScanMode.History {
        ScanMode.History(
            etagsWereWrong: try metaInteger(.etagsWereWrong) == 1,
            lastWholeWalk: try metaInteger(.lastWholeWalk).map(Timestamp.init(nanoseconds:)),
            lastScan: try metaInteger(.lastScan).map(Timestamp.init(nanoseconds:)))
    }
}
