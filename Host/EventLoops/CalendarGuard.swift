import Database
import Model

/// A guard that decides whether a turn removes so much from calendars that a person must confirm the removals, as for a
/// scan of files. A server that lost its disk lists no calendars, or empty ones.
struct CalendarGuard {
    static let wait = Issue.Choice(
        id: "wait", label: "Keep everything as it is, and see what the next polls find", impact: .nonDestructive)
    static let apply = Issue.Choice(
        id: "apply", label: "Remove the objects and calendars here, with their files", impact: .dataLoss)

    /// The limits for removals; nil if no removal is too large.
    let removalGuard: RemovalGuard?

    /// The records that a turn removes from calendars.
    struct Removals {
        /// The keys of the existing records that the turn removes, by collection.
        var keys: [RecordCollection: [RecordKey]] = [:]
        /// The number of records in each collection before the turn.
        var counts: [RecordCollection: Int] = [:]
        var isEmpty: Bool { keys.isEmpty }

        var places: [RecordPlace] { keys.flatMap { collection, keys in keys.map { RecordPlace(collection, $0) } } }
    }

    /// Returns the reason to hold the removals; nil if they are not held.
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

    /// Tells whether the removal of calendars is held. It is held if no calendar would be left, because then nothing is
    /// left to compare with. It is also held if one of the calendars has many objects.
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
        let before = earlier > 0 ? ", after \(earlier) that were removed in the last 24 hours" : ""
        let calendar = calendars.first { RecordCollection.calendars.of($0.key) == collection }
        let what = calendar.map { "objects of the calendar \(name($0))" } ?? "calendars"
        return
            "The server no longer has \(keys.count) of \(known) \(what)\(before): \(names). Nothing of this is "
            + "removed here before you decide. If the server lost them, restore them there"
    }
}

extension DatabaseReads {
    /// Returns the records that changes remove from calendars. For each record, the last of the changes counts.
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
    /// - Returns: The failure of the turn.
    func hold(
        _ removals: CalendarGuard.Removals, for loop: LoopKey, because reason: String, at time: Timestamp
    ) throws -> Failure {
        let subject = loop.description
        var issue = try issues.issue(code: HeldRecords.code, subject: subject)
        // The issue is filed anew only if its message is new, since each poll finds the removals again.
        if issue?.message != reason {
            issue = try issues.file(
                Issue(
                    code: HeldRecords.code, subject: subject, message: reason,
                    choices: [CalendarGuard.wait, CalendarGuard.apply], created: issue?.created ?? time))
        }
        try records.hold(removals.places, for: subject)
        return Failure(
            .failed, reason, hint: .applyHeldRemovals(issue?.id ?? .none))
    }

    /// Records the number of removals from calendars that happened without a person's confirmation.
    func note(_ removals: CalendarGuard.Removals, at time: Timestamp) throws {
        for (collection, keys) in removals.keys {
            try records.noteRemovals(keys.count, of: removals.counts[collection] ?? 0, in: collection, at: time)
        }
    }
}
