import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests of `larder plugin dev`.
@Suite struct PluginDevTests {
    /// Writes a folder whose `./build` runs a script.
    private func project(_ script: String, in folder: String) throws -> String {
        let project = "\(folder)/own"
        try Files.write("#!/bin/sh\nset -eu\n\(script)\n", to: "\(project)/build", mode: 0o755)
        return project
    }

    /// A script that builds `plugin.c` as an author would, in the place of the library.
    private static let compiling =
        "mkdir -p out; cc -std=c99 -D_POSIX_C_SOURCE=200809L -shared -fPIC -I '\(Build.root)/SDK/C/include' "
        + "plugin.c -o out/own.so"

    /// Returns the guide's plugin, which does something else when it starts.
    private func source(starting code: String = "") throws -> String {
        try "#include <stdlib.h>\n#include <unistd.h>\n"
            + Guide().block("c", with: "struct plugin {")
            .replacing("    me->actions = ", with: "    \(code)\n    me->actions = ")
    }

    @Test("G27: a saved change acts in a host, and a build that fails changes nothing")
    func saves() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/prefix")
            let new = try await installed.run(
                installed.larder, ["plugin", "new", "--language", "c", "--kind", "processor", "fav"], in: folder)
            #expect(new.exitCode == 0, "\(new.summary)")
            let file = "\(folder)/fav/fav.c"
            let source = try Files.text(file)
            try await DemoProcess.running(["plugin", "dev", "\(folder)/fav"], in: folder, by: installed.larder) {
                demo in
                let place = try await demo.place()
                let first = try #require(try await demo.until("hostStarted").pid)
                let info = try await demo.larder(place)("--json", "plugin", "info", "org.example.fav")
                #expect(info.exitCode == 0, "\(info.summary)")
                let library = try Files.read("\(place.folder)/plugins/fav.so")
                // The demo has no favourites, so that nothing is fetched.
                try Files.write("no C", to: file)
                #expect(try await demo.until("buildFailed").exitCode == 1)
                #expect(try runs(first) && Files.read("\(place.folder)/plugins/fav.so") == library)
                #expect(try demo.errors().contains("fav.c"))
                // An editor saves by a rename.
                let changed = source.replacing("favorite && !removed", with: "name == \\\"beach.jpg\\\" && !removed")
                try Files.write(changed, to: "\(folder)/fav/.fav.c.tmp")
                let began = ContinuousClock.now
                #expect(rename("\(folder)/fav/.fav.c.tmp", file) == 0)
                try await soon("the changed plugin asks", beside: demo.child) {
                    try demo.events().contains { $0.phase == "asked" && $0.path == "/Photos/2025/beach.jpg" }
                }
                print("From a save to what the plugin asks for: \(ContinuousClock.now - began)")
                try await soon("the file is fetched", beside: demo.child) {
                    Files.exists("\(place.files)/Photos/2025/beach.jpg")
                }
                let second = try #require(try await demo.until("hostStarted", times: 2).pid)
                // What the host runs is checked beside it.
                #expect(try await demo.until("checked").found == 0)
                #expect(!runs(first) && runs(second))
                demo.child.send(SIGINT)
                #expect(await demo.child.wait(atMost: .seconds(120)) == .code(0))
                #expect(try demo.left().isEmpty)
                #expect(!runs(second))
            }
        }
    }

    @Test("A first build that fails, a library that is none, and a plugin that ends the host wait for the next save")
    func troubles() async throws {
        try await withTemporaryFolder { folder in
            let project = try project(Self.compiling, in: folder)
            let file = "\(project)/plugin.c"
            try await DemoProcess.running(["plugin", "dev", project], in: folder) { demo in
                let place = try await demo.place()
                try await demo.until("buildFailed")
                #expect(try await demo.larder(place)("ls").exitCode == 66)
                try Files.write("int x;\n", to: file)
                let refused = try await demo.until("refused")
                #expect(refused.message?.contains("larder_plugin_entry_v1") == true)
                try Files.write(try source(), to: file)
                let host = try #require(try await demo.until("hostStarted").pid)
                try Files.write("int y;\n", to: file)
                try await demo.until("refused", times: 2)
                #expect(runs(host))
                try Files.write(try source(starting: "abort();"), to: file)
                #expect(try await demo.until("hostEnded").signal == SIGABRT)
                try Files.write(try source(starting: "(void)getpid();"), to: file)
                // The host that was ended was not started again by itself.
                try await demo.until("hostStarted", times: 3)
                try await soon("the plugin runs", beside: demo.child) {
                    try await demo.larder(place)("--json", "plugin", "info", "org.example.favorites").output
                        .contains(#""state":"running""#)
                }
                #expect(try demo.events().count { $0.event == "hostStarted" } == 3)
            }
        }
    }

    @Test("What is saved during a build is built after it, and what is built does not count as saved")
    func during() async throws {
        try await withTemporaryFolder { folder in
            let script = """
                echo begun >> ../builds
                mkdir -p out && touch out/own.so
                while [ ! -e ../go ]; do sleep 0.01; done
                """
            let project = try project(script, in: folder)
            try Files.write("1", to: "\(project)/source")
            try await DemoProcess.running(["plugin", "dev", project + "/"], in: folder) { demo in
                func builds() throws -> Int { try Files.text("\(folder)/builds").split(separator: "\n").count }
                try await soon("the first build", beside: demo.child) { Files.exists("\(folder)/builds") }
                try Files.write("2", to: "\(project)/source")
                try Files.write("3", to: "\(project)/.hidden")
                try Files.write("", to: "\(folder)/go")
                try await demo.until("refused", times: 2)
                try Files.write("4", to: "\(project)/source")
                try await demo.until("refused", times: 3)
                #expect(try builds() == 3)
            }
        }
    }

    @Test("Ctrl-C ends a build that hangs, with all that it has started; so does the end of the command by force")
    func hangs() async throws {
        try await withTemporaryFolder { folder in
            let script = """
                trap '' INT
                setsid sleep 1000 &
                echo "$! $$" > ../pids.new
                mv ../pids.new ../pids
                sleep 1000
                """
            let project = try project(script, in: folder)
            try await DemoProcess.running(["plugin", "dev", project], in: folder) { demo in
                try await soon("the build", beside: demo.child) { Files.exists("\(folder)/pids") }
                let pids = try Files.text("\(folder)/pids").split(whereSeparator: \.isWhitespace).compactMap {
                    pid_t($0)
                }
                #expect(pids.count == 2 && pids.allSatisfy(runs))
                demo.child.send(SIGINT)
                #expect(await demo.child.wait(atMost: .seconds(120)) == .code(0))
                #expect(try !pids.contains(where: runs) && demo.left().isEmpty)
            }
            let quick = try self.project(Self.compiling, in: "\(folder)/b")
            try Files.write(try source(), to: "\(quick)/plugin.c")
            try await DemoProcess.running(["plugin", "dev", quick], in: "\(folder)/b") { demo in
                _ = try await demo.until("hostStarted")
                let children = try demo.children()
                #expect(children.count >= 2)
                demo.child.send(SIGKILL)
                try await soon("the host and the server end") { !children.contains(where: runs) }
            }
        }
    }

    @Test("A host goes on though nobody reads what its plugin prints, and Ctrl-C ends it")
    func unread() async throws {
        try await withTemporaryFolder { folder in
            let project = try project(Self.compiling, in: folder)
            let flood = "for (int i = 0; i < 500000; i++) printf(\"a line of many\\n\"); fflush(NULL);"
            try Files.write("#include <stdio.h>\n" + source(starting: flood), to: "\(project)/plugin.c")
            let (pipe, temporary) = ("\(folder)/pipe", "\(folder)/tmp")
            try Files.makeFolder(temporary)
            #expect(mkfifo(pipe, 0o600) == 0)
            let reading = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            defer { close(reading) }
            let child = try ChildProcess(
                "env",
                [
                    "TMPDIR=\(temporary)", "HOME=\(folder)", "XDG_RUNTIME_DIR=\(folder)", try Build.larder, "plugin",
                    "dev", project,
                ], output: pipe)
            try await soon("the pipe is full", beside: child) {
                var poller = pollfd(fd: reading, events: Int16(POLLOUT), revents: 0)
                return poll(&poller, 1, 0) == 0
            }
            try await soon("the plugin runs", beside: child) {
                let place = try #require(try Files.names(in: temporary).first)
                let larder = LarderCommand(config: "\(temporary)/\(place)/config.yaml", home: folder)
                return try await larder("--json", "plugin", "info", "org.example.favorites").output
                    .contains(#""state":"running""#)
            }
            let children = try DemoProcess.children(of: child.pid)
            #expect(children.count >= 2)
            child.send(SIGINT)
            try await soon("the host and the server end") { !children.contains(where: runs) }
            // What is left to be written waits for its reader.
            var piece = [UInt8](repeating: 0, count: 65_536)
            try await soon("the command ends") {
                while read(reading, &piece, piece.count) > 0 {}
                return child.hasEnded
            }
            #expect(await child.wait(atMost: .seconds(60)) == .code(0))
            #expect(try Files.names(in: temporary).isEmpty)
        }
    }

    @Test("What is no folder of a plugin is 66, with what it should be")
    func folders() async throws {
        try await withTemporaryFolder { folder in
            try Files.makeFolder("\(folder)/empty")
            try Files.write("", to: "\(folder)/file")
            try Files.write("", to: "\(folder)/closed/build")
            for (name, word) in [
                ("none", "No such file"), ("file", "is not a folder"), ("empty", "has no program `build`"),
                ("closed", "chmod +x"),
            ] {
                let result = try await run(
                    "env", ["TMPDIR=\(folder)", try Build.larder, "plugin", "dev", "\(folder)/\(name)"])
                #expect(result.exitCode == 66 && result.errors.contains(word), "\(result.summary)")
            }
            #expect(try Files.names(in: folder).sorted() == ["closed", "empty", "file"])
        }
    }
}
