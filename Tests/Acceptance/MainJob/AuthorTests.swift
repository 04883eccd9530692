import DemoServer
import TestServer
import TestSupport
import Testing

/// The promises of the authors' guide and of the headers, tested with the whole program.
@Suite(.serialized) struct AuthorTests {
    @Test("G15: the guide's example, its part of the config and its commands are what a host takes")
    func guide() async throws {
        try await withTemporaryFolder { folder in
            let guide = try Guide()
            try Files.write(try guide.block("c", with: "favorites"), to: "\(folder)/favorites.c")
            try await guide.build(with: "cc", in: folder)
            try await TestServer.running { server in
                server.tree.put("/a", "x")
                let account = try Account(
                    in: folder, server,
                    settings: try guide.block("yaml", with: "org.example.favorites").split(separator: "\n").map(
                        String.init))
                // The host of `plugin dev` runs until somebody ends it, and has tests of its own.
                let commands = guide.commands(of: "larder").map {
                    $0.split(separator: " ").dropFirst().map(String.init)
                }.filter { !$0.contains("dev") }
                #expect(commands.count == 3)
                try Files.write("{\"path\":\"/a\",\"favorite\":true}\n", to: "\(folder)/items.jsonl")
                for command in commands {
                    let files = ["calls.jsonl", "items.jsonl", "./libfavorites.so"]
                    let words = command.map { files.contains($0) ? "\(folder)/\($0)" : $0 }
                    let result = try await account.larder.run(words)
                    #expect(result.exitCode == 0, "\(command): \(result.summary)")
                    if command.contains("try") { #expect(result.output.contains("asks: download /a")) }
                    if command.contains("why") { #expect(result.output.contains("ready"), "\(result.output)") }
                }
                let trace = try Files.text("\(folder)/calls.jsonl")
                #expect(trace.contains(#""plugin":"org.example.favorites""#) && trace.contains("willEnterTrigger"))
            }
        }
    }

    @Test("clock.h: the monotonic clock that plugins get goes on while the machine sleeps")
    func sleep() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/sleeper.so"
            try await CompiledPlugin.build("sleeper", to: library)
            try await TestServer.running { server in
                server.tree.put("/a", "x")
                var account = try Account(
                    in: folder, server,
                    settings: [
                        "plugins:",
                        "  org.example.sleeper: { enabled: true, library: \"\(library)\", isolation: in-process }",
                    ])
                account.larder.environment["LD_PRELOAD"] = library
                let result = try await account.larder("run", "--once")
                #expect(result.errors.contains("hours slept: 1"), "\(result.summary)")
                #expect(!result.errors.contains("hours slept: 0"), "\(result.summary)")
            }
        }
    }
}
