import DemoServer
import Model
import TestServer
import TestSupport
import Testing

/// Tests of one processor in each language that there is an interface for.
@Suite(.serialized) struct SameTracesTests {
    private static let plugins = "\(Build.root)/Tests/Support/Plugins"
    private static let sdk = "\(Build.root)/SDK"

    private static let folder = #"/it "is""#

    private static let items = [
        #"{"path":"/it \"is\"","type":"folder"}"#, #"{"path":"/it \"is\"/small","size":1000,"favorite":true}"#,
        #"{"path":"/it \"is\"/large","size":1001}"#, #"{"path":"/it \"is\"/é","size":3}"#,
        #"{"path":"/else","size":5,"cloudStatus":"localCopy"}"#,
    ]

    /// Builds the processor in each language, outside of this package, with the headers and the SDK alone.
    /// - Returns: the libraries' paths by language.
    private func libraries(in folder: String) async throws -> [(language: String, path: String)] {
        let flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-I", "\(Self.sdk)/C/include"]
        try await mustRun("cc", ["-std=c99"] + flags + ["\(Self.plugins)/same.c", "-o", "\(folder)/same-c.so"])
        try await mustRun(
            "g++",
            ["-std=c++11", "-I", "\(Self.sdk)/Cpp"] + flags + [
                "\(Self.plugins)/same.cpp", "-o", "\(folder)/same-cpp.so",
            ])
        let swift = "\(folder)/swift"
        let manifest = """
            // swift-tools-version: 6.3
            import PackageDescription

            let package = Package(
                name: "same",
                products: [.library(name: "Same", type: .dynamic, targets: ["Same"])],
                dependencies: [.package(name: "larder-sdk", path: "../larder/SDK")],
                targets: [.target(name: "Same", dependencies: [.product(name: "LarderSDK", package: "larder-sdk")])])
            """
        try await mustRun("mkdir", ["-p", "\(swift)/Sources/Same"])
        try await mustRun("ln", ["-s", Build.root, "\(folder)/larder"])
        try Files.write(manifest, to: "\(swift)/Package.swift")
        try await mustRun("cp", ["\(Self.plugins)/same.swift", "\(swift)/Sources/Same/"])
        try await mustRun("swift", ["build", "--package-path", swift, "--disable-automatic-resolution"])
        return [
            ("C", "\(folder)/same-c.so"), ("C++", "\(folder)/same-cpp.so"),
            ("Rust", try await Cargo.plugin("\(Self.plugins)/same.rs", named: "same", in: folder)),
            ("Swift", "\(swift)/.build/debug/libSame.so"),
        ]
    }

    @Test("G3, G28: one processor in C, C++, Rust and Swift gives the same traces, in a trial and in a host")
    func same() async throws {
        try await withTemporaryFolder { folder in
            let libraries = try await libraries(in: folder)
            try await expectSameTrials(libraries, in: folder)
            try await expectTrialsAsInHost(libraries, in: folder)
        }
    }

