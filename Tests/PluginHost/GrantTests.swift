import Logging
import Model
import TestSupport
import Testing

@testable import PluginHost

/// Tests of the services that a plugin gets: those that it requests and that the operator does not withhold.
@Suite struct GrantTests {
    private static let keeper = PluginID("org.example.keeper")

    /// Starts the keeper with services withheld and passes it a trigger.
    /// - Returns: The report about the keeper and the messages that it wrote.
    private func run(
        withheld: Set<String>, defines: [String] = []
    ) async throws -> (report: PluginReport?, said: [String]) {
        try await withPluginFolder { folder async throws in
            let (library, script) = ("\(folder.path)/keeper.so", "\(folder.path)/script")
            try await CompiledPlugin.build("keeper", to: library, defines: defines)
            for name in [script, script + ".start"] { try Files.write("list\n", to: name) }
            let host = await folder.load([
                PluginSettings(
                    id: Self.keeper, library: library, isolation: .inProcess, json: #"{"script": "\#(script)"}"#,
                    withheld: withheld)
            ])
            let plugins = await host.start(AccountEnvironment(name: "test", logger: folder.log.logger))
            for plugin in plugins {
                try await plugin.withProcessor { _ = $0.didPassTrigger(.itemListUpdateCompleted) }
            }
            let report = await host.reports().first { $0.id == Self.keeper }
            await host.stop(plugins)
            await host.shutDown()
            let said = Files.exists(script + ".out") ? try Files.text(script + ".out") : ""
            return (report, said.split(separator: "\n").map(String.init))
        }
    }

    @Test("G11: a plugin that merely wants a service which is withheld gets null, and runs")
    func wanted() async throws {
        let with = try await run(withheld: [])
        #expect(with.report?.state == .running && with.said == ["list -7", "list -7"])
        let without = try await run(withheld: ["larder.projects/1", "larder.kv/1"])
        #expect(without.report?.state == .running && without.said == ["list withheld", "list withheld"])
    }

    @Test("G11: a plugin that requires a service which is withheld is refused before it runs, with how to grant it")
    func required() async throws {
        let required = #"REQUIRED=LARDER_EXT_CONFIG " " LARDER_EXT_PROJECTS"#
        #expect(try await run(withheld: ["larder.kv/1"], defines: [required]).said.count == 2)
        let refused = try await run(withheld: ["larder.projects/1"], defines: [required])
        #expect(refused.report?.state == .refused && refused.said == [])
        #expect(
            refused.report?.reason
                == "it requires the service larder.projects/1, which the config withholds; to grant it, remove it from "
                + "`withhold` under `plugins.org.example.keeper`")
    }

    @Test("G11: every service can be withheld")
    func every() async throws {
        #expect(HostServices.names.count == 14)
        for name in HostServices.names {
            try await withPluginFolder { folder async throws in
                let library = "\(folder.path)/v.so"
                try await CompiledPlugin.build("variant", to: library, defines: ["REQUIRED=\"\(name)\""])
                let host = await folder.load([
                    PluginSettings(id: PluginFolder.variant, library: library, isolation: .inProcess, withheld: [name])
                ])
                let report = await host.reports().first { $0.id == PluginFolder.variant }
                #expect(report?.state == .refused && report?.reason?.contains("the service \(name), which") == true)
                await host.shutDown()
            }
        }
    }
}
