import CLarder
import Glibc
import LarderFakeHost
import Model
import TestSupport
import Testing

/// Tests that the fake host makes the same calls as the host.
@Suite struct TrialTests {
    /// Returns random items with paths that differ, not more than the plugin may ask for at a time: a trial tells what it
    /// would ask for without a limit.
    private static func items(_ random: inout SeededGenerator) -> [Item] {
        var items = [Item.folder(#"/it "is""#), .folder("/else")]
        for number in 0..<Int.random(in: 0...18, using: &random) {
            let folder = [#"/it "is""#, "/else", "", #"/it "is"/deep"#].randomElement(using: &random) ?? ""
            let name = ["a", "é", "100%", #"q""#, "B"].randomElement(using: &random) ?? ""
            let isHere = Bool.random(using: &random)
            var item = Item.file("\(folder)/\(name) \(number)", here: isHere ? "user" : nil)
            item.size = [nil, 0, 1_000, 1_001, 5_000].randomElement(using: &random) ?? nil
            item.isFavorite = Bool.random(using: &random)
            items.append(item)
        }
        return items.shuffled(using: &random)
    }

    private static func json(_ item: Item) -> String {
        var members: [JSONValue.Member] = [
            .init(name: "path", value: .string(item.path.text)),
            .init(name: "localID", value: .string(item.localID.text)),
            .init(name: "type", value: .string(item.kind == .file ? "file" : "folder")),
            .init(name: "favorite", value: .bool(item.isFavorite)),
            .init(name: "cloudStatus", value: .string(item.cloudStatus.name)),
            .init(name: "etag", value: .string("\"1\"")),
        ]
        if let size = item.size { members.append(.init(name: "size", value: .integer(size))) }
        return JSONValue.object(members).text
    }

    /// The calls and requests in a trace.
    private struct Trace: Equatable {
        var calls: [String] = []
        var actions: [String] = []
        var policies = 0
        var values = 0

        /// Reads what `larder plugin try --json` prints.
        init(lines: [String]) throws {
            for line in lines {
                let json = try JSONValue(parsing: line)
                func text(_ name: String) -> String? { if case .string(let text) = json[name] { text } else { nil } }
                let call = (text("call") ?? "").replacing(#/[A-Z]/#) { "_\($0.output.lowercased())" }
                let name = call == "perform_preflight_on_policies" ? "preflight" : call
                switch (text("phase"), text("what")) {
                // The last line is about the whole trial.
                case (nil, _) where name.isEmpty: continue
                case (nil, _): calls.append("\(name) \(text("path") ?? "") \(text("status") == "ok")")
                case ("asked", "addPolicy"): policies += 1
                case ("asked", "putValue"): values += 1
                case ("asked", let what?):
                    actions.append("\(what == "removeLocalCopy" ? "remove_local_copy" : what) \(text("text") ?? "")")
                default: continue
                }
            }
        }

        /// Reads the record of the fake host.
        init(_ fixture: PluginFixture) {
            calls = fixture.entries(LARDER_FAKE_CALL) {
                "\(String(cString: $0.name)) \($0.path.map { String(cString: $0) } ?? "") \($0.status == LARDER_OK)"
            }
            actions = fixture.actions.map { "\($0.name) \($0.path)" }
            (policies, values) = (fixture.policyChanges.count, larder_fake_count(fixture.fake, LARDER_FAKE_VALUE))
        }
    }

    /// Builds the processor that there is in each language.
    private static func libraries(in folder: String) async throws -> [String] {
        let plugins = "\(Build.root)/Tests/Support/Plugins"
        try await CompiledPlugin.build("same", to: "\(folder)/c.so")
        try await mustRun(
            "g++",
            [
                "-std=c++11", "-shared", "-fPIC", "-I", "\(Build.root)/SDK/C/include", "-I", "\(Build.root)/SDK/Cpp",
                "\(plugins)/same.cpp", "-o", "\(folder)/cpp.so",
            ])
        try await CompiledPlugin.buildSwift("\(plugins)/same.swift", module: "Tried", to: "\(folder)/swift.so")
        return ["\(folder)/c.so", "\(folder)/cpp.so", "\(folder)/swift.so"]
            + [try await Cargo.plugin("\(plugins)/same.rs", named: "tried", in: folder)]
    }

    @Test("G28: the fake host makes the calls and takes the requests that `plugin try` does, on random items")
    func same() async throws {
        try await withTemporaryFolder { folder in
            var random = SeededGenerator()
            for library in try await Self.libraries(in: folder) {
                for trigger in [Trigger.itemsChanged, .itemListUpdateCompleted, .timer] {
                    try await expectSame(
                        library, trigger, Self.items(&random), in: folder, "LARDER_TEST_SEED=\(random.seed)")
                }
            }
        }
    }

    private func expectSame(
        _ library: String, _ trigger: Trigger, _ items: [Item], in folder: String, _ comment: String
    ) async throws {
        try Files.write(items.map { Self.json($0) + "\n" }.joined(), to: "\(folder)/items.jsonl")
        let tried = try await run(
            try Build.larder,
            ["plugin", "try", library, "--items", "\(folder)/items.jsonl", "--json", "--trigger", trigger.name],
            environment: ["TMPDIR": folder])
        let fixture = try PluginFixture(library: library)
        for item in items { fixture.put(item) }
        try #require(fixture.start("org.example.same") == LARDER_OK, "\(fixture.problem ?? "")")
        fixture.run(trigger, items.sorted { $0.path < $1.path })
        let (host, fake) = (try Trace(lines: tried.lines), Trace(fixture))
        #expect(host.calls == fake.calls, "\(library), \(comment)")
        #expect(host == fake, "\(library), \(comment)")
        #expect(host.calls.count >= 3, "\(tried.errors)")
    }
}
