import Database
import Model

/// Whether a turn takes so much from calendars that a person is asked, as a scan of files is: a server that lost its disk lists no
/// calendars, and empty ones.
struct CalendarGuard {
    static let wait = Issue.Choice(
        id: "wait", label: "Keep everything as it is, and see what the next polls find", impact: .nonDestructive)
    static let apply = Issue.Choice(
        id: "apply", label: "Remove the objects and calendars here, with their files", impact: .dataLoss)

    /// Nil: nothing is too much.
    let removalGuard: RemovalGuard?

    /// What a turn takes from calendars.
    struct Removals {
        /// Of each collection, what is there and goes.
        var keys: [RecordCollection: [RecordKey]] = [:]
        /// How many each has before.
        var counts: [RecordCollection: Int] = [:]
        var isEmpty: Bool { keys.isEmpty }

        var places: [RecordPlace] { keys.flatMap { collection, keys in keys.map { RecordPlace(collection, $0) } } }
    }

    /// Why the removals are held; nil: they are not.
    func reason(to hold: Removals, _ reads: some DatabaseReads, at time: Timestamp) throws -> String? {
        guard let removalGuard else { return nil }
        for (collection, keys) in hold.keys.sorted(by: { $0.key < $1.key }) {
            let memory = try reads.records.removals(in: collection, at: time)
            let count = hold.counts[collection] ?? 0
            let known = max(memory.known, count)
            let isMuch = removalGuard.holds(keys.count, after: memory.gone, ofKnown: known)
            guard try isMuch || collection == .calendars && holdsCalendars(keys, ofKnown: count, reads) else {
                continue
            }
            return try message(keys, of: known, after: memory.gone, in: collection, reads)
        }
        return nil
    }

    /// Without the last calendar nothing is left to compare with, and one with much in it is much by itself.
    private func holdsCalendars(_ keys: [RecordKey], ofKnown known: Int, _ reads: some DatabaseReads) throws -> Bool {
        if keys.count == known { return true }
        return try keys.contains {
            try reads.records.count(in: RecordCollection.calendars.of($0)) >= RemovalGuard.leastForShare
        }
    }

    private func message(
        _ keys: [RecordKey], of known: Int, after earlier: Int, in collection: RecordCollection,
        _ reads: some DatabaseReads
    ) throws -> String {
        let calendars = try reads.records.calendars()
        func name(_ calendar: CachedCalendar) -> String { calendar.name ?? calendar.key.text }
        let first = keys.sorted().prefix(3).map { key in
            guard collection == .calendars, let calendar = calendars.first(where: { $0.key == key }) else {
                return key.text
            }
            return "\(name(calendar)) (\(calendar.objects == 1 ? "1 object" : "\(calendar.objects) objects"))"
        }
        let names = first.joined(separator: ", ") + (keys.count > first.count ? ", …" : "")
        let before = earlier > 0 ? ", after \(earlier) that went in the last 24 hours" : ""
        let calendar = calendars.first { RecordCollection.calendars.of($0.key) == collection }
        let what = calendar.map { "objects of the calendar \(name($0))" } ?? "calendars"
        return
            "The server has \(keys.count) of \(known) \(what) no longer\(before): \(names). Nothing of this is removed here before "
            + "you decide. If the server lost them, bring them back there"
    }
}

extension DatabaseReads {
    /// What these changes take from calendars, as they end.
    func calendarRemovals(_ changes: [RecordChange]) throws -> CalendarGuard.Removals {
        var removals = CalendarGuard.Removals()
        let hasSome = changes.contains { change in
            if case .remove(_, let collection) = change { collection.isCalendars } else { false }
        }
        guard hasSome else { return removals }
        var last: [RecordPlace: Bool] = [:]
        for change in changes {
            switch change {
            case .put(let record, let collection): last[RecordPlace(collection, record.key)] = false
            case .remove(let key, let collection): last[RecordPlace(collection, key)] = true
            }
        }
        for (place, goes) in last where goes && place.collection.isCalendars {
            guard try records.record(place.key, in: place.collection, []) != nil else { continue }
            removals.keys[place.collection, default: []].append(place.key)
        }
        for collection in removals.keys.keys { removals.counts[collection] = try records.count(in: collection) }
        return removals
    }
}

extension Transaction {
    /// Holds removals for a loop, in one issue.
    /// - Returns: what the turn fails with.
    func hold(
        _ removals: CalendarGuard.Removals, for loop: LoopKey, because reason: String, at time: Timestamp
    ) throws -> Failure {
        let subject = loop.description
        var issue = try issues.issue(code: HeldRecords.code, subject: subject)
        // Told anew only if it is news: each poll finds it again.
        if issue?.message != reason {
            issue = try issues.file(
                Issue(
                    code: HeldRecords.code, subject: subject, message: reason,
                    choices: [CalendarGuard.wait, CalendarGuard.apply], created: issue?.created ?? time))
        }
        try records.hold(removals.places, for: subject)
        return Failure(
            .failed, reason, hint: "`larder issue resolve \(issue?.id ?? .none) apply` removes it here; `wait` keeps it"
        )
    }

    /// So much went from calendars without a person's word.
    func note(_ removals: CalendarGuard.Removals, at time: Timestamp) throws {
        for (collection, keys) in removals.keys {
            try records.noteRemovals(keys.count, of: removals.counts[collection] ?? 0, in: collection, at: time)
        }
    }
}
