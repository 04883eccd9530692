import EventScheduler
import Model

/// A server that numbers what happens in a mailbox.
protocol MailServer: Sendable {
    func events(in mailbox: String, since id: String) async throws -> (id: String, subjects: [String], more: Bool)
    func newestID(in mailbox: String) async throws -> String
    func allSubjects(in mailbox: String) async throws -> [String]
}

/// What is kept here of the mailboxes, and how far each has come.
actor Mailboxes {
    private var subjects: [LoopKey: [String]] = [:]
    private var eventIDs: [LoopKey: EventID] = [:]

    func subjects(of loop: LoopKey) -> [String] { subjects[loop] ?? [] }
    func eventID(of loop: LoopKey) -> EventID? { eventIDs[loop] }

    /// The subjects and the event id belong together: in a database this is one transaction.
    func add(_ new: [String], to loop: LoopKey, at id: EventID) {
        subjects[loop, default: []] += new
        eventIDs[loop] = id
    }

    func replace(_ all: [String], in loop: LoopKey, at id: EventID) { (subjects[loop], eventIDs[loop]) = (all, id) }
}

struct MailboxLoop: EventLoop {
    let loopID: LoopKey
    let server: any MailServer
    let mailboxes: Mailboxes

    var latestEventID: EventID? { get async { await mailboxes.eventID(of: loopID) } }

    func poll(since id: EventID) async throws -> PollAnswer<[String]> {
        let events = try await server.events(in: loopID.id.text, since: id.text)
        return .page(EventsPage(eventID: EventID(events.id), more: events.more, payload: events.subjects))
    }

    func process(_ page: EventsPage<[String]>, advancingTo id: EventID) async throws {
        try Task.checkCancellation()
        await mailboxes.add(page.payload, to: loopID, at: id)
    }

    /// Called first when there is no event id yet: the anchor, then everything.
    func refresh(_ plan: RefreshPlan) async throws -> RefreshAnswer {
        let anchor = EventID(try await server.newestID(in: loopID.id.text))
        let all = try await server.allSubjects(in: loopID.id.text)
        try Task.checkCancellation()
        await mailboxes.replace(all, in: loopID, at: anchor)
        return .anchored(at: anchor, more: false)
    }

    func onError(_ error: EventLoopError) async {
        // Tell a log; the scheduler does what is to be done.
    }
}
