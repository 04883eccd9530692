import Glibc
import Model
import TestSupport
import Testing
import Threads

@testable import PluginHost

/// Tests of what happens to a library's file while a host has it open.
@Suite struct LibraryOnDiskTests {
    private func settings(_ folder: PluginFolder) -> [PluginSettings] {
        [PluginSettings(id: PluginFolder.variant, library: "\(folder.path)/v.so", isolation: .inProcess)]
    }

    /// Runs the body with a host that has the plugin open and an instance at work.
    private func withOpened(
        linking: [String] = [], _ body: (PluginFolder, PluginHost, PluginInstance) async throws -> Void
    ) async throws {
        try await withPluginFolder { folder in
            try await CompiledPlugin.build("variant", to: "\(folder.path)/v.so", linking: linking)
            let host = await folder.load(settings(folder))
            let instances = await host.start(AccountEnvironment(name: "x", logger: folder.log.logger))
            let reasons = await host.reports().map(\.reason)
            let instance = try #require(instances.first, "\(reasons)")
            try await body(folder, host, instance)
            await host.stop(instances)
            await host.shutDown()
        }
    }

    private func reason(_ host: PluginHost) async -> String? {
        await host.reports().first { $0.id == PluginFolder.variant }?.reason
    }

    @Test(
        "G42: a library that is written over, cut short, exchanged or removed goes on as it was opened, and that is told"
    )
    func changed() async throws {
        try await withOpened { folder, host, instance in
            let library = "\(folder.path)/v.so"
            #expect(await reason(host) == nil)
            try await mustRun("touch", ["-a", library])
            try await mustRun("chmod", ["0700", library])
            #expect(await reason(host) == nil)
            let said =
                "another library lies there now; the host goes on with the one that it opened until it is restarted"
            for change in [
                "printf nonsense > v.so", "truncate -s 0 v.so", "head -c 100000 /dev/zero > new; mv new v.so",
            ] {
                try await mustRun("sh", ["-c", "cd '\(folder.path)' && \(change)"])
                #expect(await reason(host) == said)
                try await instance.withProcessor { #expect($0.didPassTrigger(.timer).isOK) }
            }
            try await mustRun("rm", [library])
            #expect(await reason(host)?.hasPrefix("its library is gone; the host goes on") == true)
            try await instance.withProcessor { #expect($0.didPassTrigger(.timer).isOK) }
            #expect(await host.reports().first { $0.id == PluginFolder.variant }?.state == .running)
        }
    }

    @Test(
        "G42: a library with the same bytes is the same one, whenever it was written; one of the same size is another")
    func sameBytes() async throws {
        try await withOpened { folder, host, _ in
            let library = "\(folder.path)/v.so"
            func onDisk() async -> PluginReport.OnDisk? {
                await host.reports().first { $0.id == PluginFolder.variant }?.onDisk
            }
            await host.digestLibraries()
            try await mustRun("touch", ["-d", "2020-01-01", library])
            #expect(await onDisk() == .same)
            #expect(await reason(host) == nil)
            try await mustRun("sh", ["-c", "cp '\(library)' '\(library).new' && mv '\(library).new' '\(library)'"])
            #expect(await onDisk() == .same)
            try await mustRun("sh", ["-c", "printf x | dd of='\(library)' bs=1 seek=200 conv=notrunc 2> /dev/null"])
            #expect(await onDisk() == .other)
            let mark = try #require(await host.reports().first { $0.id == PluginFolder.variant }?.openedMark)
            #expect(LibraryMark.onDisk(library, openedWith: mark) == .other)
        }
    }

    @Test("G42: a library that needs another one beside it is opened where it lies, and says so")
    func beside() async throws {
        try await withTemporaryFolder { other in
            try Files.write("int larder_test_beside(void) { return 1; }\n", to: "\(other)/b.c")
            try await mustRun("cc", ["-shared", "-fPIC", "-o", "\(other)/libbeside.so", "\(other)/b.c"])
            let flags = ["-Wl,--no-as-needed", "-L\(other)", "-lbeside", "-Wl,-rpath,$ORIGIN"]
            try await withPluginFolder { folder in
                let library = "\(folder.path)/v.so"
                try await CompiledPlugin.build("variant", to: library, linking: flags)
                // Nothing lies beside it, so it is opened like any other, and what it needs is missing.
                #expect(try LibraryImage(of: library).neighbours == [])
                try await mustRun("cp", ["\(other)/libbeside.so", folder.path])
                let image = try LibraryImage(of: library)
                #expect(image.neighbours == ["libbeside.so"] && image.path == library)
                let host = await folder.load(settings(folder))
                let report = try #require(await host.reports().first { $0.id == PluginFolder.variant })
                #expect(report.state == .ready && report.neighbours == ["libbeside.so"], "\(report.reason ?? "")")
                await host.shutDown()
            }
        }
    }

    @Test("G42: a pipe in a library's place is no library, and nobody waits for what comes through it")
    func pipe() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/x.so"
            #expect(mkfifo(path, 0o600) == 0)
            #expect(ELFHeader.refusal(of: path)?.reason.contains("not an ELF file") == true)
            #expect(try LibraryImage(of: path).neighbours == [])
            let digest = try LibraryMark.digest(of: path)
            #expect(digest.count == 32)
        }
    }

    @Test("A library whose file is cut off anywhere is refused, and a whole one is not")
    func cutOff() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/x.so"
            try await CompiledPlugin.build("variant", to: path)
            #expect(ELFHeader.refusal(of: path) == nil)
            let whole = try Files.read(path)
            for size in [20, 63, 64, 200, 5_000, whole.count - 1] {
                try Files.write(Array(whole.prefix(size)), to: path)
                #expect(ELFHeader.refusal(of: path) == .cutOff, "\(size)")
            }
        }
    }

    @Test("G42: what is no library with a dynamic section is read without a trap")
    func nonsense() throws {
        try withTemporaryFolder { folder in
            var bytes = [UInt8](try Files.text("\(Build.root)/Package.swift").utf8.prefix(4_096))
            for start in [0, 32, 54, 56, 64] {
                for value in [UInt8(0), 1, 0x7f, 0xff] {
                    for place in start..<start + 8 { bytes[place] = value }
                    try Files.write(bytes, to: "\(folder)/x.so")
                    #expect(try LibraryImage(of: "\(folder)/x.so").neighbours == [])
                }
            }
        }
    }

    @Test(
        "A plugin's thread has the end of its id",
        arguments: [
            ("org.example.archive-rule", "le.archive-rule"), ("vacuum", "vacuum"),
            ("org.example.ä-archive-rules", "-archive-rules"),
        ])
    func thread(id: String, name: String) { #expect(SerialThread.threadName(id) == name) }
}
