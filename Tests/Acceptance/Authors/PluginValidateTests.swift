import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests of `larder plugin validate`, with a plugin that keeps the rules or breaks one of them.
@Suite struct PluginValidateTests {
    /// A plugin that breaks one rule.
    struct Flaw: Sendable, CustomTestStringConvertible {
        var number: Int
        var linking: [String] = []
        /// What the finding says.
        var words: String

        /// The check that finds it. Further flaws that a check finds have its number and 100.
        var id: String { number % 100 < 10 ? "PV0\(number % 100)" : "PV\(number % 100)" }
        var testDescription: String { number > 100 ? "\(id), another" : id }
    }

    private static let flaws = [
        Flaw(number: 2, words: "it exports helper_of_flawed"),
        Flaw(number: 3, linking: ["-nostdlib"], words: "names no library that has it"),
        Flaw(number: 5, linking: ["-Wl,-rpath,/opt/elsewhere"], words: "search /opt/elsewhere"),
        Flaw(number: 5, linking: ["-Wl,-z,execstack"], words: "the stack executable"),
        Flaw(number: 6, words: "static thread-local storage"), Flaw(number: 9, words: "_cgo_helper"),
        Flaw(number: 10, words: "undefined symbol: nobody_defines_this"), Flaw(number: 11, words: "at most 50 ms"),
        Flaw(number: 12, words: "it opened a socket"), Flaw(number: 13, words: "another descriptor"),
        Flaw(number: 14, words: "LARDER_FAILED for a host of another version"),
        Flaw(number: 15, words: "null function"), Flaw(number: 16, words: "the id of plugin 0 is not valid"),
        Flaw(number: 17, words: "something at 5"), Flaw(number: 18, words: "create returns LARDER_FAILED"),
        Flaw(number: 19, words: "returns a table"), Flaw(number: 20, words: "larder.wormhole/1, which does not exist"),
        Flaw(number: 21, words: "the default of the setting `wide`"), Flaw(number: 30, words: "does not start"),
        Flaw(number: 31, words: "bytes are left after each start"), Flaw(number: 32, words: "two instances in turns"),
        Flaw(number: 33, words: "SIGSEGV), in start"), Flaw(number: 34, words: "SIGSEGV), in start"),
        Flaw(number: 35, words: "SIGABRT), in destroy"), Flaw(number: 36, words: "asked for a service in create"),
        Flaw(number: 37, words: "threads run on after stop"), Flaw(number: 38, words: "SIGABRT"),
        Flaw(number: 40, words: "SIGABRT), in performAction of /"), Flaw(number: 41, words: "in performAction of /"),
        Flaw(number: 141, words: "SIGABRT), in updatePolicies"),
        Flaw(number: 42, words: "SIGSEGV), in performAction"), Flaw(number: 43, words: "SIGSEGV), in performAction"),
        Flaw(number: 44, words: "SIGSEGV), in performAction"), Flaw(number: 45, words: "SIGSEGV), in performAction"),
        Flaw(number: 46, words: "match_condition gave a condition that is not valid"),
        Flaw(number: 47, words: "asked for other things"), Flaw(number: 48, words: "SIGSEGV), in performAction"),
        Flaw(number: 50, words: "lack syncCapacity"), Flaw(number: 51, words: "in another order"),
        Flaw(number: 55, words: "SIGABRT), in willEnterTrigger"), Flaw(number: 56, words: "have the key \"one key\""),
        Flaw(number: 57, words: "SIGABRT), in willEnterTrigger"), Flaw(number: 58, words: "in refresh of the loop"),
        Flaw(number: 158, words: "in refresh of the loop"),
        Flaw(number: 59, words: "SIGABRT), in willEnterTrigger"),
        Flaw(number: 60, words: "SIGSEGV), in willEnterTrigger"),
        Flaw(number: 61, words: "lines into the log"), Flaw(number: 65, words: "in poll of the loop"),
        Flaw(number: 66, words: "the event id of the page before it"),
        Flaw(number: 67, words: "a second refresh removes"),
        Flaw(number: 68, words: "asks for other records"), Flaw(number: 69, words: "bytes are left after each turn"),
        Flaw(number: 75, words: "SIGABRT), in willEnterTrigger"),
        Flaw(number: 76, words: "a thread of its own called log.write"),
        Flaw(number: 77, words: "is to end"), Flaw(number: 78, words: "gives a call up after 30 s"),
    ]