    /// Expects that the libraries' traces of trials are equal.
    private func expectSameTrials(_ libraries: [(language: String, path: String)], in folder: String) async throws {
        let (file, config) = ("\(folder)/items.jsonl", "\(folder)/config.yaml")
        try Files.write(Self.items.map { $0 + "\n" }.joined(), to: file)
        var first: [String: String] = [:]
        for (language, library) in libraries {
            /// Returns what a trial says, without times.
            func traced(_ arguments: String...) async throws -> String {
                let result = try await run(
                    try Build.larder, ["plugin", "try", library, "--items", file, "--json"] + arguments,
                    environment: ["TMPDIR": folder])
                return result.output.replacing(#/"time":"[^"]*",|,"microseconds":\d+/#, with: "")
            }
            try Files.write(
                """
                accounts:
                  - { name: home, url: "http://127.0.0.1:9/", username: ada, password: { env: NONE }, vault: "\(folder)/v" }
                plugins:
                  org.example.same: { enabled: true, library: "\(library)", settings: { largest: 0B } }
                """, to: config)
            var traces = ["refused": try await traced("--config", config)]
            for trigger in ["itemsChanged", "itemListUpdateCompleted", "timer"] {
                traces[trigger] = try await traced("--trigger", trigger)
            }
            if first.isEmpty {
                first = traces
                let all = try #require(traces["itemsChanged"])
                for part in [
                    #""text":"changed: /it \"is\"/large""#, "trigger 0, runs |, policies 0, folders 1",
                    #"is\"/large is too large""#, "the host's actions.download failed: not found", "addPolicy",
                    "putValue", "removeLocalCopy", #"/it \"is\"/é"#,
                ] { #expect(all.contains(part), "\(part) is not in \(all)") }
                #expect(traces["refused"]?.contains("nothing is as small as 0 bytes") == true)
                #expect(traces["refused"]?.contains("perform") == false)
            }
            for (trigger, trace) in traces {
                let pairs = zip(trace.split(separator: "\n"), (first[trigger] ?? "").split(separator: "\n"))
                let other = pairs.first { $0 != $1 }
                let isSame = trace == first[trigger]
                #expect(
                    isSame, "\(language), \(trigger): \(other?.0 ?? ""), not \(other?.1 ?? "")")
            }
        }
    }

    /// Expects of random items that a host calls each library as a trial does, which has the host's items.
    private func expectTrialsAsInHost(_ libraries: [(language: String, path: String)], in folder: String) async throws {
        var random = SeededGenerator()
        try await TestServer.running { server in
            for (language, library) in libraries {
                let paths = Self.putItems(on: server.tree, &random)
                let home = "\(folder)/host of \(language)"
                try Files.makeFolder(home)
                let account = try Account(in: home, server)
                try #require(try await account.larder("run", "--once").exitCode == 0)
                let settings = """
                    plugins:
                      org.example.same: { enabled: true, library: "\(library)", isolation: in-process }

                    """
                let config = "\(home)/config.yaml"
                try Files.write(try Files.text(config) + settings, to: config, mode: 0o600)
                for trigger in ["itemListUpdateCompleted", "itemsChanged"] {
                    // The host makes a run for each folder of which it finds a change.
                    let changed = paths.filter { $0.hasPrefix(Self.folder) && $0.count { $0 == "/" } == 2 }
                    if trigger == "itemsChanged" { for path in changed { server.tree.put(path, "changed") } }
                    let (items, trace) = ("\(home)/items.jsonl", "\(home)/trace")
                    // The host drops what no policy covers, so that the items stay as they are for the trial.
                    _ = try await account.larder("run", "--once", "--trace", trace)
                    let all = try await account.larder("--json", "ls", "--recursive").lines
                    let given =
                        trigger != "itemsChanged"
                        ? all
                        : all.filter { line in
                            changed.contains { line.hasPrefix(#"{"path":\#(JSONValue.string($0).text),"#) }
                        }
                    try Files.write(given.map { $0 + "\n" }.joined(), to: items)
                    let tried = try await account.larder(
                        "--json", "plugin", "try", library, "--items", items, "--trigger", trigger)
                    let (host, trial) = (
                        Self.firstRun(trigger, in: try Files.text(trace)), Self.firstRun(trigger, in: tried.output)
                    )
                    let comment: Comment = "\(language), LARDER_TEST_SEED=\(random.seed)\n\(tried.summary)"
                    #expect(host == trial, comment)
                    #expect(trial.count > 8, comment)
                }
            }
        }
    }

    /// Replaces the server's items by random ones.
    /// - Returns: The paths of the files.
    static func putItems(on tree: Tree, _ random: inout SeededGenerator) -> [String] {
        let folders = [Self.folder, "/else", Self.folder + "/deep"]
        for folder in folders { tree.remove(folder) }
        for folder in folders { tree.makeFolder(folder) }
        return (0..<Int.random(in: 2...18, using: &random)).map { number in
            // One is in the folder that the processor is about.
            let folder = number == 0 ? Self.folder : folders.randomElement(using: &random) ?? ""
            let name = ["a", "é", "100%", #"q""#, "B"].randomElement(using: &random) ?? ""
            let size = [0, 1_000, 1_001, 5_000].randomElement(using: &random) ?? 0
            tree.put("\(folder)/\(name) \(number)", String(repeating: "x", count: size))
            return "\(folder)/\(name) \(number)"
        }
    }

    /// Returns the calls and requests of the first run for a trigger in which an item matched. What depends on the runs
    /// before it is left out: the messages, the policy that the first run of all adds, and whether policies changed.
    static func firstRun(_ trigger: String, in trace: String, of plugin: String = "org.example.same") -> [String] {
        var lines: [String] = []
        for line in trace.split(separator: "\n") where line.contains("\"\(plugin)\"") {
            guard line.contains(#""trigger":"\#(trigger)""#), !line.contains(#""phase":"dropped""#),
                !line.contains(#""phase":"message""#), !line.contains(#""what":"addPolicy""#),
                !line.contains(#""call":"updatePolicies""#)
            else { continue }
            lines.append(String(line).replacing(#/"seq":\d+,|"time":"[^"]*",|,"microseconds":\d+/#, with: ""))
            if line.contains("didPassTrigger"), line.contains("status") {
                if lines.contains(where: { $0.contains("performAction") }) { return lines }
                lines = []
            }
        }
        return lines
    }
}
