/// The objects of a listing that are still to be fetched. The plugin keeps them from one page to the next, since a
/// listing costs a server much time.
///
/// An object that changes meanwhile is fetched in its new state, an object that goes is found to be gone, and new
/// objects come with the changes since the listing. The backlog is forgotten with the plugin, and whenever the loop
/// does not continue at its position.
struct Backlog {
    /// The greatest number of members of all backlogs together. When they are fetched, the rest is listed again.
    static let most = 10_000

    /// The position at which the loop continues with the backlog.
    let eventID: String
    let members: [Member]
    /// Whether nothing else is to be fetched.
    let isAll: Bool
}

extension CalendarLoop {
    /// Keeps members for the loop's next call, and for no other call.
    mutating func keep(_ members: [Member], isAll: Bool, of loop: String, for next: Position) {
        let others = backlogs.values.reduce(0) { $0 + $1.members.count }
        // Without this, calendars whose loops have ended would take the room for good.
        if others + members.count > Backlog.most { backlogs = [:] }
        backlogs[loop] = Backlog(
            eventID: next.eventID, members: Array(members.prefix(Backlog.most)),
            isAll: isAll && members.count <= Backlog.most)
    }
}
