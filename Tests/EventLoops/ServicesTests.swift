import CLarder
import Connection
import Database
import DemoServer
import EventLoops
import EventScheduler
import Logging
import Model
import TestServer
import TestSupport
import Testing
import Threads

@testable import PluginHost

/// Tests of the host's services for a loop and of the requests that the host refuses.
@Suite struct LoopServicesTests {
    @Test("GL3: a loop's call of the host from another thread is refused, counted and named")
    func elsewhere() async throws {
        try await withLoopFixture(mode: "elsewhere 0") { fixture async throws in
            _ = await fixture.loops.runOnce()
            #expect(fixture.said.contains("from elsewhere -11"))
            #expect(fixture.log.contains("refused records.get: called from a thread"))
            #expect(try await fixture.records().count == 4)
        }
    }

    @Test("GL3: a call of the host after the loop's call has returned is refused, counted and named")
    func afterwards() async throws {
        try await withTemporaryFolder { folder in
            try await withLoopFixture(mode: "later 0", pages: 1, target: "\(folder)/go") { fixture async throws in
                _ = await fixture.loops.runOnce()
                #expect(!fixture.log.contains("called from a thread"))
                try Files.write("", to: "\(folder)/go")
                await until { fixture.log.contains("refused records.get: called from a thread") }
                let report = try #require(await fixture.host.reports().first { $0.id == LoopFixture.plugin })
                #expect(report.reason?.contains("calls from a wrong thread: 1") == true, "\(report)")
            }
        }
    }

