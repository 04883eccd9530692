import FoundationEssentials
import TestSupport
import Testing

/// Tests of the documentation comments of the SDK for Swift.
@Suite struct ExampleTests {
    private static let sources = "\(Build.root)/SDK/Swift"

    private static func examples() throws -> [CommentExample] {
        try Files.filesBelow(sources).sorted().filter { $0.hasSuffix(".swift") }.flatMap {
            try CommentExample.swift(in: "\(sources)/\($0)")
        }
    }

    @Test("G15: the examples in the SDK's comments compile against it")
    func compiled() async throws {
        let examples = try Self.examples()
        #expect(examples.count > 50)
        try await withTemporaryFolder { folder in
            var files: [String] = []
            for example in examples {
                files.append("\(folder)/example\(files.count).swift")
                try Files.write(example.source(number: files.count), to: files[files.count - 1])
            }
            try await CompiledPlugin.checkSwift(files)
        }
    }

    @Test("G15: an example that the SDK does not fit is found, with its file and line")
    func broken() async throws {
        try await withTemporaryFolder { folder in
            let comment =
                "/// A type.\n///\n/// ```swift\n/// let now = try host.clock.now()\n/// ```\nstruct Sample {}\n"
            try Files.write(comment, to: "\(folder)/Sample.swift")
            let example = try #require(try CommentExample.swift(in: "\(folder)/Sample.swift").first)
            #expect(example.declaration == "struct Sample {}")
            try Files.write(example.source(number: 0), to: "\(folder)/example.swift")
            let error = await #expect(throws: SetupError.self) {
                try await CompiledPlugin.checkSwift(["\(folder)/example.swift"])
            }
            #expect(error.map { "\($0)" }?.contains("\(folder)/Sample.swift:4:") == true)
        }
    }

    @Test("G15: each public type of the SDK has an example, and each public declaration says what it is and throws")
    func documented() async throws {
        try await withTemporaryFolder { folder in
            try await mustRun(
                "swift",
                [
                    "symbolgraph-extract", "-module-name", "LarderSDK", "-I", "\(Build.root)/.build/debug/Modules",
                    "-I",
                    "\(Build.root)/SDK/C/include", "-minimum-access-level", "public", "-skip-synthesized-members",
                    "-target", "x86_64-unknown-linux-gnu", "-output-dir", folder,
                ])
            let symbols = try Files.names(in: folder).flatMap { name in
                try JSONDecoder().decode(SymbolGraph.self, from: Data(Files.read("\(folder)/\(name)"))).symbols
            }.filter { $0.location?.uri.contains("/SDK/Swift/") == true }
            #expect(symbols.count > 500)
            #expect(symbols.filter { $0.comment.isEmpty }.map(\.name) == [])
            #expect(symbols.filter { $0.isThrowing && !$0.comment.contains("- Throws:") }.map(\.name) == [])
            // The example of a type inside another type is part of the outer type's example.
            let types = symbols.filter {
                $0.isType && ($0.path.count == 1 || $0.path.first == "Host" && $0.path.count == 2)
            }
            #expect(types.count > 50)
            #expect(types.filter { !$0.comment.contains("```swift") }.map(\.name) == [])
        }
    }
}

extension CommentExample {
    /// Returns a source file that compiles the example. An example that declares a type or a function is taken as it
    /// is; any other is put into a function with a host and an item.
    fileprivate func source(number: Int) -> String {
        let position = "#sourceLocation(file: \"\(file)\", line: \(line))\n"
        if ["struct ", "@c ", "func "].contains(where: code.hasPrefix) {
            return (code.contains("public ") ? "public " : "") + "import LarderSDK\n\(position)\(code)"
        }
        return """
            import LarderSDK
            func example\(number)(_ host: Host, _ item: Item) throws(PluginError) {
            \(position)\(code)}

            """
    }
}

/// The public symbols of a module, as the compiler describes them.
private struct SymbolGraph: Decodable {
    var symbols: [Symbol]

    struct Symbol: Decodable {
        struct Kind: Decodable { var identifier: String }
        struct Location: Decodable { var uri: String }
        struct Comment: Decodable {
            struct Line: Decodable { var text: String }
            var lines: [Line]
        }
        struct Fragment: Decodable { var spelling: String }

        var kind: Kind
        var pathComponents: [String]
        var location: Location?
        var docComment: Comment?
        var declarationFragments: [Fragment]

        var path: [String] { pathComponents }
        var name: String { path.joined(separator: ".") }
        var comment: String { (docComment?.lines ?? []).map(\.text).joined(separator: "\n") }
        var isThrowing: Bool { declarationFragments.contains { $0.spelling.hasPrefix("throws") } }
        var isType: Bool {
            ["swift.struct", "swift.enum", "swift.class", "swift.protocol"].contains(kind.identifier)
        }
    }
}
