import Connection
import Database
import DemoServer
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

/// Tests of the issues that ask a person to approve something about the server.
@Suite struct ApprovalIssueTests {
    /// Runs an account whose server redirects everything to another one.
    private func withRedirect(
        clock: TestClock = .account(), _ body: (AccountFixture, TestServer) async throws -> Void
    ) async throws {
        try await AccountFixture.running(clock: clock) { fixture in
            // The other server has the same users.
            try await TestServer.running(fixture.server.configuration) { other in
                other.tree.put("/cat.txt", "cat")
                fixture.server.add(Fault(.redirect(to: other.folderURL), method: "PROPFIND"))
                try await body(fixture, other)
            }
        }
    }

    @Test("C9: a redirect holds the account up until it is approved, and is asked once")
    func approved() async throws {
        try await withRedirect { fixture, other in
            for _ in 0..<2 {
                let outcome = try await fixture.runBadly()
                #expect(outcome.worst == .denied && other.requests.isEmpty)
            }
            let issue = try #require(try await fixture.issues().first)
            #expect(try await fixture.issues().count == 1 && issue.code == "connection.redirect")
            #expect(issue.choices.map(\.id) == ["approve", "reject"])
            await #expect(throws: Failure.self) {
                try await fixture.host.perform(Issues.Answer(issue.id, choice: "yes"))
            }
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "approve"))
            try await fixture.runWell()
            #expect(try await fixture.item("/cat.txt") != nil)
            try await fixture.runWell()
        }
    }

    @Test("C9: what was rejected stays so and is not asked again, until the account is verified")
    func rejected() async throws {
        try await withRedirect { fixture, other in
            try await fixture.runBadly()
            let issue = try #require(try await fixture.issues().first)
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "reject"))
            let outcome = try await fixture.runBadly()
            #expect(outcome.failures.contains { $0.kind == .denied && $0.hint == .verifyAccountAgain })
            #expect(try await fixture.issues().isEmpty && other.requests.isEmpty)
            let status = try await fixture.reader { try await $0.status() }
            #expect(status.refusal?.message.contains("was rejected") == true)

            await #expect(throws: Failure.self) { try await fixture.host.perform(Accounts.Verify(asksAgain: false)) }
            guard case .asks(let again) = try await fixture.host.perform(Accounts.Verify(asksAgain: true)) else {
                Issue.record("nothing was asked")
                return
            }
            try await fixture.host.perform(Issues.Answer(again.id, choice: "approve"))
            guard case .works = try await fixture.host.perform(Accounts.Verify(asksAgain: false)) else {
                Issue.record("the login does not work")
                return
            }
            try await fixture.runWell()
        }
    }

    @Test("C9: the issue goes when its cause does")
    func causeGone() async throws {
        try await TestServer.running { other in
            try await AccountFixture.running { fixture in
                fixture.put("/cat.txt", "cat")
                let fault = fixture.server.add(Fault(.redirect(to: other.folderURL), method: "PROPFIND"))
                try await fixture.runBadly()
                #expect(try await fixture.issues().count == 1)
                fixture.server.remove(fault)
                try await fixture.runWell()
            }
        }
    }

    @Test("C9: a running host that waits for an approval goes on at once when it comes")
    func running() async throws {
        try await withRedirect(clock: .account(patience: .seconds(5))) { fixture, _ in
            try await fixture.hosting {
                try await fixture.until { try await !fixture.issues().isEmpty }
                try await fixture.untilWaiting()
                let issue = try #require(try await fixture.issues().first)
                try await fixture.host.perform(Issues.Answer(issue.id, choice: "approve"))
                try await fixture.until { try await fixture.item("/cat.txt") != nil }
            }
        }
    }

    @Test("C9: an account that finished a scan before such questions were asked goes on as it did")
    func before() async throws {
        try await AccountFixture.running { fixture in
            var plain = fixture.bookmark
            plain.url = "http://cloud.example.org/"
            let database = fixture.host.database
            let approval = Approval(.plainHTTP, "http://cloud.example.org")
            try await database.write { try $0.meta.clear(.approvals) }
            #expect(try await database.approvals(of: plain).approved.isEmpty)
            try await fixture.runWell()
            let worked = fixture.host.database
            #expect(try await worked.approvals(of: plain).approved.isEmpty)
            try await worked.write { try $0.meta.clear(.approvals) }
            #expect(try await worked.approvals(of: plain).approved == [approval])
        }
    }
}
