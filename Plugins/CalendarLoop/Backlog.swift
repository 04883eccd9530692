/// What a listing showed that is still to be fetched, kept from one page to the next: a listing takes a server long.
///
/// Objects that change meanwhile come as they are when they are fetched, those that go are found to be gone, and new ones come with the
/// changes since the listing. It is forgotten with the plugin, and whenever the loop does not go on from just where it was.
struct Backlog {
    /// Of all calendars together; what is beyond is listed again when these are fetched.
    static let most = 10_000

    /// Where the loop goes on with it.
    let eventID: String
    let members: [Member]
    /// Whether nothing else is to be fetched.
    let isAll: Bool
}

extension CalendarLoop {
    /// Keeps members for the loop's next call, which alone gets them.
    mutating func keep(_ members: [Member], isAll: Bool, of loop: String, for next: Position) {
        let others = backlogs.values.reduce(0) { $0 + $1.members.count }
        // Calendars whose loops have ended would take the room for good.
        if others + members.count > Backlog.most { backlogs = [:] }
        backlogs[loop] = Backlog(
            eventID: next.eventID, members: Array(members.prefix(Backlog.most)),
            isAll: isAll && members.count <= Backlog.most)
    }
}
