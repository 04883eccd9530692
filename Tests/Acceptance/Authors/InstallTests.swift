import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests of `Host/install`: the program and the SDK for plugins in a prefix.
@Suite struct InstallTests {
    /// A smallest plugin in C.
    private static let source = """
        #include <larder-all.h>
        struct small { larder_instance instance; const larder_host *host; };
        static const larder_item_policy_processor processor =
            LARDER_PROCESSOR("small", 0, larder_no_condition, larder_no_item, larder_no_condition, larder_no_item);
        static const larder_offer offers[] = {{LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}};
        LARDER_SINGLE(struct small, larder_no_start, larder_no_stop, offers, "org.example.small", "Small", "1.0.0", "", "", "", "");
        """
    private static let hasCMake = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { Files.exists("\($0)/cmake") }

    /// A test of it.
    private static let test = """
        #include <LarderFakeHost.h>
        int main(void) { return larder_fake_problem(larder_fake_open("./small.so")) != 0; }
        """

    @Test("G24: what is installed names nothing of the build, and may be moved: plugins are built against it and run")
    func moved() async throws {
        try await withTemporaryFolder { folder in
            let first = try await Installation(in: "\(folder)/a prefix")
            for name in try Files.filesBelow(first.prefix) {
                let file = "\(first.prefix)/\(name)"
                let isBinary = try Files.read(file).starts(with: [0x7f, 0x45, 0x4c, 0x46])
                let text =
                    isBinary
                    ? try await mustRun("readelf", ["--dynamic", "--version-info", "--wide", file])
                    : try Files.text(file)
                #expect(!text.contains(Build.root) && !text.contains(folder), "\(name)")
                // A plugin is refused if others may write to it.
                #expect(Files.mode(of: file).map { $0 & 0o022 } == 0, "\(name)")
            }
            #expect(try Files.text("\(first.prefix)/include/larder-all.h").contains("larder_plugin_entry_v1"))

            let prefix = "\(folder)/another prefix"
            try #require(rename(first.prefix, prefix) == 0)
            var moved = first
            moved.prefix = prefix
            try Files.write(Self.source, to: "\(folder)/small.c")
            try Files.write(Self.test, to: "\(folder)/test.c")
            // What pkg-config prints is for a shell.
            let script = """
                eval "cc -shared -fPIC $(pkg-config --cflags larder-sdk) small.c -o small.so"
                eval "cc test.c -o test $(pkg-config --cflags --libs larder-fake)"
                ./test
                """
            let built = try await moved.run(
                "sh", ["-ec", script], in: folder,
                environment: ["PKG_CONFIG_PATH": "\(prefix)/lib/pkgconfig"])
            #expect(built.exitCode == 0, "\(built.summary)")
            let tried = try await moved.run(moved.larder, ["plugin", "try", "small.so"], in: folder)
            #expect(tried.exitCode == 0 && tried.output.contains("willEnterTrigger"), "\(tried.summary)")
        }
    }

