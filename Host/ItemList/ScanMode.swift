package import Database
import LocalTree
package import Model

/// How a scan finds what changed.
package enum ScanMode: Equatable {
    /// The root's ETag first, then only folders whose ETag changed, and those that were left: the server's ETags tell of changes below.
    case byETags
    /// Every folder.
    case whole
    /// The folders that earlier scans left, and all below them.
    case rest

    /// Whether ETags are believed, and when everything was walked last: what is known of the account from earlier scans.
    package struct History: Equatable {
        /// A folder's ETag was once the same although something below it had changed.
        package var etagsWereWrong = false
        package var lastWholeWalk: Timestamp?
        /// When the walk over everything began that has folders left.
        package var openWalk: Timestamp?
        /// When a scan of either mode last finished.
        package var lastScan: Timestamp?

        /// Whether what an earlier walk over everything left is still worth going on with.
        package func goesOn(now: Timestamp) -> Bool { openWalk.map { isRecent($0, now) } ?? false }
    }

    /// Even where ETags tell, everything is walked this often, in case they do not; and no cut-off walk goes on for longer.
    package static let verification: Duration = .seconds(24 * 3600)
    /// After so long without a scan the server may have been restored from a backup.
    package static let longAbsence: Duration = .seconds(7 * 24 * 3600)

    package static func next(isOwnCloudFamily: Bool, history: History, now: Timestamp) -> ScanMode {
        let goesOn = history.goesOn(now: now)
        guard isOwnCloudFamily, !history.etagsWereWrong else { return goesOn ? .rest : .whole }
        // What a walk has not listed by its end is known as left, and what changed since then has another ETag.
        if goesOn { return .byETags }
        guard let lastWalk = history.lastWholeWalk, let lastScan = history.lastScan else { return .whole }
        return isRecent(lastWalk, now) && now - lastScan < longAbsence ? .byETags : .whole
    }
}

private func isRecent(_ walk: Timestamp, _ now: Timestamp) -> Bool {
    now >= walk && now - walk < ScanMode.verification
}

extension MetaKey {
    package static let etagsWereWrong = MetaKey("etagsWereWrong")
    package static let lastWholeWalk = MetaKey("lastWholeWalk")
    package static let openWalk = MetaKey("openWalk")
    package static let lastScan = MetaKey("lastScan")
}

extension DatabaseReads {
    /// Reads what earlier scans have left.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func scanHistory() throws -> ScanMode.History {
        ScanMode.History(
            etagsWereWrong: try meta.integer(.etagsWereWrong) == 1,
            lastWholeWalk: try meta.time(.lastWholeWalk),
            openWalk: try meta.time(.openWalk),
            lastScan: try meta.time(.lastScan))
    }
}

extension Transaction {
    /// A walk over everything begins: what an earlier scan left is part of it.
    /// - Parameter etagsTell: whether a later scan skips what this one has listed.
    /// - Returns: whether what it leaves is kept from the beginning: it is the first, and writes each folder anyway.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func beginWholeWalk(at time: Timestamp, etagsTell: Bool) throws -> Bool {
        for job in try scan.jobs() { try scan.removeJob(job.path) }
        guard try scanHistory().lastWholeWalk == nil else {
            try meta.clear(.openWalk)
            return false
        }
        // What an earlier walk listed is listed anew, also when this one is cut off before it comes there.
        if etagsTell { try items.forgetListings() }
        try scan.add(ScanJob(path: .root, isWhole: true))
        try openWalk(begun: time)
        return true
    }

    /// What a walk over everything has left is in the database.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func openWalk(begun time: Timestamp) throws { try meta.set(.openWalk, time) }

    /// A scan has listed all that it had to.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func endScan(_ mode: ScanMode, begun time: Timestamp) throws {
        try meta.set(.lastScan, time)
        if mode == .whole {
            try meta.set(.lastWholeWalk, time)
        } else if let began = try scanHistory().openWalk {
            try meta.set(.lastWholeWalk, began)
        }
        try meta.clear(.openWalk)
    }
}