    @Test("A loop that is there for a record writes what its plugin has beside that record, and nobody else's")
    func strangers() async throws {
        try await withLoopFixture(
            defines: ["COLLECTION=\"calendars\""], mode: "strange 0", pages: 1, startsAt: nil
        ) { fixture async throws in
            _ = try await fixture.database.write { try $0.records.put(Record(key: RecordKey("c")), in: .calendars) }
            try await fixture.loops.enable()
            try await fixture.setEventID("0", of: LoopKey(kind: LoopFixture.loop.kind, id: LoopID("c")))
            _ = await fixture.loops.runOnce()
            #expect(
                fixture.said.filter { $0.hasPrefix("write ") }
                    == [
                        "write own 0", "write calendar -6", "write object -6", "write another's -6", "write plugin -6",
                        "write shares -6",
                    ])
            let own = RecordCollection("org.example.looper/c")
            #expect(try await fixture.records(in: own).contains("x"))
            // The removal of the record also removes the records that the loop cached beside it.
            _ = try await fixture.database.write { tx in
                try tx.loops.apply(
                    [.remove(RecordKey("c"), from: .calendars)],
                    loopCollections: [LoopFixture.loop.kind: .calendars])
            }
            #expect(try await fixture.records(in: own) == [])
        }
    }

    @Test("A poll changes nothing: a record that it puts is refused")
    func putInPoll() async throws {
        try await withLoopFixture(mode: "put in poll 0") { fixture async throws in
            _ = await fixture.loops.runOnce()
            #expect(fixture.said.contains("put in poll -12"))
            #expect(fixture.log.contains("refused records.put: not allowed during poll"))
        }
    }

    @Test("A loop writes what is its own, JSON objects, and at most 16 MiB in a turn; its reads see what it asked for")
    func limits() async throws {
        try await withLoopFixture(mode: "denied 0", pages: 1) { fixture async throws in
            _ = await fixture.loops.runOnce()
            #expect(
                fixture.said.filter { $0.hasSuffix(" -6") || $0.hasSuffix(" -2") || $0.hasSuffix(" -8") }
                    == ["calendars -6", "other -6", "empty key -2", "no object -2", "no JSON -2", "too much -8"])
            #expect(fixture.said.contains("much 0"))
            #expect(fixture.said.contains("removed 0"))
            #expect(fixture.said.contains("gone -3"))
            #expect(try await fixture.records() == ["count=1", "page 1"])
        }
    }

    @Test("GL3: http streams an answer from the account's server, with its credentials")
    func http() async throws {
        try await withLoopFixture(mode: "http 0", pages: 1, target: "FOLDER/hello.txt") { fixture async throws in
            fixture.server.tree.put("/hello.txt", String(repeating: "x", count: 300_000))
            _ = await fixture.loops.runOnce()
            #expect(
                fixture.said.prefix(6) == [
                    "http 0", "status 200", "header 300000", "body 300000", "closed 0", "again -2",
                ])
        }
    }

    @Test(
        "http refuses another server, and says why",
        arguments: ["https://example.org/", "http://127.0.0.1:9/x", "//example.org/x"])
    func anotherServer(target: String) async throws {
        try await withLoopFixture(mode: "http 0", pages: 1, target: target) { fixture async throws in
            _ = await fixture.loops.runOnce()
            #expect(fixture.said.contains("http -6") || fixture.said.contains("status 404"), "\(fixture.said)")
        }
    }

    @Test("GL3: dav streams the responses of a multistatus, and has its end only then")
    func dav() async throws {
        try await withLoopFixture(mode: "dav 0", pages: 1) { fixture async throws in
            _ = await fixture.loops.runOnce()
            #expect(fixture.said.contains("dav 0"))
            #expect(fixture.said.contains("early -12"))
            #expect(fixture.said.contains("end 0"))
        }
    }

    @Test("A loop finds calendars, address books and files by their names alone; what the server lacks is not offered")
    func discover() async throws {
        try await withLoopFixture(mode: "discover 0", pages: 1) { fixture async throws in
            fixture.server.add(Fault(.status(404), method: "PROPFIND"))
            _ = await fixture.loops.runOnce()
            #expect(
                Array(fixture.said.prefix(5)) == ["caldav -7", "carddav -7", "files -7", "CardDAV -2", "carddav  -2"])
        }
    }

    @Test("GL3 L26: a server that never answers holds the loops of its own account alone")
    func twoAccounts() async throws {
        try await withLoopFixture(mode: "needs http 0", pages: 1) { fixture async throws in
            let fault = fixture.server.add(Fault(.hold()))
            async let held = fixture.loops.runOnce()
            await fixture.server.untilHeld(fault)
            let log = CollectedLog()
            try await TestServer.running { server in
                let plugins = await fixture.host.start(AccountEnvironment(name: "other", logger: log.logger))
                let plugin = try #require(plugins.first)
                #expect(plugin.thread !== fixture.plugin.thread)
                let database = try Database.open(path: "\(fixture.folder)/other.db")
                let connection = Connection(
                    bookmark: Bookmark(
                        name: "other", url: server.folderURL, username: server.configuration.user,
                        vault: fixture.folder,
                        files: "\(fixture.folder)/files"),
                    credentials: .basic(
                        username: server.configuration.user, password: server.configuration.password), limits: Limits(),
                    logger: log.logger)
                let loops = EventLoops(
                    database: database, connection: connection, plugins: plugins,
                    callbacks: .init(requestScan: {}, refused: {}, recordsChanged: { _ in }), logger: log.logger)
                try await loops.enable()
                let state = LoopState(key: LoopFixture.loop, plugin: LoopFixture.plugin, eventID: EventID("0"))
                _ = try await database.write { try $0.loops.commit(LoopTurnCommit(from: nil, state: state)) }
                #expect(await loops.runOnce().isEmpty)
                #expect(log.messages.contains("info: http 0"))
                await fixture.host.stop(plugins)
                await #expect(throws: CancellationError.self) { try await plugin.thread?.run {} }
                await connection.shutdown()
                try database.close()
            }
            #expect(fixture.said == [])
            await fixture.loops.suspend()
            _ = await held
        }
    }

    @Test("L26 GL5: a call that goes on for too long fails its loop alone, and is asked to end")
    func hangs() async throws {
        let clock = TestClock()
        try await withLoopFixture(mode: "hang 0", clock: clock.host) { fixture async throws in
            async let failures = fixture.loops.runOnce()
            await until { fixture.said.contains("hangs 0") && !clock.deadlines.isEmpty }
            clock.advance(to: .seconds(600))
            #expect(await failures.count == 1)
            let result = try await fixture.state()?.lastResult
            #expect(result == .error)
            #expect(try await fixture.state()?.eventID == EventID("0"))
            let calls = try fixture.calls()
            #expect(calls.contains("poll looper cancelled"))
        }
    }

    @Test(
        "GL5: a page without an event id, with an empty one, or one that is not UTF-8 fails its loop alone",
        arguments: ["no id 1", "empty id 1", "bad id 1", "unknown status 1"])
    func badPages(mode: String) async throws {
        try await withLoopFixture(mode: mode) { fixture async throws in
            #expect(await fixture.loops.runOnce().count == 1)
            #expect(try await fixture.state()?.eventID == EventID("1"))
            #expect(try await fixture.records() == ["count=1", "page 1"])
        }
    }

    @Test("GL4: pages are given back, each once, and the plugin's thread ends with its last loop")
    func released() async throws {
        let log = CollectedLog()
        try await withLoopFixture(mode: "refresh everything 1", log: log) { fixture async throws in
            _ = await fixture.loops.runOnce()
        }
        #expect(log.contains("pages left 0"))
    }
}
