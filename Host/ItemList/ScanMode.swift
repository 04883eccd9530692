package import Database
import LocalTree
package import Model

/// The way in which a scan finds changes.
package enum ScanMode: Equatable {
    /// A scan that checks the root's ETag first, then lists only the folders whose ETag changed and those that were
    /// left. It requires ETags that tell of changes below.
    case byETags
    /// A walk over every folder.
    case whole
    /// A scan of the folders that earlier scans left, and of everything below them.
    case rest

    /// The facts about the account that are known from earlier scans: whether ETags are believed, and when everything
    /// was last walked.
    package struct History: Equatable {
        /// Whether the server's folder ETags are believed to tell of changes below.
        package var etags = ETagTrust()
        /// The time when the last finished walk over everything began.
        package var lastWholeWalk: Timestamp?
        /// The time when the walk over everything began that has folders left.
        package var openWalk: Timestamp?
        /// The time when the last finished scan of any mode began.
        package var lastScan: Timestamp?

        /// Whether a folder's ETag was unchanged although something below the folder had changed, and the ETags are not
        /// believed again yet.
        package var etagsWereWrong: Bool { !etags.areBelieved }

        /// Tells whether the folders that an earlier walk over everything left are still worth listing.
        package func goesOn(now: Timestamp) -> Bool { openWalk.map { isRecent($0, now) } ?? false }
    }

    /// The interval at which everything is walked even where ETags tell of changes, in case they do not. A walk that
    /// was cut off is not continued for longer than this.
    package static let verification: Duration = .seconds(24 * 3600)
    /// The time without a scan after which the server may have been restored from a backup.
    package static let longAbsence: Duration = .seconds(7 * 24 * 3600)

    /// Returns the mode of the next scan.
    package static func next(isOwnCloudFamily: Bool, history: History, now: Timestamp) -> ScanMode {
        let goesOn = history.goesOn(now: now)
        guard isOwnCloudFamily, !history.etagsWereWrong else { return goesOn ? .rest : .whole }
        // The folders that a walk has not listed are known as left, and a folder that has changed since has another
        // ETag.
        if goesOn { return .byETags }
        guard let lastWalk = history.lastWholeWalk, let lastScan = history.lastScan else { return .whole }
        return isRecent(lastWalk, now) && now - lastScan < longAbsence ? .byETags : .whole
    }
}

private func isRecent(_ walk: Timestamp, _ now: Timestamp) -> Bool {
    now >= walk && now - walk < ScanMode.verification
}

extension MetaKey {
    /// The key of ``ScanMode/History/lastWholeWalk``.
    package static let lastWholeWalk = MetaKey("lastWholeWalk")
    /// The key of ``ScanMode/History/openWalk``.
    package static let openWalk = MetaKey("openWalk")
    /// The key of ``ScanMode/History/lastScan``.
    package static let lastScan = MetaKey("lastScan")
}

extension DatabaseReads {
    /// Reads the facts that earlier scans have recorded.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func scanHistory() throws -> ScanMode.History {
        ScanMode.History(
            etags: try etagTrust(),
            lastWholeWalk: try meta.time(.lastWholeWalk),
            openWalk: try meta.time(.openWalk),
            lastScan: try meta.time(.lastScan))
    }
}

extension Transaction {
    /// Begins a walk over everything. The walk includes the folders that an earlier scan left.
    /// - Parameter etagsTell: Whether a later scan skips the folders that this walk has listed.
    /// - Returns: Whether the walk's remaining folders are kept in the database from the beginning. This is so until a
    ///   first walk has finished, since such a walk writes each folder anyway.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func beginWholeWalk(at time: Timestamp, etagsTell: Bool) throws -> Bool {
        for job in try scan.jobs() { try scan.removeJob(job.path) }
        guard try scanHistory().lastWholeWalk == nil else {
            try meta.clear(.openWalk)
            return false
        }
        // The folders that an earlier walk listed must be listed again, also if this walk is cut off before it reaches
        // them.
        if etagsTell { try items.forgetListings() }
        try scan.add(ScanJob(path: .root, isWhole: true))
        try openWalk(begun: time)
        return true
    }

    /// Records that the database contains the folders which a walk over everything has left.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func openWalk(begun time: Timestamp) throws { try meta.set(.openWalk, time) }

    /// Records that a scan has listed every folder that it had to list.
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
