import Database
import DemoServer
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

/// Changes to names that the server does not take.
@Suite("Names that the server does not take", .timeLimit(.minutes(10)))
struct ForbiddenNameTests {
    @Test("S40: once the server's capabilities are known, what goes to such a name is refused and not queued")
    func refused() async throws {
        try await AccountFixture.running(.nextcloud) { fixture in
            fixture.put("/a", "one")
            try await fixture.runWell()
            // The first change to a name that is taken reads what is not.
            let first = try await fixture.host.perform(
                ServerChange([.createFolder(try ItemPath("/new"))], waits: true))
            #expect(first.changes.allSatisfy { $0.refusal == nil } && first.failures.isEmpty, "\(first)")
            fixture.server.forgetRequests()
            let changes: [ChangeRequest] = [
                .createFolder(try ItemPath("/.htaccess")), .haveFolder(try ItemPath("/x.part")),
                .move(try ItemPath("/a"), to: try ItemPath("/new/.HTACCESS")),
                .copy(try ItemPath("/a"), to: try ItemPath("/a.filepart")),
            ]
            let outcome = try await fixture.host.perform(ServerChange(changes, waits: false))
            for change in outcome.changes {
                #expect(change.refusal?.kind == .badData && change.record == nil, "\(change)")
            }
            #expect(
                outcome.changes.first?.refusal?.message
                    == "/.htaccess cannot be made: the server takes no file or folder named .htaccess")
            #expect(try await fixture.records().isEmpty && fixture.server.requests.isEmpty)
        }
    }
}
