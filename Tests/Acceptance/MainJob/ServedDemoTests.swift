import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests of `larder demo --serve`.
@Suite struct ServedDemoTests {
    @Test(
        "A served demo goes on until a signal, other commands work with its config, and it leaves nothing behind",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func serves(signal: Int32) async throws {
        try await withTemporaryFolder { folder in
            try await DemoProcess.running(["demo", "--serve"], in: folder) { demo in
                let place = try await demo.place()
                let host = try #require(place.host)
                let children = try demo.children()
                #expect(children.count == 2 && children.contains(host))
                let larder = demo.larder(place)
                let pinned = try await larder("pin", "/Photos")
                #expect(pinned.exitCode == 0, "\(pinned.summary)")
                #expect(try await larder("wait").exitCode == 0)
                #expect(Files.exists("\(place.files)/Photos/2025/beach.jpg"))
                demo.child.send(signal)
                #expect(await demo.child.wait(atMost: .seconds(120)) == .code(0))
                #expect(!children.contains(where: runs))
                #expect(try demo.left().isEmpty)
                // The person's list of vaults does not have the demo's.
                #expect(!Files.exists("\(folder)/.local/state/larder/vaults"))
            }
        }
    }

    @Test("With --plugin the host runs the plugins of a library; one that is none is told of, and nothing is started")
    func plugin() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/a \"library\".so"
            try await CompiledPlugin.build("recorder", to: library)
            try await DemoProcess.running(["demo", "--serve", "--plugin", library], in: folder) { demo in
                let place = try await demo.place()
                let info = try await demo.larder(place)("--json", "plugin", "info", "org.example.recorder")
                #expect(info.output.contains(#""state":"running""#), "\(info.summary)")
            }
            try Files.write("text", to: "\(folder)/none.so")
            for (file, code) in [("none.so", 65), ("missing.so", 66)] {
                let result = try await run(
                    "env",
                    ["TMPDIR=\(folder)/tmp", try Build.larder, "demo", "--serve", "--plugin", "\(folder)/\(file)"])
                #expect(result.exitCode == Int32(code), "\(result.summary)")
            }
            #expect(try await run(try Build.larder, ["demo", "--plugin", library]).exitCode == 64)
            #expect(try Files.names(in: "\(folder)/tmp").isEmpty)
        }
    }

    @Test("A served demo whose host or server ends says how and ends, and --keep leaves the folder")
    func ends() async throws {
        try await withTemporaryFolder { folder in
            for (isHost, code, word) in [(true, Int32(70), "host"), (false, 1, "server")] {
                try await DemoProcess.running(["demo", "--serve", "--keep"], in: folder) { demo in
                    let place = try await demo.place()
                    let children = try demo.children()
                    for child in children where (child == place.host) == isHost { kill(child, SIGKILL) }
                    #expect(await demo.child.wait(atMost: .seconds(120)) == .code(code))
                    #expect(try demo.errors().contains("the demo's \(word) has ended with signal 9"))
                    #expect(Files.exists(place.config) && !children.contains(where: runs))
                    Files.remove(place.folder)
                }
            }
        }
    }

    @Test("A served demo that is killed leaves no process behind")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            try await DemoProcess.running(["demo", "--serve"], in: folder) { demo in
                _ = try await demo.place()
                let children = try demo.children()
                demo.child.send(SIGKILL)
                try await soon("the host and the server end") { !children.contains(where: runs) }
            }
        }
    }
}
