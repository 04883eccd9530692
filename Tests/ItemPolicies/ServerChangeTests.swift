import Database
import ItemPolicies
import Model
import PluginHost
import TestSupport
import Testing

/// Tests of plugins' requests for changes of the server, before the sync engine gets them.
@Suite struct ServerChangeTests {
    private static let changer = PluginID("org.example.changer")

    /// Runs the plugin with a script and calls `body` with its fixture and the script's path.
    private func withChanger(
        _ lines: [String], deletes: String = "", grants: Set<PluginSettings.Grant> = [.serverChanges],
        items: [String] = [], effect: @escaping @Sendable (Intent, Transaction) throws -> Void = { _, _ in },
        _ body: @escaping @Sendable (ProcessorFixture, String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let script = "\(folder)/script"
            try Files.write(lines.map { $0 + "\n" }.joined(), to: script)
            try await withProcessorFixture(
                "changer", settings: ["script": script, "deletes": deletes, "triggers": "2"], grants: grants,
                items: items, effect: effect
            ) { try await body($0, script) }
        }
    }

    private func run(_ fixture: ProcessorFixture) async {
        fixture.policies.fire(.itemListUpdateCompleted)
        await fixture.policies.waitUntilIdle()
    }

    private func report(_ fixture: ProcessorFixture, _ plugin: PluginID) async -> PluginReport? {
        await fixture.host.reports().first { $0.id == plugin }
    }

    private func said(_ script: String) throws -> [String] {
        try Files.text(script + ".out").split(separator: "\n").map(String.init)
    }

    @Test("G20: without the grant each change of the server is denied, and the log says once how to grant it")
    func denied() async throws {
        let lines = [
            "mkdir /new - 1", "move /a /b 2", "copy /a /b 3", "delete /a - 4", "favorite /a 1 5",
        ]
        try await withChanger(lines, grants: [], items: ["/a"]) { fixture, script in
            await run(fixture)
            let said = try said(script)
            #expect(said == ["mkdir -6", "move -6", "copy -6", "delete -6", "favorite -6"])
            #expect(fixture.sink.intents.isEmpty)
            let told = fixture.log.messages.filter { $0.contains("grant: [server-changes]") }
            #expect(told.count == 1 && told[0].contains("`plugins.org.example.changer`"), "\(told)")
            #expect(await report(fixture, Self.changer)?.state == .running)
        }
    }

