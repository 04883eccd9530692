import Glibc
import Model
import PluginHost
import TestSupport
import Testing

/// Tests that each faulty library is refused with its own reason and that the host continues to run.
@Suite struct RefusalTests {
    @Test("G4: a good library is ready, and says what it is")
    func good() async throws {
        try await withPluginFolder { folder in
            let report = try #require(try await folder.report(ofVariant: []))
            #expect(report.state == .ready)
            #expect(report.reason == nil)
            #expect(report.name == "Variant")
            #expect(report.version == "1.0.0")
            #expect(report.kinds == ["variant"])
            #expect(report.abi == "1.5")
        }
    }

    @Test(
        "G4: a library that is wrong in one way is refused with its own reason",
        arguments: [
            (["ENTRY=something_else"], "no entry symbol"),
            (["UNRESOLVED"], "unresolved symbol: nothing defines nobody_defines_this"),
            (["ENTRY=larder_plugin_entry_v2"], "ABI too new: it is built for version 2"),
            (["ENTRY=larder_plugin_entry_v0"], "ABI too old: it is built for version 0"),
            (["ENTRY_STATUS=LARDER_UNSUPPORTED"], "ABI too new: it cannot work with 1.5"),
            (["ENTRY_STATUS=LARDER_IO"], "its entry function returned io"),
            (["NULL_MODULE"], "null table: module"),
            (["NULL_CREATE"], "null function: module.create"),
            (["MODULE_SIZE=23"], "bad size: module says that it has 23 bytes"),
            (["MODULE_SIZE=65537"], "bad size: module says that it has 65537 bytes"),
            (["DESCRIPTOR_SIZE=0"], "bad size: descriptor"),
            (["PROCESSOR_SIZE=8"], "bad size: larder.item-policy-processor/1"),
            (["DID_PASS=0"], "null function: larder.item-policy-processor/1.did_pass_trigger"),
            (["EXPLAIN_SIZE=8"], "bad size: larder.explain/1 says that it has 8 bytes"),
            (["EXPLAIN=0"], "null function: larder.explain/1.explain"),
            (["TWICE"], "duplicate id: the library describes org.example.variant twice"),
            (["ID=\"Not An Id\""], "bad text: the id of plugin 0"),
            (
                ["ID=\"org.example.other\""],
                "id not as configured: the library has no org.example.variant; it has org.example.other"
            ),
            (["REQUIRED=\"larder.wormhole/1\""], "it requires the service larder.wormhole/1"),
            (["KIND=\"\""], "bad text: its processor's kind"),
        ] as [([String], String)])
    func wrong(defines: [String], reason: String) async throws {
        try await withPluginFolder { folder in
            let report = try #require(try await folder.report(ofVariant: defines))
            #expect(report.state == .refused)
            #expect(report.reason?.hasPrefix(reason) == true, "\(report.reason ?? "no reason")")
            #expect(folder.log.contains(reason))
        }
    }

    @Test(
        "G12: tables that a newer version has made longer are read as far as they are known",
        arguments: [
            "MODULE_SIZE=(sizeof(larder_module)+64)", "DESCRIPTOR_SIZE=(sizeof(larder_descriptor)+8)",
            "PROCESSOR_SIZE=(sizeof(larder_item_policy_processor)+8)", "EXPLAIN_SIZE=(sizeof(larder_explain)+8)",
        ])
    func longer(define: String) async throws {
        try await withPluginFolder { folder in
            let report = try #require(try await folder.report(ofVariant: [define]))
            #expect(report.state == .ready)
        }
    }

    @Test("G4, P52: what a plugin does before it is started is tried in the child process too")
    func deadlyCreate() async throws {
        try await withPluginFolder { folder in
            let crash = try #require(try await folder.report(ofVariant: ["ON_CREATE=raise(SIGABRT)"]))
            #expect(crash.reason == "opening it crashed: Aborted")
        }
    }

