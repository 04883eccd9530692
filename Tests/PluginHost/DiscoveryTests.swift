import Glibc
import Model
import TestSupport
import Testing

@testable import PluginHost

@Suite struct DiscoveryTests {
    @Test(
        "G1: a plugin that comes with the host is missing when its library is, and the report says where it was looked for"
    )
    func missing() async throws {
        try await withPluginFolder { folder in
            let host = await folder.load([], builtIn: "\(folder.path)/built-in")
            let report = try #require(await host.reports().first)
            #expect(report.id == PluginID("org.larder.available-offline"))
            #expect(report.state == .missing)
            #expect(report.isolation == .inProcess)
            #expect(report.reason?.contains("\(folder.path)/built-in/libAvailableOffline.so") == true)
        }
    }

    @Test("G1: a folder that cannot be read is named with the reason beside the libraries that are missing")
    func unreadable() async throws {
        try await withPluginFolder { folder in
            let loop = "\(folder.path)/loop"
            #expect(symlink(loop, loop) == 0)
            let reports = await PluginFolder(path: loop, log: folder.log).load([
                PluginSettings(id: PluginFolder.variant),
                PluginSettings(id: PluginID("org.example.a"), library: "\(loop)/deep/a.so"),
                PluginSettings(id: PluginID("org.example.b"), library: "\(folder.path)/none/b.so"),
            ]).reports()
            let reasons = reports.filter { $0.state == .missing }.compactMap(\.reason)
            let why = "\(loop) cannot be read: Too many levels of symbolic links"
            #expect(reasons.contains("no library is there; searched in \(loop); \(why)"), "\(reasons)")
            #expect(reasons.contains("no library is there; searched in \(loop)/deep/a.so; \(why)"), "\(reasons)")
            #expect(reasons.contains("no library is there; searched in \(folder.path)/none/b.so"), "\(reasons)")
        }
    }

    @Test("G1: what the config names and nothing has is missing, with the reason")
    func nowhere() async throws {
        try await withPluginFolder { folder in
            let reports = await folder.load([
                PluginSettings(id: PluginID(shortOrFull: "teleport")), PluginSettings(id: PluginFolder.variant),
                PluginSettings(id: PluginID("org.example.a"), library: "\(folder.path)/a.so"),
            ]).reports()
            let reasons = reports.filter { $0.state == .missing }.compactMap(\.reason)
            #expect(reasons.contains("it is not in this build"))
            #expect(reasons.contains("no library is there; searched in \(folder.path)"))
            #expect(reasons.contains("no library is there; searched in \(folder.path)/a.so"))
        }
    }