    @Test("G20: with the grant each change is a request of the call, in order; wrong arguments are refused")
    func granted() async throws {
        let lines = [
            "mkdir /new - 1", "move /a /b 2", "copy /a /c 3", "favorite /a 1 4", "favorite /a 0 5", "delete /a - 6",
            "mkdir new - 7", "mkdir /x/../y - 8", "move /none /b 9", "move /a b 10", "favorite /a 2 11",
            "delete /a - -", "mkdir /new - 12 1", "copy /a /c 13 0x80",
        ]
        try await withChanger(lines, items: ["/a"]) { fixture, script in
            await run(fixture)
            let said = try said(script)
            #expect(
                said == [
                    "mkdir 0", "move 0", "copy 0", "favorite 0", "favorite 0", "delete 0", "mkdir -2", "mkdir -2",
                    "move -3", "move -2", "favorite -2", "delete -2", "mkdir -2", "copy -2",
                ])
            let id = LocalID("id:/a")
            func path(_ text: String) -> ItemPath { ItemPath(unchecked: text) }
            #expect(
                fixture.sink.intents.map(\.change) == [
                    .server(.createFolder(path("/new"))), .server(.move(id, to: path("/b"))),
                    .server(.copy(id, to: path("/c"))), .server(.setFavorite(id, true)),
                    .server(.setFavorite(id, false)), .server(.delete(id)),
                ])
            #expect(fixture.sink.intents.map(\.key) == ["1", "2", "3", "4", "5", "6"])
            #expect(fixture.sink.intents.allSatisfy { $0.plugin == Self.changer })
            #expect(fixture.sink.deletions == [id])
        }
    }

    @Test("G20: a call that fails has asked for no change of the server")
    func failed() async throws {
        try await withChanger(["mkdir /new - 1", "delete /a - 2", "fail"], items: ["/a"]) { fixture, script in
            await run(fixture)
            let said = try said(script)
            #expect(said == ["mkdir 0", "delete 0"])
            #expect(fixture.sink.intents.isEmpty && fixture.sink.deletions.isEmpty)
        }
    }

    @Test("G21: a run's deletions are decided about together, before the first is made, and keep their order")
    func together() async throws {
        let paths = (0..<2_300).map { "/\(10_000 + $0)" }
        try await withChanger(["mkdir /new - first"], deletes: "!removed", items: paths) { fixture, _ in
            await run(fixture)
            #expect(fixture.sink.deletions == paths.map { LocalID("id:" + $0) })
            #expect(fixture.sink.intents.map(\.key) == ["first"] + paths.map { "delete:" + $0 })
        }
    }

    @Test("G20: a run that ended at the transaction of its requests asks again, and one record comes of it")
    func repeated() async throws {
        struct Cut: Error {}
        let isCut = Counter()
        let effect: @Sendable (Intent, Transaction) throws -> Void = { intent, _ in
            guard intent.key == "2" else { return }
            if isCut.add() == 1 { throw Cut() }
        }
        try await withChanger(["mkdir /x - 1", "mkdir /y - 2"], effect: effect) { fixture, _ in
            await run(fixture)
            await run(fixture)
            // The first run reached the first request too, whose transaction was rolled back.
            #expect(fixture.sink.intents.map(\.key) == ["1", "1", "2"])
        }
    }

    @Test("G20: a request that is refused is in the plugin's log and report, and is no mistake of the plugin's")
    func refused() async throws {
        let effect: @Sendable (Intent, Transaction) throws -> Void = { _, _ in
            throw RefusedIntent(why: "something is there")
        }
        let lines = (0..<5).map { "move /a /b \($0)" }
        try await withChanger(lines, items: ["/a"], effect: effect) { fixture, _ in
            await run(fixture)
            let report = try #require(await report(fixture, Self.changer))
            #expect(report.state == .running)
            let reason = report.reason ?? ""
            #expect(reason.hasPrefix("refused changes of the server: 5; the last time: "), "\(reason)")
            #expect(reason.hasSuffix("the first: move of /a to /b was refused: something is there"), "\(reason)")
            #expect(fixture.log.messages.contains { $0.hasPrefix("warning") && $0.contains("move of /a to /b") })
            #expect(fixture.policies.takeFailures().isEmpty)
            let dropped = try fixture.lines().filter { $0.phase == "dropped" }
            #expect(dropped.count == 5 && dropped.first?.what == "move" && dropped.first?.text == "/a to /b")
        }
    }

    @Test("P54: a dry run tells of changes of the server with what they make, and makes none")
    func preview() async throws {
        let lines = ["mkdir /new - 1", "move /a /b 2", "copy /a /c 3", "favorite /a 1 4"]
        try await withChanger(lines, deletes: "true", items: ["/a"]) { fixture, script in
            let wishes = Collected<Wish>()
            try await fixture.policies.dryRun(.itemListUpdateCompleted) { wishes.add($0) }
            let told = wishes.all.map { wish in
                [wish.call, wish.would ?? "-", wish.path?.text ?? "-", wish.target?.text ?? "-"].joined(separator: " ")
            }
            #expect(
                told == [
                    "willEnterTrigger createFolder /new -", "willEnterTrigger move /a /b",
                    "willEnterTrigger copy /a /c", "willEnterTrigger setFavorite /a -", "performCleanup delete /a -",
                ])
            #expect(fixture.sink.intents.isEmpty && fixture.sink.deletions.isEmpty)
        }
        try await withChanger(lines, deletes: "true", grants: [], items: ["/a"]) { fixture, _ in
            let wishes = Collected<Wish>()
            try await fixture.policies.dryRun(.itemListUpdateCompleted) { wishes.add($0) }
            #expect(wishes.all.compactMap(\.would).isEmpty)
        }
    }

    @Test(
        "G12: a plugin that was built with the headers of ABI 1.0 runs on a host of today, and asks for what it knows")
    func firstHeaders() async throws {
        try await withTemporaryFolder { folder in
            try CompiledPlugin.writeFirstHeaders(into: folder)
            try await withProcessorFixture(headers: folder, settings: ["match": "true"], items: ["/a"]) { fixture in
                await run(fixture)
                #expect(fixture.sink.intents.map(\.change) == [.download(LocalID("id:/a"), whileCovered: false)])
                let report = await report(fixture, PluginID("org.example.wilful"))
                #expect(report?.abi == "1.0" && report?.state == .running && report?.reason == nil)
            }
        }
    }

    @Test("G20: a plugin that asks again whenever its change is made is stopped, and named with the path")
    func endless() async throws {
        try await withTemporaryFolder { folder in
            let script = "\(folder)/script"
            try Files.write("mkdir /x - 1\n", to: script)
            // Each request changes an item, which sets off another run.
            let effect: @Sendable (Intent, Transaction) throws -> Void = { _, transaction in
                guard var item = try transaction.items.item(localID: LocalID("id:/a")) else { return }
                item.size = (item.size ?? 0) + 1
                try transaction.items.update(item)
            }
            let settings = ["script": script, "always": "yes", "deletes": "", "triggers": "0xffffffff"]
            try await withProcessorFixture(
                "changer", settings: settings, grants: [.serverChanges], items: ["/a"], effect: effect
            ) { fixture in
                for _ in 0..<40 {
                    try await fixture.database.write { transaction in
                        guard var item = try transaction.items.item(localID: LocalID("id:/a")) else { return }
                        item.isFavorite.toggle()
                        try transaction.items.update(item)
                    }
                    await fixture.policies.waitUntilIdle()
                }
                #expect(fixture.sink.intents.count <= 20, "\(fixture.sink.intents.count)")
                let failures = fixture.policies.takeFailures().map(\.message)
                #expect(failures.contains { $0.contains("the item /x is requested again and again") }, "\(failures)")
            }
        }
    }

    @Test("P14: changes of the server count against the maximum of a processor's records")
    func paced() async throws {
        try await withTemporaryFolder { folder in
            let script = "\(folder)/script"
            try Files.write("mkdir /x - 1\nmkdir /y - 2\nmkdir /z - 3\n", to: script)
            let settings = ["script": script, "deletes": "", "triggers": "2"]
            try await withProcessorFixture(
                "changer", defines: ["MAX_RECORDS=2"], settings: settings, grants: [.serverChanges]
            ) { fixture in
                await run(fixture)
                let said = try said(script)
                #expect(said == ["mkdir 0", "mkdir 0", "mkdir -8"])
            }
        }
    }
}