    @Test("G4, P52: a library that crashes, exits or hangs while it is opened ends a child process, not the host")
    func deadly() async throws {
        try await withPluginFolder { folder in
            let memory = TestMemory()
            let crash = try #require(try await folder.report(ofVariant: ["ON_OPEN=raise(SIGSEGV)"], memory: memory))
            #expect(crash.reason == "opening it crashed: Segmentation fault")
            let exit = try #require(try await folder.report(ofVariant: ["ON_OPEN=_exit(0)"], memory: memory))
            #expect(exit.reason == "opening it ended the process with exit code 0")
            #expect(await memory.known.count == 2)
            var quick = PluginFolder.probe
            quick.limit = .milliseconds(300)
            for hanging in ["pause()", "for (int i = 1; i < 64; i++) close(i); for (;;) pause()"] {
                let hang = try #require(
                    try await folder.report(ofVariant: ["ON_OPEN=\(hanging)"], memory: memory, probe: quick))
                #expect(hang.reason?.hasPrefix("opening it did not end within") == true)
            }
            // The cause may be a slow machine, so the result is not remembered and the library is tried again.
            #expect(await memory.known.count == 2)
        }
    }

    // Under the thread sanitizer, vfork(2) is fork(2): a child that cannot become a program cannot tell why.
    @Test(
        "P52: the same bytes are not tried again; a refusal that they cannot help is",
        .enabled(if: dlsym(nil, "__tsan_init") == nil))
    func remembered() async throws {
        try await withPluginFolder { folder in
            let memory = TestMemory()
            let broken = ProbeCommand(arguments: ["/nowhere/larder-probe"])
            let untried = try #require(try await folder.report(ofVariant: [], memory: memory, probe: broken))
            #expect(untried.reason == "/nowhere/larder-probe cannot be started: No such file or directory")
            #expect(try await folder.report(ofVariant: [], memory: memory)?.state == .ready)
            #expect(try await folder.report(ofVariant: [], memory: memory, probe: broken)?.state == .ready)
            _ = try await folder.report(ofVariant: ["ON_OPEN=_exit(3)"], memory: memory)
            let again = try #require(
                try await folder.report(ofVariant: ["ON_OPEN=_exit(3)"], memory: memory, probe: broken))
            #expect(again.reason == "opening it ended the process with exit code 3")
        }
    }

    @Test("P52: a file that is still the same is not read again, unless it changed just before it was tried")
    func sameFile() async throws {
        try await withPluginFolder { folder in
            let memory = TestMemory()
            let library = "\(folder.path)/v.so"
            try await CompiledPlugin.build("variant", to: library)
            /// Returns the number of questions to the memory whether a library was tried: one for the file and, if the
            /// file is not known, one for its bytes.
            func asked(_ clock: HostClock) async throws -> Int {
                let settings = PluginSettings(id: PluginFolder.variant, library: library, isolation: .inProcess)
                let before = await memory.asked
                let host = await folder.load([settings], memory: memory, clock: clock)
                #expect(await host.reports().first { $0.id == PluginFolder.variant }?.state == .ready)
                await host.shutDown()
                return await memory.asked - before
            }
            var (present, later) = (HostClock.system, HostClock.system)
            var looks = stat()
            try #require(stat(library, &looks) == 0)
            let built = Timestamp(looks.st_ctim)
            present.now = { built }
            later.now = { built + .seconds(24 * 3600) }
            #expect(try await asked(present) == 1)
            #expect(try await asked(later) == 2)
            #expect(try await asked(later) == 1)
            try #require(chmod(library, 0o700) == 0)
            #expect(try await asked(later) == 2)
            #expect(try await asked(later) == 1)
        }
    }

    @Test("G4: what is no library for this machine is not opened")
    func files() async throws {
        try await withPluginFolder { folder in
            let library = "\(folder.path)/v.so"
            try await CompiledPlugin.build("variant", to: library)
            let good = try Files.read(library)
            let patches: [(String, [Int: UInt8])] = [
                ("not a shared library: it is not an ELF file", [1: 0]),
                ("not a library for this machine: it is not a 64-bit library", [4: 1]),
                ("not a library for this machine: it is for a big-endian machine", [5: 2]),
                ("built for RISC-V, and this machine is", [18: 243, 19: 0]),
                ("an ELF file, but not a shared library", [16: 2]),
            ]
            for (reason, patch) in patches {
                var bytes = good
                for (offset, byte) in patch { bytes[offset] = byte }
                try Files.write(bytes, to: library)
                #expect(await self.reason(library, folder).hasPrefix(reason))
            }
            try Files.write("", to: library)
            #expect(await reason(library, folder) == "not a shared library: it is not an ELF file")
        }
    }

    private func reason(_ library: String, _ folder: PluginFolder) async -> String {
        let host = await folder.load([
            PluginSettings(id: PluginFolder.variant, library: library, isolation: .inProcess)
        ])
        let reason = await host.reports().first { $0.id == PluginFolder.variant }?.reason ?? ""
        await host.shutDown()
        return reason
    }

    @Test("G4: a library that others can replace is not opened")
    func unsafe() async throws {
        try await withPluginFolder { folder in
            let library = "\(folder.path)/v.so"
            try await CompiledPlugin.build("variant", to: library)
            #expect(await reason(library, folder) == "")
            chmod(library, 0o775)
            #expect(await reason(library, folder) == "\(library) is writable by others; run chmod go-w to make it safe")
            chmod(library, 0o755)
            chmod(folder.path, 0o777)
            #expect(await reason(library, folder).hasPrefix("\(folder.path) is writable by others"))
            chmod(folder.path, 0o1777)
            #expect(await reason(library, folder) == "its folder \(folder.path) is writable by others")
            chmod(folder.path, 0o755)
            // A link from a safe folder does not make the library safe.
            let parent = "\(folder.path)/open"
            try Files.makeFolder(parent)
            try Files.write(try Files.read(library), to: "\(parent)/v.so")
            chmod(parent, 0o777)
            symlink("\(parent)/v.so", "\(folder.path)/link.so")
            #expect(await reason("\(folder.path)/link.so", folder).hasPrefix("\(parent) is writable by others"))
        }
    }

    @Test("G4: a library of another user is not opened", .enabled(if: Build.isRoot, "only root gives files away"))
    func foreign() async throws {
        try await withPluginFolder { folder in
            let library = "\(folder.path)/v.so"
            try await CompiledPlugin.build("variant", to: library)
            chown(library, Build.unprivilegedUser, Build.unprivilegedUser)
            #expect(await reason(library, folder) == "\(library) belongs neither to root nor to this user")
        }
    }

    @Test("G4: a plugin that is to run in a process of its own is refused with what to do")
    func isolation() async throws {
        try await withPluginFolder { folder in
            let library = "\(folder.path)/v.so"
            try await CompiledPlugin.build("variant", to: library, defines: ["ON_OPEN=_exit(1)"])
            let expected =
                "isolation: process is not available in this build; to run the plugin inside the host, "
                + "where it can do everything that the host can do, set isolation: in-process"
            for isolation in [nil, PluginSettings.Isolation.process] {
                let host = await folder.load([
                    PluginSettings(id: PluginFolder.variant, library: library, isolation: isolation)
                ])
                let report = try #require(await host.reports().first { $0.id == PluginFolder.variant })
                #expect(report.state == .refused)
                #expect(report.isolation == .process)
                #expect(report.reason == expected)
            }
        }
    }

    @Test("G4: two plugins that process one kind of policies: the second is refused")
    func kinds() async throws {
        try await withPluginFolder { folder in
            try await CompiledPlugin.build("variant", to: "\(folder.path)/a.so")
            try await CompiledPlugin.build("variant", to: "\(folder.path)/b.so", defines: ["ID=\"org.example.b\""])
            let host = await folder.load([
                PluginSettings(id: PluginFolder.variant, library: "\(folder.path)/a.so", isolation: .inProcess),
                PluginSettings(id: PluginID("org.example.b"), library: "\(folder.path)/b.so", isolation: .inProcess),
            ])
            let reports = await host.reports()
            #expect(reports.map(\.state.rawValue).filter { $0 != "missing" }.sorted() == ["ready", "refused"])
            #expect(
                reports.contains {
                    $0.reason == "duplicate kind: org.example.b already processes variant"
                })
            await host.shutDown()
        }
    }

    @Test("G4, G6: settings that the plugin does not take are named")
    func settings() async throws {
        try await withPluginFolder { folder in
            let report = try #require(try await folder.report(ofVariant: [], settings: #"{"years": 5}"#))
            #expect(report.reason == "settings: `years` is unknown: the plugin takes no settings")
        }
    }
}