    /// Builds the plugin with a flaw, and without one if the number is 0.
    private func build(_ number: Int, in folder: String, linking: [String] = []) async throws -> String {
        let library = "\(folder)/flawed.so"
        try await CompiledPlugin.build(
            "flawed", to: library, defines: ["FLAW=\(number)"], linking: ["-fvisibility=hidden"] + linking)
        return library
    }

    private func validate(_ library: String, _ options: [String], in folder: String) async throws -> ProcessResult {
        try await run(
            try Build.larder, ["plugin", "validate", library] + options,
            environment: ["TMPDIR": folder, "SWIFT_BACKTRACE": "enable=no"])
    }

    /// The results of the checks that found something, by their ids.
    private func found(_ result: ProcessResult) -> [String] {
        result.lines.compactMap { line in
            let words = line.split(separator: " ")
            return ["failed", "warning"].contains(words.first ?? "") && line.hasPrefix("  ") ? String(words[1]) : nil
        }
    }

    /// With `LARDER_TEST_WHOLE` all checks are made of each plugin: only the one finds something.
    @Test("G23: each flaw of a plugin is found by the check for it, with words that tell it", arguments: flaws)
    func finds(flaw: Flaw) async throws {
        try await withTemporaryFolder { folder in
            let library = try await build(flaw.number, in: folder, linking: flaw.linking)
            let isWhole = getenv("LARDER_TEST_WHOLE") != nil
            let result = try await validate(library, isWhole ? [] : ["--only", flaw.id], in: folder)
            // A library that cannot be opened has other checks skipped.
            #expect(found(result) == [flaw.id], "\(result.summary)")
            #expect(result.output.contains(flaw.words), "\(result.summary)")
            let isWarning = [9, 48, 51].contains(flaw.number)
            #expect(result.exitCode == (isWarning ? 0 : 1), "\(result.summary)")
            #expect(try Files.names(in: folder) == ["flawed.so"])
        }
    }

    @Test(
        "G23: a plugin that keeps the rules passes all checks, our own plugins too",
        arguments: [
            "", "AvailableOffline", "DownloadExpiration", "Vacuum", "VersionUpdates", "Rules", "CoreLoop",
            "CalendarLoop",
            "ShareLoop",
        ])
    func passes(plugin: String) async throws {
        try await withTemporaryFolder { folder in
            let library =
                plugin.isEmpty ? try await build(0, in: folder) : "\(Build.root)/.build/debug/lib\(plugin).so"
            let result = try await validate(library, ["--strict"], in: folder)
            #expect(result.exitCode == 0 && result.errors.isEmpty && found(result).isEmpty, "\(result.summary)")
            // Each check is there once, by its id.
            let ids = result.output.matches(of: /PV\d\d/).map(\.output)
            #expect(ids.count == Set(ids).count && ids.count > 50, "\(ids)")
        }
    }

