package import Database
package import Model

/// Whether the server's folder ETags are believed to tell of every change below. A value without I/O.
///
/// One change below an unchanged ETag ends the belief: from then on each scan walks over everything. A trial begins with
/// it. The ETags are believed again after days of walks in which they told every change, and told at least one below a
/// folder: after seven days the first time, and after thirty the second time. The third time there is no trial.
package struct ETagTrust: Hashable, Sendable {
    /// What a finished walk over everything showed.
    package struct Evidence: Hashable, Sendable {
        /// Whether something had changed below a folder whose ETag had not.
        package var contradicts = false
        /// Whether a folder's ETag told of a change in a folder below it.
        package var tells = false

        package init(contradicts: Bool = false, tells: Bool = false) {
            (self.contradicts, self.tells) = (contradicts, tells)
        }

        mutating func add(_ other: Evidence) {
            contradicts = contradicts || other.contradicts
            tells = tells || other.tells
        }
    }

    /// How often the belief ended.
    package private(set) var losses: Int
    /// The beginning of the trial's current day; nil while the ETags are believed, and if they never will be again.
    private var day: Timestamp?
    /// The number of days of the trial in which the ETags told every change.
    private var days: Int
    /// Whether the ETags told of a change below a folder during the trial.
    private var hasTold: Bool
    /// Whether the ETags are believed.
    package private(set) var areBelieved: Bool

    /// Creates the belief in ETags that were never wrong.
    package init() { (losses, day, days, hasTold, areBelieved) = (0, nil, 0, false, true) }

    /// The days of the trials.
    private static let trials = [7, 30]
    private static let dayLength: Duration = .seconds(24 * 3600)

    /// The number of days after which the ETags may be believed again; nil if they are believed, or never will be again.
    package var daysLeft: Int? {
        guard !areBelieved, Self.trials.indices.contains(losses - 1) else { return nil }
        return max(1, Self.trials[losses - 1] - days)
    }

    /// Notes a walk over everything.
    /// - Parameter time: The time when the walk began.
    package mutating func walked(_ evidence: Evidence, begun time: Timestamp) {
        guard !evidence.contradicts else {
            if areBelieved { losses += 1 }
            (areBelieved, day, days, hasTold) = (false, time, 0, false)
            return
        }
        guard !areBelieved, Self.trials.indices.contains(losses - 1) else { return }
        hasTold = hasTold || evidence.tells
        guard let begun = day, begun <= time else {
            day = time
            return
        }
        if time - begun >= Self.dayLength { (day, days) = (time, days + 1) }
        if hasTold, days >= Self.trials[losses - 1] { (areBelieved, day, days, hasTold) = (true, nil, 0, false) }
    }
}

extension ETagTrust {
    /// The form in the database: five numbers.
    fileprivate var text: String {
        [areBelieved ? 1 : 0, Int64(losses), Int64(days), hasTold ? 1 : 0, day?.nanoseconds ?? -1]
            .map(String.init).joined(separator: " ")
    }

    /// Reads the form in the database; nil if the text is not of this form.
    fileprivate init?(_ text: String) {
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 5 else { return nil }
        (areBelieved, losses, days, hasTold) = (
            numbers[0] == 1, Int(clamping: numbers[1]), Int(clamping: numbers[2]), numbers[3] == 1
        )
        day = numbers[4] < 0 ? nil : Timestamp(nanoseconds: numbers[4])
    }
}

extension MetaKey {
    /// The key of ``ETagTrust``. An earlier version kept only 1 there, for ETags that were wrong once.
    package static let etagTrust = MetaKey("etagsWereWrong")
}

extension DatabaseReads {
    /// Reads whether the server's folder ETags are believed.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func etagTrust() throws -> ETagTrust {
        if let text = try meta.text(.etagTrust), let trust = ETagTrust(text) { return trust }
        var trust = ETagTrust()
        if try meta.integer(.etagTrust) == 1 {
            trust.walked(ETagTrust.Evidence(contradicts: true), begun: Timestamp(nanoseconds: .max))
        }
        return trust
    }
}

extension Transaction {
    /// Notes what a walk over everything showed about the server's folder ETags.
    /// - Returns: Whether the ETags were believed before, and whether they are now.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func noteWalk(
        _ evidence: ETagTrust.Evidence, begun time: Timestamp
    ) throws -> (before: Bool, now: Bool) {
        let before = try etagTrust()
        var trust = before
        trust.walked(evidence, begun: time)
        if trust != before { try meta.set(.etagTrust, trust.text) }
        return (before.areBelieved, trust.areBelieved)
    }
}
