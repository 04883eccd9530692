import TestSupport
import Testing

/// Tests of one processor in each language that there is an interface for.
@Suite(.serialized) struct SameTracesTests {
    private static let plugins = "\(Build.root)/Tests/Support/Plugins"
    private static let sdk = "\(Build.root)/SDK"

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

    @Test("G3: one processor in C, C++, Rust and Swift, built outside of the package, gives the same traces")
    func same() async throws {
        try await withTemporaryFolder { folder in
            let (file, config) = ("\(folder)/items.jsonl", "\(folder)/config.yaml")
            try Files.write(Self.items.map { $0 + "\n" }.joined(), to: file)
            var first: [String: String] = [:]
            for (language, library) in try await libraries(in: folder) {
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
    }
}