    @Test("G26: a processor that goes on asking is found, with the item that it asks for")
    func rest() async throws {
        try await withTemporaryFolder { folder in
            let library = try await build(49, in: folder)
            let result = try await validate(library, ["--only", "PV49", "--json"], in: folder)
            #expect(result.exitCode == 1, "\(result.summary)")
            let line = try #require(result.lines.first)
            #expect(line.contains("does not come to rest"), "\(line)")
            #expect(line.contains(/"item":"\/[A-Z]/) && line.contains("\"seed\":\"1\""), "\(line)")
            #expect(
                result.lines.dropLast().last == #"{"passed":0,"failed":1,"warning":0,"skipped":0,"waived":0}"#,
                "\(result.summary)")
        }
    }

    @Test("What is no library, or not there, is told with its exit code, and hurts no one")
    func noLibrary() async throws {
        try await withTemporaryFolder { folder in
            let text = "\(folder)/text.so"
            try Files.write("no library\n", to: text)
            let result = try await validate(text, [], in: folder)
            #expect(result.exitCode == 65 && found(result) == ["PV01"], "\(result.summary)")
            #expect(result.output.contains("not an ELF file"), "\(result.summary)")
            // Nobody writes into the pipe.
            let pipe = "\(folder)/pipe.so"
            try #require(mkfifo(pipe, 0o600) == 0)
            let none = try await validate(pipe, [], in: folder)
            #expect(none.exitCode == 65 && found(none) == ["PV01"], "\(none.summary)")
            let missing = try await validate("\(folder)/none.so", [], in: folder)
            #expect(missing.exitCode != 0 && missing.errors.contains("none.so"), "\(missing.summary)")
            let cut = try await build(0, in: folder)
            try #require(truncate(cut, 5_000) == 0)
            let short = try await validate(cut, [], in: folder)
            #expect(short.exitCode == 65 && found(short) == ["PV01"], "\(short.summary)")
            #expect(short.output.contains("the library is cut off"), "\(short.summary)")
            let unknown = try await validate(text, ["--only", "PV4"], in: folder)
            #expect(unknown.exitCode == 64 && unknown.errors.contains("there is no check `PV4`"), "\(unknown.summary)")
        }
    }

    @Test("A library that is replaced or removed while it is checked does not pass", arguments: [true, false])
    func changed(isReplaced: Bool) async throws {
        try await withTemporaryFolder { folder in
            let library = try await build(0, in: folder)
            try await mustRun("cp", [library, "\(folder)/next.so"])
            let larder = try Build.larder
            // The first line is printed when a check is done, and most are not.
            let change = isReplaced ? "mv next.so flawed.so" : "rm flawed.so"
            let result = try await run(
                "sh",
                [
                    "-c",
                    #"cd "$0"; "$1" plugin validate flawed.so 2>errors | { read -r one; read -r one; $2; cat >rest; }; cat errors"#,
                    folder, larder, change,
                ], environment: ["TMPDIR": folder])
            #expect(
                result.output.contains("flawed.so was changed or removed while it was checked"), "\(result.summary)")
            let rest = try Files.text("\(folder)/rest")
            #expect(!rest.contains(" passed,"), "\(rest)")
        }
    }

    @Test("A plugin that others may change is found", .enabled(if: getuid() == 0))
    func danger() async throws {
        try await withTemporaryFolder { folder in
            let library = try await build(0, in: folder)
            try #require(chmod(library, 0o777) == 0)
            let result = try await validate(library, ["--only", "file"], in: folder)
            #expect(result.exitCode == 1 && found(result) == ["PV07"], "\(result.summary)")
        }
    }

    @Test(
        "A Swift plugin whose module has the name of one of the host's is warned of", arguments: ["Warehouse", "Own"])
    func module(name: String) async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/minutes.so"
            try await CompiledPlugin.buildSwift(
                "\(Build.root)/Tests/Support/Plugins/minutes.swift", module: name, to: library)
            let result = try await validate(library, ["--only", "PV08"], in: folder)
            #expect(result.exitCode == 0 && found(result) == (name == "Own" ? [] : ["PV08"]), "\(result.summary)")
            #expect(result.output.contains("its module Warehouse has the name") == (name != "Own"), "\(result.summary)")
        }
    }

    @Test("A library that needs a newer C library than Debian 12 has is found by its versions")
    func newer() async throws {
        try await withTemporaryFolder { folder in
            let library = try await build(0, in: folder)
            var bytes = try Files.read(library)
            // The version's name in the table of texts.
            let old = Array("GLIBC_2.2.5".utf8)
            let at = try #require(bytes.indices.first { bytes[$0...].starts(with: old) })
            bytes.replaceSubrange(at..<at + old.count, with: Array("GLIBC_2.99\0".utf8))
            try Files.write(bytes, to: library)
            let result = try await validate(library, ["--only", "PV04"], in: folder)
            #expect(result.exitCode == 1 && result.output.contains("GLIBC_2.99 of libc.so.6"), "\(result.summary)")
        }
    }

    @Test(
        "A plugin that ends, stops or forks its process fails the check, and the others go on",
        arguments: [
            ("_exit(0)", "ended the process with the exit code 0"), ("raise(SIGSTOP)", "it stopped the process"),
            ("while (fork() >= 0) {}", ""), ("raise(SIGKILL)", "it crashed ("), ("kill(getppid(), SIGKILL)", ""),
        ])
    func hostile(code: String, words: String) async throws {
        try await withTemporaryFolder { folder in
            let source = try Guide().block("c", with: "struct plugin {")
                .replacing("return me->actions->download(", with: "\(code); return me->actions->download(")
            try Files.write("#include <signal.h>\n#include <unistd.h>\n" + source, to: "\(folder)/f.c")
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC", "-fvisibility=hidden", "-I",
                    "\(Build.root)/SDK/C/include", "\(folder)/f.c", "-o", "\(folder)/f.so",
                ])
            let result = try await validate("\(folder)/f.so", ["--only", "PV44", "--only", "loading"], in: folder)
            #expect(found(result) == (words.isEmpty ? [] : ["PV44"]), "\(result.summary)")
            #expect(result.output.contains(words), "\(result.summary)")
        }
    }

    @Test(
        "A library that ends the process which opens it is found once, and its other checks are skipped",
        arguments: [
            "_exit(0)", "abort()",
        ])
    func deadly(code: String) async throws {
        try await withTemporaryFolder { folder in
            let source = try Guide().block("c", with: "struct plugin {")
            let text =
                "#include <stdlib.h>\n#include <unistd.h>\n" + source
                + "\n__attribute__((constructor)) static void begin(void) { \(code); }\n"
            try Files.write(text, to: "\(folder)/f.c")
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC", "-fvisibility=hidden", "-I",
                    "\(Build.root)/SDK/C/include", "\(folder)/f.c", "-o", "\(folder)/f.so",
                ])
            let result = try await validate("\(folder)/f.so", [], in: folder)
            #expect(result.exitCode == 1 && found(result) == ["PV10"], "\(result.summary)")
            #expect(result.output.contains("the process of PV10 ended"), "\(result.summary)")
        }
    }

    @Test("A waiver with a reason accepts what a check finds; one that is not needed is named, a bad one refused")
    func waivers() async throws {
        try await withTemporaryFolder { folder in
            let library = try await build(2, in: folder)
            func waived(_ lines: String) async throws -> ProcessResult {
                try Files.write(lines, to: "\(folder)/waivers")
                return try await validate(library, ["--only", "file", "--waivers", "\(folder)/waivers"], in: folder)
            }
            let good = try await waived(
                "# what we know\n\nPV02 a tool of ours looks for it\nPV05  it is for one machine\n")
            #expect(
                good.exitCode == 0 && good.output.contains("waived: a tool of ours looks for it"), "\(good.summary)")
            #expect(good.errors.contains("the waiver of PV05 is not needed"), "\(good.summary)")
            for (lines, words) in [
                ("PV02\n", ":1: the waiver of PV02 has no reason"), ("\nPV99 x\n", ":2: there is no check `PV99`"),
            ] {
                let bad = try await waived(lines)
                #expect(bad.exitCode == 65 && bad.errors.contains(words), "\(bad.summary)")
            }
        }
    }

    @Test("The results are printed as TAP too, with a plan and the findings")
    func tap() async throws {
        try await withTemporaryFolder { folder in
            let result = try await validate(try await build(2, in: folder), ["--only", "file", "--tap"], in: folder)
            #expect(result.exitCode == 1 && result.lines.prefix(2) == ["TAP version 13", "1..9"], "\(result.summary)")
            #expect(result.output.contains("\nnot ok 2 - PV02 "), "\(result.summary)")
            #expect(result.output.contains("\n  what: \"it exports helper_of_flawed"), "\(result.summary)")
            #expect(
                result.output.contains(
                    "PV08 A Swift plugin has a module of its own and does without Foundation # SKIP "),
                "\(result.summary)")
        }
    }

    @Test("A random life that ends badly leaves a folder that repeats it; the same seed finds the same")
    func randomLives() async throws {
        try await withTemporaryFolder { folder in
            let library = try await build(59, in: folder)
            let larder = try Build.larder
            let result = try await run(
                "sh",
                [
                    "-c", #"cd "$0" && "$1" plugin validate flawed.so --only PV01 --fuzz 60s --seed 7"#, folder, larder,
                ], environment: ["TMPDIR": folder, "SWIFT_BACKTRACE": "enable=no"])
            #expect(result.exitCode == 1, "\(result.summary)")
            let kept = try #require(try Files.names(in: folder).first { $0.hasPrefix("larder-validate-") })
            _ = library
            let again = try await run(
                "\(folder)/\(kept)/reproduce", [],
                environment: ["LARDER": larder, "TMPDIR": folder, "SWIFT_BACKTRACE": "enable=no"])
            // It ends in this process, as it did in the other one.
            #expect(again.errors.contains("SIGABRT") || again.exitCode != 0, "\(again.summary)")
            let good = try await run(
                "sh", ["-c", #"cd "$0" && "$1" plugin validate flawed.so --reproduce 1"#, folder, larder],
                environment: ["TMPDIR": folder])
            #expect(good.exitCode != 64, "\(good.summary)")
        }
    }
}
