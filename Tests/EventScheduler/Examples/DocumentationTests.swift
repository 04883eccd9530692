import EventScheduler
import Model
import Synchronization
import TestSupport
import Testing

/// Tests of the guide's page for programs that use the scheduler as a library.
@Suite(.timeLimit(.minutes(20))) struct DocumentationTests {
    private final class Server: MailServer {
        private let subjects = Mutex<[String]>([])

        func send(_ subject: String) { subjects.withLock { $0.append(subject) } }

        func events(in mailbox: String, since id: String) async throws -> (id: String, subjects: [String], more: Bool) {
            let start = Int(id) ?? 0
            let all = subjects.withLock { $0 }
            let page = Array(all[start...].prefix(2))
            return ("\(start + page.count)", page, start + page.count < all.count)
        }

        func newestID(in mailbox: String) async throws -> String { subjects.withLock { "\($0.count)" } }
        func allSubjects(in mailbox: String) async throws -> [String] { subjects.withLock { $0 } }
    }

    @Test("L08, L14: the example of the documentation does what it says")
    func example() async {
        let (server, mailboxes) = (Server(), Mailboxes())
        let scheduler = EventsPeriodicScheduler(
            core: { _, _ in preconditionFailure("There is no core loop.") },
            special: { id, _ in MailboxLoop(loopID: id, server: server, mailboxes: mailboxes) })
        let inbox = LoopKey(kind: LoopKind("mailbox"), id: LoopID("inbox"))
        server.send("one")
        await scheduler.enableSpecialLoop(inbox)
        await scheduler.runOnce()
        #expect(await mailboxes.subjects(of: inbox) == ["one"])
        for subject in ["two", "three", "four", "five"] { server.send(subject) }
        await scheduler.runOnce()
        #expect(await mailboxes.subjects(of: inbox) == ["one", "two", "three", "four", "five"])
        #expect(await mailboxes.eventID(of: inbox) == EventID("5"))
    }

    @Test("The code in the documentation is that of the example, to the letter")
    func sameText() throws {
        let page = try Files.text("\(Build.root)/Host/Docs/event-scheduler.md")
        let example = try Files.text("\(Build.root)/Tests/EventScheduler/Examples/Mailboxes.swift")
        let blocks = page.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        let code = blocks.filter { !$0.contains(".package(") && !$0.contains("await scheduler") }
        #expect(code.count == 2)
        for block in code { #expect(example.contains(block), "\(block)") }
    }
}