    @Test(
        "CMake finds an installed SDK by its name and version, and what it builds finds the fake host",
        .enabled(if: hasCMake, "there is no cmake"))
    func cmake() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/a prefix")
            try Files.write(Self.source, to: "\(folder)/small.c")
            try Files.write(Self.test, to: "\(folder)/test.c")
            func build(_ version: String) async throws -> ProcessResult {
                try Files.write(
                    """
                    cmake_minimum_required(VERSION 3.16)
                    project(small C)
                    find_package(larder-sdk \(version) REQUIRED)
                    add_library(small MODULE small.c)
                    set_target_properties(small PROPERTIES PREFIX "")
                    target_link_libraries(small larder::sdk)
                    add_executable(try test.c)
                    target_link_libraries(try larder::fake)
                    """, to: "\(folder)/CMakeLists.txt")
                return try await installed.run(
                    "sh", ["-ec", "cmake -S .. -B . && cmake --build . && ./try"], in: "\(folder)/build",
                    environment: ["CMAKE_PREFIX_PATH": installed.prefix])
            }
            try Files.makeFolder("\(folder)/build")
            for version in ["", "1", "1.1"] {
                let built = try await build(version)
                #expect(built.exitCode == 0, "\(version): \(built.summary)")
            }
            for version in ["1.99", "2", "0.9"] {
                let refused = try await build(version)
                #expect(
                    refused.exitCode == 1 && refused.errors.contains("larder-sdk"), "\(version): \(refused.summary)")
            }
        }
    }

    @Test("An installed program finds the plugins that came with it, in its prefix")
    func plugins() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/prefix")
            try Files.write(
                "accounts:\n- { name: home, url: 'https://cloud.example.org', vault: v, username: ada }\n",
                to: "\(folder)/config.yaml")
            let list = try await installed.run(
                installed.larder, ["--config", "config.yaml", "--json", "plugin", "list"], in: folder)
            #expect(list.lines.count == 8, "\(list.summary)")
            for line in list.lines {
                // Without rules in the config the plugin for them is off.
                let state = line.contains(#""id":"org.larder.rules""#) ? "disabled" : "ready"
                #expect(
                    line.contains(#""state":"\#(state)""#) && line.contains("\(installed.prefix)/lib/larder/plugins/"),
                    "\(line)")
            }
        }
    }

    @Test(
        "A plugin in the folder of the system is found, by a program that is installed beside it too, whose own are not found",
        .enabled(if: Build.isRoot, "this mounts a file system"))
    func system() async throws {
        try await withTemporaryFolder { folder in
            try Files.write(Self.source, to: "\(folder)/small.c")
            try Files.write(try await mustRun("\(Build.root)/SDK/C/all-in-one"), to: "\(folder)/larder-all.h")
            try await mustRun(
                "cc", ["-shared", "-fPIC", "-I", folder, "\(folder)/small.c", "-o", "\(folder)/small.so"])
            let id = "org.example.small"
            try Files.write(
                """
                accounts:
                - { name: home, url: 'https://cloud.example.org', vault: v, username: ada }
                plugins: { \(id): { isolation: in-process } }
                """, to: "\(folder)/config.yaml")
            let script = """
                mount -t tmpfs -o mode=755 tmpfs /usr/local
                "$1" --prefix /usr/local --from "${2%/*}" >&2
                cp small.so /usr/local/lib/larder/plugins
                cp small.so /usr/local/lib/larder/plugins/other.so
                for larder in /usr/local/bin/larder "$2"; do "$larder" --config config.yaml --json plugin list; done
                """
            let result = try await run(
                "unshare",
                [
                    "--mount", "env", "-C", folder, "sh", "-ec", script, "sh", "\(Build.root)/Host/install",
                    try Build.larder,
                ])
            #expect(result.exitCode == 0 && result.lines.count == 20, "\(result.summary)")
            let others = result.lines.filter { !$0.contains(#""id":"org.larder."#) }
            for (index, line) in others.enumerated() {
                let (name, state) = index % 2 == 0 ? ("small", "ready") : ("other", "found")
                #expect(
                    line.contains("/usr/local/lib/larder/plugins/\(name).so") && line.contains(#""state":"\#(state)""#))
            }
            #expect(
                others.count == 4 && result.lines.count { $0.contains(#""state":"ready""#) } == 16, "\(result.summary)")
        }
    }

    @Test("Installing again replaces what is Larder's, and leaves what is not")
    func again() async throws {
        try await withTemporaryFolder { folder in
            let prefix = "\(folder)/prefix"
            _ = try await Installation(in: prefix)
            let files = try Files.filesBelow(prefix).sorted()
            let (own, old) = ("\(prefix)/lib/larder/plugins/own.so", "\(prefix)/include/larder/ext/old.h")
            for file in [own, old] { try Files.write("", to: file) }
            try Files.write("", to: "\(prefix)/bin/larder")
            let installed = try await Installation(in: prefix)
            #expect(try Files.filesBelow(prefix).sorted() == (files + ["lib/larder/plugins/own.so"]).sorted())
            #expect(try await installed.run(installed.larder, ["--version"], in: folder).exitCode == 0)
        }
    }

    @Test("An installation that cannot be made says why, with a code, and leaves no part of one")
    func refused() async throws {
        try await withTemporaryFolder { folder in
            let install = "\(Build.root)/Host/install"
            for words in [
                [], ["--prefix"], ["--prefix", ""], ["--prefix", "/p", "--bogus"], ["/p"],
                ["--prefix", "\(folder)/p\n"],
            ] {
                let result = try await run(install, words)
                #expect(result.exitCode == 64 && result.errors.hasPrefix("install: "), "\(words) \(result.summary)")
            }
            let help = try await run(install, ["--help"])
            #expect(help.exitCode == 0 && help.output.contains("--prefix DIR"))
            try Files.makeFolder("\(folder)/empty")
            let missing = try await run(install, ["--prefix", "\(folder)/p", "--from", "\(folder)/empty"])
            #expect(missing.exitCode == 66 && missing.errors.contains("\(folder)/empty/larder"), "\(missing.summary)")
            #expect(!Files.exists("\(folder)/p"))

            try Files.write("mine", to: "\(folder)/file")
            let file = try await Installation.install(["--prefix", "\(folder)/file"])
            #expect(file.exitCode == 73 && file.errors.contains("install: \(folder)/file cannot be written"))
        }
    }

    @Test("What is in the way of an installation is found before anything is changed")
    func inTheWay() async throws {
        try await withTemporaryFolder { folder in
            let prefix = "\(folder)/p"
            let cases = [
                ("echo > lib", "lib is in the place of a folder"),
                ("mkdir lib; ln -s nowhere lib/larder", "lib/larder is in the place of a folder"),
                ("mkdir include; echo > include/larder", "include/larder is in the place of a folder"),
                ("mkdir -p bin/larder", "bin/larder is a folder"),
                ("mkdir -p lib/libLarderFakeHost.so/x", "lib/libLarderFakeHost.so is a folder"),
                ("mkdir include mine; ln -s ../mine include/larder", "include/larder is a link"),
            ]
            for (script, word) in cases {
                Files.remove(prefix)
                try Files.makeFolder(prefix)
                try await mustRun("env", ["-C", prefix, "sh", "-ec", script])
                let before = try await mustRun("find", [prefix])
                let result = try await Installation.install(["--prefix", prefix])
                #expect(
                    result.exitCode == 73 && result.errors.contains("\(prefix)/\(word)")
                        && result.errors.contains("nothing in \(prefix) was changed"), "\(script): \(result.summary)")
                #expect(try await mustRun("find", [prefix]) == before, "\(script)")
            }
        }
    }

    @Test("An installation that cannot be told on standard output is 74, and is said to be one")
    func untold() async throws {
        try await withTemporaryFolder { folder in
            let build = try Build.larder
            for output in [">&-", ">/dev/full"] {
                let result = try await run(
                    "sh",
                    [
                        "-c", "\"$1\" --prefix \"$2\" --from \"${3%/*}\" \(output)", "sh",
                        "\(Build.root)/Host/install", "\(folder)/p", build,
                    ])
                #expect(
                    result.exitCode == 74 && result.errors.contains("Larder is installed in \(folder)/p, but"),
                    "\(output): \(result.summary)")
                #expect(Files.exists("\(folder)/p/bin/larder"))
            }
        }
    }

    @Test("Without --from, what is installed is a release build; if that fails, nothing is")
    func build() async throws {
        try await withTemporaryFolder { folder in
            let build = try Build.larder
            func install(_ compiler: String) async throws -> ProcessResult {
                try Files.write("#!/bin/sh\n\(compiler)\n", to: "\(folder)/bin/swift", mode: 0o755)
                return try await run(
                    "env",
                    [
                        "PATH=\(folder)/bin:/usr/bin:/bin", "\(Build.root)/Host/install", "--prefix=\(folder)/prefix",
                    ])
            }
            let failed = try await install("exit 1")
            #expect(failed.exitCode == 1 && failed.errors == "install: the build failed\n", "\(failed.summary)")
            #expect(!Files.exists("\(folder)/prefix"))
            let path = build[..<(build.lastIndex(of: "/") ?? build.startIndex)]
            let made = try await install(
                "echo \"$@\" >> '\(folder)/calls'; [ \"$4\" != --show-bin-path ] || echo '\(path)'")
            #expect(made.exitCode == 0 && made.output.hasSuffix("Larder is installed in \(folder)/prefix.\n"))
            #expect(try Files.text("\(folder)/calls") == "build -c release\nbuild -c release --show-bin-path\n")
        }
    }

    @Test("A full disk leaves no part of an installation", .enabled(if: Build.isRoot, "this mounts a file system"))
    func full() async throws {
        try await withTemporaryFolder { folder in
            try await mustRun("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", folder])
            let result = try await Installation.install(["--prefix", "\(folder)/p"])
            let left = try Files.names(in: folder)
            try await mustRun("umount", [folder])
            #expect(result.exitCode == 74 && result.errors.contains("nothing was changed"), "\(result.summary)")
            #expect(left.isEmpty, "\(left)")
        }
    }
}
