import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Tests of `larder plugin try`, with the guide's plugin.
@Suite struct PluginTryTests {
    /// A folder with the guide's plugin, or one that does something else in it for each item, built.
    private struct Workshop {
        let folder: String
        var library: String { "\(folder)/libfavorites.so" }

        init(_ folder: String, doing code: String = "") async throws {
            self.folder = folder
            try await build(doing: code)
        }

        mutating func build(doing code: String) async throws {
            let guide = try Guide()
            let source = try guide.block("c", with: "struct plugin {")
                .replacing("return me->actions->download(", with: "\(code) return me->actions->download(")
            try Files.write(
                "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n" + source, to: "\(folder)/favorites.c")
            // The linker writes a library piece by piece.
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC", "-I", "\(Build.root)/SDK/C/include",
                    "\(folder)/favorites.c", "-o",
                    "\(folder)/made",
                ])
            try #require(rename("\(folder)/made", library) == 0)
        }

        /// Runs `larder plugin try` without a config.
        func tried(_ arguments: String...) async throws -> ProcessResult {
            try await run(
                try Build.larder, ["plugin", "try", library] + arguments,
                environment: ["TMPDIR": folder, "SWIFT_BACKTRACE": "enable=no"])
        }

        func items(_ lines: String...) throws -> String {
            let file = "\(folder)/items.jsonl"
            try Files.write(lines.map { $0 + "\n" }.joined(), to: file)
            return file
        }

        /// Whether a trial has left anything behind.
        var isClean: Bool {
            get throws { try !Files.names(in: folder).contains { $0.hasPrefix("larder-try") } }
        }
    }

    private static let three = [
        #"{"path":"/a","favorite":true}"#, #"{"path":"/b","favorite":true,"cloudStatus":"localCopy"}"#,
        #"{"path":"/c d","favorite":true,"cloudStatus":"localCopy","remoteVersion":"newer","etag":"\"1\""}"#,
    ]

    @Test("plugin try calls a plugin for the items of a file, and prints the calls and what they ask for")
    func calls() async throws {
        try await withTemporaryFolder { folder in
            let workshop = try await Workshop(folder)
            let file = try workshop.items(Self.three[0], "", Self.three[1] + "\r", Self.three[2])
            let expected = """
                org.example.favorites
                  updatePolicies
                  performPreflightOnPolicies
                  willEnterTrigger
                  matchCondition
                    favorite && !removed && type == "file" && (cloudStatus == "cloudOnly" || cloudStatus == "localCopy" \
                && remoteVersion == "newer")
                  beginMatching
                  performAction /a
                    asks: download /a
                  performAction /c d
                    asks: download /c d
                  endMatching
                  didPassTrigger

                """
            for trigger in ["itemListUpdateCompleted", "itemsChanged", "timer"] {
                let result = try await workshop.tried("--items", file, "--trigger", trigger)
                #expect(result.output == expected && result.errors == "" && result.exitCode == 0, "\(result.summary)")
            }
            let piped = try await run(
                "sh", ["-c", "cat '\(file)' | '\(try Build.larder)' plugin try '\(workshop.library)' --items -"])
            #expect(piped.output == expected && piped.errors == "", "\(piped.summary)")
            let wrong = try await run(
                "sh", ["-c", "echo '{' | '\(try Build.larder)' plugin try '\(workshop.library)' --items -"])
            #expect(wrong.exitCode == 65 && wrong.errors.contains("standard input, line 1"), "\(wrong.summary)")
            let json = try await workshop.tried("--items", file, "--json")
            #expect(json.lines.allSatisfy { $0.hasPrefix("{\"seq\":") && $0.hasSuffix("}") })
            #expect(json.lines.count { $0.contains(#""phase":"asked""#) } == 2)
            let none = try await workshop.tried()
            #expect(none.exitCode == 0 && !none.output.contains("performAction"))
            #expect(try workshop.isClean)
        }
    }

    @Test("plugin try takes the items of an account, as itself or as its listing, and changes nothing of it")
    func account() async throws {
        try await withTemporaryFolder { folder in
            let workshop = try await Workshop(folder)
            try await TestServer.running { server in
                server.tree.put("/50% off", "x")
                server.tree.put("/Folder/b", "y")
                let account = try Account(in: folder, server)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                for path in ["/50% off", "/Folder/b"] {
                    #expect(try await account.larder("favorite", path, "--queue").exitCode == 0)
                }
                let asks = server.requests.count
                let listing = try await account.larder("ls", "-r", "--json")
                let file = try workshop.items(listing.output)
                let fromFile = try await workshop.tried("--items", file)
                let own = try await account.larder("plugin", "try", workshop.library, "--account", "home")
                #expect(own.output == fromFile.output && own.exitCode == 0, "\(own.summary)\(fromFile.summary)")
                #expect(own.output.contains("asks: download /50% off\n"))
                #expect(server.requests.count == asks)
                let both = try await account.larder(
                    "plugin", "try", workshop.library, "--account", "home", "--items", file)
                #expect(both.exitCode == 64)
                #expect(try await account.larder("ls", "-r", "--json").output == listing.output)
            }
        }
    }

    @Test("A plugin that ends its process ends the trial with 70, and leaves nothing behind")
    func ended() async throws {
        try await withTemporaryFolder { folder in
            let codes = [
                "_exit(0);", "_exit(64);", "exit(0);", "abort();", "*(volatile int *)0 = 1;", "raise(SIGSTOP);",
                "raise(SIGKILL);",
            ]
            for code in codes {
                let workshop = try await Workshop(folder, doing: code)
                let file = try workshop.items(Self.three[0])
                let result = try await workshop.tried("--items", file)
                #expect(result.exitCode == 70 && result.errors.contains("plugin"), "\(code) \(result.summary)")
                #expect(result.output.hasSuffix("  performAction /a\n"))
                #expect(try workshop.isClean)
            }
        }
    }

    @Test("What a plugin leaves running ends with the trial, and nobody waits for it")
    func leftover() async throws {
        try await withTemporaryFolder { folder in
            // The copies have the trial's output. The second is in no group of the trial's, and its parent is gone.
            let workshop = try await Workshop(
                folder,
                doing: """
                    if (fork() == 0) for (;;) pause();
                    if (fork() == 0) { setsid(); if (fork() != 0) _exit(0); for (;;) pause(); }
                    """)
            let result = try await workshop.tried("--items", try workshop.items(Self.three[0]))
            #expect(result.exitCode == 0 && result.output.contains("asks: download /a"), "\(result.summary)")
        }
    }

    @Test("A call that fails is shown with what it would have asked for, and the trial ends with 1")
    func failed() async throws {
        try await withTemporaryFolder { folder in
            let workshop = try await Workshop(
                folder,
                doing:
                    "me->actions->download(me->host, item->local_id, 0, larder_str_make(NULL, 0)); return LARDER_FAILED;"
            )
            let result = try await workshop.tried("--items", try workshop.items(Self.three[0]))
            #expect(
                result.output.contains(
                    """
                      performAction /a
                        not asked: download /a (the call returned failed)
                        returned failed

                    """), "\(result.summary)")
            #expect(result.exitCode == 1 && result.errors.contains("org.example.favorites made mistakes"))
        }
    }

    @Test("Items that cannot be read are named with their line, and nothing is called")
    func wrong() async throws {
        try await withTemporaryFolder { folder in
            let workshop = try await Workshop(folder)
            let cases = [
                (#"{"path":"/a",}"#, "line 1, column 14"), (#"{"path":"/ä","favorite":tru}"#, "line 1, column 25"),
                ("{}\n", "line 1, `path`: it is missing"), ("\n[]", "line 2, column 1"),
                (#"{"path":"a"}"#, "`path`: it does not begin"), (#"{"path":"/a","size":"1"}"#, "`size`"),
                (#"{"path":"/","type":"file"}"#, "`type`: the root is a folder"),
                (#"{"path":"/a","size":-1}"#, "`size`: it is negative"),
                (#"{"path":"/a","lastUsed":"9999-01-01T00:00:00Z"}"#, "from 1678 to 2261"),
                (#"{"path":"/a","lastUsed":"today"}"#, "`lastUsed`"), (#"{"path":"/a","type":"link"}"#, "file, folder"),
                (#"{"path":"/a","syncActivity":["sleeping"]}"#, "`syncActivity`"),
                ("{\"path\":\"/a\"}\n{\"path\":\"/a\"}", "line 2, `path`: the item of line 1"),
                ("{\"path\":\"/a\",\"localID\":\"1\"}\n{\"path\":\"/b\",\"localID\":\"1\"}", "line 2, `localID`"),
            ]
            for (text, place) in cases {
                let result = try await workshop.tried("--items", try workshop.items(text))
                #expect(result.exitCode == 65 && result.errors.contains(place), "\(text): \(result.summary)")
                #expect(result.output == "")
            }
            #expect(try await workshop.tried("--items", try workshop.items("\u{feff}{}")).errors.contains("`path`"))
            let endless = try await workshop.tried("--items", "/dev/zero")
            #expect(endless.exitCode == 65 && endless.errors.contains("16 MiB"), "\(endless.summary)")
            #expect(try await workshop.tried("--items", folder).exitCode == 65)
            // A removed item and another one may have the same path.
            let same = try workshop.items(#"{"path":"/a","removed":true}"#, #"{"path":"/a","favorite":true}"#)
            #expect(try await workshop.tried("--items", same).output.contains("asks: download /a"))
            #expect(try await workshop.tried("--items", "\(folder)/none").exitCode == 66)
            #expect(try await workshop.tried("--trigger", "never").exitCode == 64)
            #expect(try await workshop.tried("--items", "-", "--watch").exitCode == 64)
            try Files.write("text", to: workshop.library)
            #expect(try await workshop.tried().exitCode == 65)
            Files.remove(workshop.library)
            #expect(try await workshop.tried().exitCode == 66)
        }
    }

    @Test("Names in items cannot move the cursor")
    func hostile() async throws {
        try await withTemporaryFolder { folder in
            let workshop = try await Workshop(folder)
            let file = try workshop.items(#"{"path":"/\u001b[2J\u202e\r","favorite":true}"#)
            let result = try await workshop.tried("--items", file)
            #expect(result.output.contains(#"performAction /\u001b[2J\u202e\r"#), "\(result.output)")
            #expect(!result.output.contains("\u{1b}") && !result.output.contains("\u{202e}"))
            let crashing = try await Workshop(folder, doing: "abort();")
            let names = try crashing.items(
                #"{"path":"/é€\u001b\u009b\u202e\u2066\u061c\u200f\u2028x","favorite":true}"#)
            let crash = try await crashing.tried("--items", names)
            #expect(crash.errors.contains("in performAction of /é€???????x"), "\(crash.errors)")
        }
    }

    @Test("plugin try --watch calls a library again when it has changed, and waits while there is none")
    func watch() async throws {
        try await withTemporaryFolder { folder in
            var workshop = try await Workshop(folder)
            let file = try workshop.items(Self.three[0])
            let output = "\(folder)/output"
            let child = try ChildProcess(
                try Build.larder, ["plugin", "try", workshop.library, "--items", file, "--watch"],
                environment: ["TMPDIR": folder], output: output)
            func passes() throws -> Int {
                try Files.text(output).split(separator: "\n").count { $0.contains("didPass") }
            }
            try await soon("the first calls") { try passes() == 1 }
            Files.remove(workshop.library)
            try await workshop.build(doing: "return LARDER_OK;")
            try await soon("the calls of the other library") { try passes() == 2 }
            #expect(try Files.text(output).split(separator: "\n").count { $0.contains("asks:") } == 1)
            child.send(SIGINT)
            let status = await child.wait(atMost: .seconds(60))
            #expect(status == .code(0))
            #expect(try workshop.isClean)
        }
    }

    @Test("Ctrl-C ends the trial of a plugin that hangs, and leaves nothing behind")
    func hangs() async throws {
        try await withTemporaryFolder { folder in
            let workshop = try await Workshop(folder, doing: "for (;;) sleep(1);")
            let output = "\(folder)/output"
            let child = try ChildProcess(
                try Build.larder,
                ["plugin", "try", workshop.library, "--items", try workshop.items(Self.three[0])],
                environment: ["TMPDIR": folder], output: output)
            try await soon("the call that hangs") { try Files.text(output).hasSuffix("performAction /a\n") }
            child.send(SIGINT)
            let status = await child.wait(atMost: .seconds(60))
            #expect(status == .code(128 + SIGINT))
            #expect(try workshop.isClean)
        }
    }
}
