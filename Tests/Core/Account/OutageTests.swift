import Connection
import Database
import DemoServer
import Model
import TestServer
import TestSupport
import Testing

@testable import Core
@testable import larder

@Suite struct OutageTests {
    @Test("A server that is away is told of once, also when it comes back; another failure is news")
    func once() {
        var outage = Outage()
        let (refused, maintenance) = (ConnectionError(.unreachable, "x"), ConnectionError(.maintenance, "x"))
        var told: [Bool] = [outage.ends()]
        for error in [refused, refused, maintenance, maintenance, refused] { told.append(outage.begins(with: error)) }
        #expect(told == [false, true, false, true, false, true])
        told = [outage.ends(), outage.ends(), outage.begins(with: refused)]
        #expect(told == [true, false, true])
    }

    @Test("C3: a change that the server cannot make now is nobody's question, and is made as soon as it can")
    func unavailable() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.runWell()
            fixture.server.add(Fault(.status(503), method: "MKCOL"))
            let folder = ItemPath(unchecked: "/new")
            _ = try await fixture.host.perform(ServerChange([.createFolder(folder)], waits: false))
            try await fixture.runBadly()
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.records().count == 1)
            fixture.server.removeFaults()
            try await fixture.runWell()
            #expect(fixture.server.tree.exists("/new"))
        }
    }

    @Test(
        "C3: a server that answers that it cannot serve is unavailable, with its reason, whatever status it has",
        arguments: [429, 502, 503])
    func reason(_ status: Int) async throws {
        try await AccountFixture.running { fixture in
            try await fixture.runWell()
            fixture.server.add(Fault(.status(status), method: "PROPFIND", path: "/"))
            try await fixture.runBadly()
            let (state, problem) = try await fixture.host.database.read { reads in
                (try reads.meta.text(.connection), try reads.meta.text(.connectionProblem))
            }
            #expect(state == ConnectionState.unavailable.rawValue)
            #expect(problem?.contains("answered \(status)") == true, "\(problem ?? "none")")
            fixture.server.removeFaults()
            try await fixture.runWell()
            #expect(try await fixture.host.database.read { try $0.meta.text(.connectionProblem) } == nil)
        }
    }

    @Test("A run counts what the server moved")
    func moves() async throws {
        try await AccountFixture.running { fixture in
            for index in 0..<3 { fixture.put("/a/\(index)", "\(index)") }
            try await fixture.pin("/a")
            #expect(try await fixture.run().moves == 0)
            for index in 0..<3 { fixture.server.tree.move("/a/\(index)", to: "/a/moved \(index)") }
            let outcome = try await fixture.run()
            #expect(outcome.moves == 3 && outcome.files == 0, "\(outcome)")
        }
    }

    @Test("A run counts the copies that it removed, whoever wanted them gone, and no folders")
    func removals() async throws {
        try await AccountFixture.running { fixture in
            for index in 0..<5 { fixture.put("/a/\(index)", "\(index)") }
            try await fixture.pin("/a")
            #expect(try await fixture.run().removed == 0)
            for index in 0..<2 { fixture.server.tree.remove("/a/\(index)") }
            try await fixture.runWell()
            fixture.clock.advance(.seconds(61))
            #expect(try await fixture.run().removed == 2)
            try await fixture.unpin("/a")
            let outcome = try await fixture.run()
            #expect(outcome.removed == 3 && outcome.files == 0 && outcome.summary == "3 copies removed", "\(outcome)")
            #expect(try fixture.tree() == [])
            #expect(try await fixture.run().removed == 0)
        }
    }
}