    @Test(
        "G1: each plugin of Larder's is a library of its own that is loaded as built; without it exactly that is gone")
    func builtIn() async throws {
        try await withPluginFolder { folder in
            let builtIn = "\(folder.path)/built-in"
            for plugin in FirstParty.plugins {
                try Files.write(
                    try Files.read("\(Build.root)/.build/debug/\(plugin.library)"), to: "\(builtIn)/\(plugin.library)")
            }
            try await CompiledPlugin.build("variant", to: "\(folder.path)/variant.so")
            let named = [
                PluginSettings(id: PluginFolder.variant, isolation: .inProcess),
                PluginSettings(id: PluginID(shortOrFull: "rules"), isolation: .inProcess),
            ]
            let host = await folder.load(named, builtIn: builtIn)
            let reports = await host.reports()
            #expect(reports.allSatisfy { $0.state == .ready }, "\(reports)")
            #expect(
                reports.flatMap(\.kinds) == [
                    "availableOffline", "org.larder.rules", "downloadExpiration", "vacuum", "versionUpdates", "core",
                    "calendar", "share", "variant",
                ])
            await host.shutDown()
            for plugin in FirstParty.plugins {
                let library = try Files.read("\(builtIn)/\(plugin.library)")
                Files.remove("\(builtIn)/\(plugin.library)")
                let host = await folder.load(named, builtIn: builtIn)
                let missing = await host.reports().filter { $0.state != .ready }
                #expect(missing.map(\.id) == [plugin.id] && missing.map(\.state) == [.missing])
                await host.shutDown()
                try Files.write(library, to: "\(builtIn)/\(plugin.library)")
            }
        }
    }

    @Test("A plugin of Larder's that the config does not name is enabled, but for the rules")
    func unnamed() {
        let named = Discovery(builtIn: "/none", paths: [], plugins: []).named
        #expect(named.filter { !$0.settings.isEnabled }.map(\.settings.id.shortName) == ["rules"])
    }

    @Test("G1: a file with the name of a built-in plugin in another folder does not take its place")
    func impostor() async throws {
        try await withPluginFolder { folder in
            try await CompiledPlugin.build(
                "variant", to: "\(folder.path)/libAvailableOffline.so", defines: ["ID=\"org.larder.available-offline\""]
            )
            let reports = await folder.load([]).reports()
            #expect(reports.map(\.state) == FirstParty.plugins.map { _ in .missing } + [.found])
        }
    }

    @Test("G2, G4: a library in the paths that the config does not name is found, and not opened")
    func found() async throws {
        try await withPluginFolder { folder in
            try await CompiledPlugin.build("variant", to: "\(folder.path)/a.so", defines: ["ON_OPEN=_exit(1)"])
            let reports = await folder.load([]).reports()
            #expect(reports.last?.state == .found)
            #expect(reports.last?.library == "\(folder.path)/a.so")
        }
    }

    @Test("G2: a disabled plugin is not opened")
    func disabled() async throws {
        try await withPluginFolder { folder in
            let library = "\(folder.path)/a.so"
            try await CompiledPlugin.build("variant", to: library, defines: ["ON_OPEN=_exit(1)"])
            let host = await folder.load([
                PluginSettings(id: PluginFolder.variant, isEnabled: false, library: library, isolation: .inProcess)
            ])
            let report = try #require(await host.reports().first { $0.id == PluginFolder.variant })
            #expect(report.state == .disabled)
        }
    }

    @Test("G4: a plugin is found by its id; of two libraries the first wins, the other is refused as a duplicate")
    func byName() async throws {
        try await withPluginFolder { folder in
            try await CompiledPlugin.build("variant", to: "\(folder.path)/libvariant.so")
            try await CompiledPlugin.build("variant", to: "\(folder.path)/org.example.variant.so")
            let host = await folder.load([PluginSettings(id: PluginFolder.variant, isolation: .inProcess)])
            let reports = await host.reports().filter { $0.id == PluginFolder.variant }
            #expect(reports.map(\.state) == [.ready, .refused])
            #expect(
                reports.map(\.library) == ["\(folder.path)/libvariant.so", "\(folder.path)/org.example.variant.so"])
            #expect(
                reports.last?.reason
                    == "duplicate id: org.example.variant is provided by \(folder.path)/libvariant.so already")
            await host.shutDown()
        }
    }

    @Test("G4: a plugin is found in the folder of the system too, after the others; a host's own are passed over there")
    func system() async throws {
        try await withPluginFolder { folder in
            let system = "\(folder.path)/system"
            try Files.makeFolder(system)
            try await CompiledPlugin.build("variant", to: "\(system)/variant.so")
            try await CompiledPlugin.build("variant", to: "\(system)/other.so", defines: ["ON_OPEN=_exit(1)"])
            try Files.write("", to: "\(system)/libVacuum.so")
            let variant = PluginSettings(id: PluginFolder.variant, isolation: .inProcess)
            func known(_ host: PluginHost) async -> [String] {
                await host.reports().filter { $0.state != .missing }.map { "\($0.state) \($0.library)" }
            }
            // The host's own folder may be the same one.
            for builtIn in [system, "\(folder.path)/none"] {
                let host = await folder.load([variant], builtIn: builtIn, system: system)
                let own = builtIn == system ? ["refused \(system)/libVacuum.so"] : []
                #expect(await known(host) == own + ["ready \(system)/variant.so", "found \(system)/other.so"])
                await host.shutDown()
            }
            try await CompiledPlugin.build("variant", to: "\(folder.path)/variant.so")
            let host = await folder.load([variant], system: system)
            #expect(
                await known(host) == [
                    "ready \(folder.path)/variant.so", "refused \(system)/variant.so", "found \(system)/other.so",
                ])
            await host.shutDown()
            // Named in the config, it is one of the others.
            let same = await folder.load([variant], system: folder.path)
            #expect(await known(same) == ["ready \(folder.path)/variant.so"])
            await same.shutDown()
            // Others may write to it.
            Files.remove("\(folder.path)/variant.so")
            try #require(chmod(system, 0o777) == 0)
            let unsafe = await folder.load([variant], system: system)
            #expect(await known(unsafe) == ["refused \(system)/variant.so", "found \(system)/other.so"])
            await unsafe.shutDown()
        }
    }

    @Test("P9: processors come as `plugins.order` says, then in the original's order, then by id")
    func order() {
        let names = [
            "org.example.b", "vacuum", "version-updates", "download-expiration", "org.example.a", "available-offline",
        ]
        var plugins = names.map { PluginSettings(id: PluginID(shortOrFull: $0)) }
        var sorted: [String] { plugins.sorted(by: FirstParty.precedes).map(\.id.shortName) }
        #expect(
            sorted == [
                "available-offline", "download-expiration", "vacuum", "version-updates", "org.example.a",
                "org.example.b",
            ])
        (plugins[0].rank, plugins[1].rank) = (0, 1)
        #expect(
            sorted == [
                "org.example.b", "vacuum", "available-offline", "download-expiration", "version-updates",
                "org.example.a",
            ])
        let named = Discovery(builtIn: "/none", paths: [], plugins: plugins).named.map(\.settings.id.shortName)
        #expect(named.filter(names.contains) == sorted)
        #expect(FirstParty.plugin(PluginID(shortOrFull: "core-loop"))?.library == "libCoreLoop.so")
    }
}
