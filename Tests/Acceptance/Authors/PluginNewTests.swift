import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests of `larder plugin new`, with an installed program.
@Suite struct PluginNewTests {
    /// The templates, each with a name that is a word of its language, of another one, or of the SDK.
    private static let templates: [(language: String, kind: String, name: String)] = [
        ("c", "processor", "int"), ("c", "loop", "event"), ("cpp", "processor", "new"), ("cpp", "loop", "larder"),
        ("rust", "processor", "fn"), ("rust", "loop", "a--1"), ("swift", "processor", "class"),
        ("swift", "loop", "plugin-name-2"),
    ]

    @Test(
        "G13: in each language a new plugin is built by one command, passes its test by another, and all checks",
        arguments: templates)
    func works(language: String, kind: String, name: String) async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/a prefix")
            let new = try await installed.run(
                installed.larder, ["plugin", "new", "--language", language, "--kind", kind, name], in: folder)
            try #require(new.exitCode == 0 && new.errors.isEmpty, "\(new.summary)")
            let plugin = "\(folder)/\(name)"
            let files = try Files.filesBelow(plugin)
            for file in files where name != "plugin-name-2" {
                let text = try "\(file)\n" + Files.text("\(plugin)/\(file)")
                #expect(!text.contains(/(?i)plugin[-_ ]?name/), "\(file)")
            }
            let library = "\(plugin)/out/\(name).so"
            let built = try await installed.run("./build", in: plugin)
            #expect(built.exitCode == 0 && Files.exists(library), "\(built.summary)")
            let symbols = try await mustRun(
                "nm", ["--dynamic", "--defined-only", "--extern-only", "--format=just-symbols", library])
            #expect(symbols == "larder_plugin_entry_v1\n")
            let tested = try await installed.run("./test", in: plugin)
            #expect(tested.exitCode == 0 && tested.output.contains("passed"), "\(tested.summary)")
            let validated = try await installed.run(installed.larder, ["plugin", "validate", library], in: plugin)
            let failed = validated.output.split(separator: "  failed").dropFirst().map { $0.prefix(500) }
            #expect(validated.exitCode == 0 && failed.isEmpty, "\(failed) \(validated.summary)")
            if kind == "processor" {
                let tried = try await installed.run(
                    installed.larder, ["plugin", "try", library, "--items", "items.jsonl"], in: plugin)
                #expect(
                    tried.exitCode == 0 && tried.output.hasPrefix("org.example.\(name)\n")
                        && tried.output.contains("asks: download /Notes/list.md"), "\(tried.summary)")
            }
            // What building has left is no part of what an author keeps.
            try await mustRun("git", ["-C", plugin, "init", "--quiet"])
            try await mustRun("git", ["-C", plugin, "add", "--all"])
            let kept = try await mustRun("git", ["-C", plugin, "ls-files"]).split(separator: "\n").map(String.init)
            #expect(kept.sorted() == files.filter { $0 != "sdk.path" }.sorted())
        }
    }

    @Test("G13: a test that the plugin does not pass fails")
    func fails() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/prefix")
            _ = try await installed.run(
                installed.larder, ["plugin", "new", "--language", "c", "--kind", "processor", "x"], in: folder)
            let source = try Files.text("\(folder)/x/x.c")
            try Files.write(source.replacing("item->local_id, 0", with: "item->local_id, 64"), to: "\(folder)/x/x.c")
            let tested = try await installed.run("./test", in: "\(folder)/x")
            #expect(tested.exitCode == 1 && tested.errors.contains("test.c:"), "\(tested.summary)")
            // A build that fails leaves the library as it was.
            let library = try Files.read("\(folder)/x/out/x.so")
            try Files.write("no C", to: "\(folder)/x/x.c")
            #expect(try await installed.run("./build", in: "\(folder)/x").exitCode != 0)
            #expect(try Files.read("\(folder)/x/out/x.so") == library)
        }
    }

    @Test("G13: a new plugin finds the SDK by $LARDER_SDK and by pkg-config too, and says so if it finds none")
    func sdk() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/a prefix")
            // A program that is not installed has the templates of its sources, and no SDK.
            let new = try await run(
                "env", ["-C", folder, try Build.larder, "plugin", "new", "--language", "c", "--kind", "loop", "feed"])
            #expect(new.exitCode == 0 && new.errors.contains("set LARDER_SDK to its prefix"), "\(new.summary)")
            let plugin = "\(folder)/feed"
            let none = try await installed.run("./build", in: plugin)
            #expect(none.exitCode == 1 && none.errors.hasPrefix("build: no SDK of Larder is installed in /usr/local;"))
            let prefix = installed.prefix
            for (variable, value) in [("LARDER_SDK", prefix), ("PKG_CONFIG_PATH", "\(prefix)/lib/pkgconfig")] {
                let tested = try await installed.run("./test", in: plugin, environment: [variable: value])
                #expect(tested.exitCode == 0, "\(variable) \(tested.summary)")
                Files.remove("\(plugin)/out")
            }
        }
    }

    @Test("The scripts of a new plugin run from another folder, by links, with a relative prefix, and several at once")
    func scripts() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/a prefix")
            for (language, name) in [("c", "own"), ("cpp", "other")] {
                let script = """
                    "$1" plugin new --language \(language) --kind loop \(name)
                    rm \(name)/sdk.path
                    mkdir \(name)-bin
                    ln -s ../\(name)/test \(name)-bin
                    export LARDER_SDK='a prefix'
                    \(name)-bin/test
                    tests=
                    for i in 1 2 3 4; do \(name)-bin/test & tests="$tests $!"; done
                    for i in $tests; do wait $i; done
                    """
                let result = try await installed.run("sh", ["-ec", script, "sh", installed.larder], in: folder)
                #expect(result.exitCode == 0, "\(result.summary)")
                #expect(result.output.ranges(of: "test: all passed").count == 5)
                #expect(try Files.names(in: "\(folder)/\(name)/out").sorted() == ["\(name).so", "sdk", "test"])
                let versions = try await mustRun("readelf", ["--version-info", "\(folder)/\(name)/out/\(name).so"])
                #expect(!versions.contains("out/"), "\(versions)")
            }
        }
    }

    @Test("A plugin in Rust is built for a platform that is set, too, and the library is not one of before")
    func platform() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/a prefix")
            let script = """
                "$1" plugin new --language rust --kind processor own
                own/build
                sed -i s/org.example.own/org.example.newer/ own/src/lib.rs
                CARGO_BUILD_TARGET=$(rustc --version --verbose | sed -n 's/^host: //p') own/build
                grep -q org.example.newer own/out/own.so
                """
            let result = try await installed.run("sh", ["-ec", script, "sh", installed.larder], in: folder)
            #expect(result.exitCode == 0, "\(result.summary)")
        }
    }

    @Test("G15: the guide's ten minutes are a script that runs, and its examples are what it makes")
    func guide() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/a prefix")
            let guide = try Guide()
            let scripts = guide.blocks("sh")
            #expect(scripts.count == 1)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            let result = try await installed.run(
                "sh", ["-ec", try #require(scripts.first)], in: folder,
                environment: ["PATH": "\(installed.prefix)/bin:\(path)"])
            #expect(
                result.exitCode == 0 && result.output.contains("test: all passed")
                    && result.output.contains("asks: download /Notes/list.md"), "\(result.summary)")
            #expect(try Files.text("\(folder)/favorites/favorites.c") == guide.block("c", with: "struct plugin {"))
            for (kind, name, module) in [("processor", "favorites", "Favorites"), ("loop", "headlines", "Headlines")] {
                let made = "\(folder)/swift"
                try Files.makeFolder(made)
                let new = try await installed.run(
                    installed.larder, ["plugin", "new", "--language", "swift", "--kind", kind, name], in: made)
                #expect(new.exitCode == 0, "\(new.summary)")
                let source = try Files.text("\(made)/\(name)/Sources/\(module)Plugin/\(module)Plugin.swift")
                #expect(source == (try guide.block("swift", with: "struct \(module)")))
            }
        }
    }

    private func new(_ name: String, in folder: String, json: Bool = false) async throws -> ProcessResult {
        try await run(
            "env",
            ["-C", folder, try Build.larder] + (json ? ["--json"] : [])
                + ["plugin", "new", "--language", "c", "--kind", "processor", "--", name])
    }

    @Test("What cannot be a name is 64 and told with what can, and so is what there is no template for")
    func names() async throws {
        try await withTemporaryFolder { folder in
            let names = [
                "", "-a", "1a", "a-", "Größe", "é", "a b", "a/b", "/tmp/a", ".", "..", ".a", "a.b", "A", "a_b", "a\nb",
                "a'b", String(repeating: "a", count: 65), "😀",
            ]
            for name in names {
                let result = try await new(name, in: folder)
                #expect(
                    result.exitCode == 64 && result.errors.contains("lower-case letters, digits and `-`"),
                    "\(name): \(result.summary)")
            }
            for (language, kind, word) in [("cobol", "loop", "c, "), ("c", "lop", "did you mean `loop`?")] {
                let result = try await run(
                    "env",
                    ["-C", folder, try Build.larder, "plugin", "new", "--language", language, "--kind", kind, "a"])
                #expect(result.exitCode == 64 && result.errors.contains(word), "\(result.summary)")
            }
            #expect(try Files.names(in: folder).isEmpty)
            let longest = String(repeating: "a", count: 64)
            #expect(try await new(longest, in: folder).exitCode == 0)
            let json = try await new("b2-c", in: folder, json: true)
            #expect(
                json.output
                    == #"{"id":"org.example.b2-c","folder":"\#(folder)/b2-c","language":"c","kind":"processor","sdk":null}"#
                    + "\n", "\(json.summary)")
            #expect(try Files.names(in: folder).sorted() == [longest, "b2-c"])
        }
    }

    @Test("A plugin is begun in a folder whose name is not text")
    func bytes() async throws {
        try await withTemporaryFolder { folder in
            let script = "mkdir \"$(printf 'a\\377')\" && cd a* && exec \"$@\""
            let larder = try Build.larder
            let result = try await run(
                "env",
                [
                    "-C", folder, "sh", "-c", script, "sh", larder, "plugin", "new", "--language", "c", "--kind",
                    "loop", "x",
                ]
            )
            #expect(result.exitCode == 0, "\(result.summary)")
            #expect(try await mustRun("sh", ["-c", "ls '\(folder)'/a*/x"]).contains("x.c\n"))
        }
    }

    @Test("A file system that cannot refuse to replace has a plugin begun too, and nothing is written over")
    func withoutRefusal() async throws {
        try await withTemporaryFolder { folder in
            for code in [0, 73] {
                let result = try await run(
                    "strace",
                    [
                        "-f", "-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:error=EINVAL", "env",
                        "-C", folder, try Build.larder, "plugin", "new", "--language", "c", "--kind", "loop", "x",
                    ])
                #expect(result.exitCode == Int32(code), "\(result.summary)")
                #expect(try Files.names(in: folder) == ["x"] && Files.text("\(folder)/x/x.c").contains("org.example.x"))
                try Files.write("mine: org.example.x", to: "\(folder)/x/x.c")
            }
            #expect(try Files.text("\(folder)/x/x.c") == "mine: org.example.x")
        }
    }

    @Test("A signal leaves the whole plugin, or nothing", arguments: ["TERM", "HUP"])
    func interrupted(signal: String) async throws {
        try await withTemporaryFolder { folder in
            // The folders of the plugin take so long to make that the signal comes between them.
            let script = """
                mkdir made
                cd made
                strace -f -o /dev/null -e trace=?mkdir,?mkdirat -e inject=?mkdir,?mkdirat:delay_exit=500000:when=2+ \\
                  sh -c 'echo $$ > ../pid; exec "$@"' sh "$1" plugin new --language rust --kind loop x &
                for i in $(seq 3000); do
                  [ -z "$(ls -A)" ] || break
                  sleep 0.01
                done
                kill -\(signal) $(cat ../pid)
                wait $! || exit $?
                """
            let result = try await run("env", ["-C", folder, "sh", "-ec", script, "sh", try Build.larder])
            #expect(
                try Files.names(in: "\(folder)/made") == (result.exitCode == 0 ? ["x"] : []), "\(result.summary)")
        }
    }

    @Test("A copy of the program takes no templates from folders above it: 73")
    func noTemplates() async throws {
        try await withTemporaryFolder { folder in
            let copy = "\(folder)/some/folder/bin/larder"
            try Files.makeFolder("\(folder)/some/folder/bin")
            try await mustRun("cp", [try Build.larder, copy])
            try await mustRun("cp", ["-R", "\(Build.root)/SDK", "\(folder)/SDK"])
            let result = try await run(copy, ["plugin", "new", "--language", "c", "--kind", "loop", "x"])
            #expect(
                result.exitCode == 73 && result.errors.contains("\(folder)/some/folder/share/larder/templates"),
                "\(result.summary)")
        }
    }

    @Test("What exists is never written over: 73")
    func exists() async throws {
        try await withTemporaryFolder { folder in
            try Files.makeFolder("\(folder)/empty")
            try Files.write("mine", to: "\(folder)/file")
            try #require(symlink("\(folder)/nowhere", "\(folder)/link") == 0)
            let before = try Files.names(in: folder).sorted()
            for name in before {
                let result = try await new(name, in: folder)
                #expect(
                    result.exitCode == 73 && result.errors.contains("\(folder)/\(name) exists"), "\(result.summary)")
            }
            #expect(try Files.names(in: folder).sorted() == before && Files.text("\(folder)/file") == "mine")
            #expect(try Files.names(in: "\(folder)/empty").isEmpty && Files.target(of: "\(folder)/link") != nil)
        }
    }

    @Test(
        "A folder that cannot be written is 73, a full disk 74, and nothing half stays",
        .enabled(if: Build.isRoot, "this mounts a file system"))
    func unwritable() async throws {
        try await withTemporaryFolder { folder in
            for (options, code, word) in [
                ("size=16k", 74, "No space left"), ("ro", 73, "Read-only"), ("nr_inodes=6", 74, "No space left"),
            ] {
                try await mustRun("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder])
                let result = try await new("a", in: folder)
                let left = try Files.names(in: folder)
                try await mustRun("umount", [folder])
                #expect(result.exitCode == Int32(code) && result.errors.contains(word), "\(options): \(result.summary)")
                #expect(left.isEmpty, "\(left)")
            }
        }
    }
}
