import Logging
import Model
import TestSupport
import Testing

@testable import PluginHost

/// Plugins with settings that are different for one account.
@Suite struct OverrideTests {
    private static let recorder = PluginID("org.example.recorder")

    /// Runs the body with the recorder, compiled and loaded.
    private func withRecorder(
        isEnabled: Bool = true, json: String = #"{"match": "path == '/all'"}"#,
        overrides: [String: PluginOverride] = [:], _ body: (PluginFolder, PluginHost) async throws -> Void
    ) async throws {
        try await withPluginFolder { folder async throws in
            let library = "\(folder.path)/recorder.so"
            try await CompiledPlugin.build("recorder", to: library)
            var settings = PluginSettings(
                id: Self.recorder, isEnabled: isEnabled, library: library, isolation: .inProcess, json: json)
            settings.overrides = overrides
            let host = await folder.load([settings])
            try await body(folder, host)
            await host.shutDown()
        }
    }

    /// Returns the condition with which the recorder runs for an account, before and after a restart; nil if it does not
    /// run.
    private func conditions(
        _ override: PluginOverride?, _ folder: PluginFolder, _ host: PluginHost
    ) async throws -> [String?]? {
        let environment = AccountEnvironment(
            name: "work", logger: folder.log.logger, overrides: override.map { [Self.recorder: $0] } ?? [:])
        guard var plugin = await host.start(environment).first else { return nil }
        var found: [String?] = []
        for _ in 1...2 {
            found.append(try await plugin.withProcessor { $0.condition(.match, .itemListUpdateCompleted) })
            await host.stop([plugin])
            guard found.count == 1 else { break }
            plugin = try #require(await host.startAgain(plugin))
        }
        return found
    }

    @Test("H3: a plugin has the settings of all accounts and, for one account, those that are different for it")
    func settings() async throws {
        try await withRecorder { folder, host async throws in
            let all: [String?] = ["path == '/all'", "path == '/all'"]
            #expect(try await conditions(nil, folder, host) == all)
            let mine = PluginOverride(json: #"{"match": "path == '/mine'"}"#)
            #expect(try await conditions(mine, folder, host) == ["path == '/mine'", "path == '/mine'"])
            #expect(try await conditions(PluginOverride(json: #"{"cleanup": "true"}"#), folder, host) == all)
            #expect(try await conditions(PluginOverride(isEnabled: false), folder, host) == nil)
            #expect(try await conditions(nil, folder, host) == all)
        }
    }

    @Test("G2 H3: a plugin that is on for one account only is opened for it, and for the others it is off")
    func enabled() async throws {
        let on = PluginOverride(isEnabled: true)
        try await withRecorder(isEnabled: false, overrides: ["work": on]) { folder, host async throws in
            #expect(try await conditions(on, folder, host)?.count == 2)
            #expect(try await conditions(nil, folder, host) == nil)
        }
        try await withRecorder(isEnabled: false) { _, host async throws in
            #expect(await host.reports().first { $0.id == Self.recorder }?.state == .disabled)
        }
    }

    @Test("H3: what is wrong for one account is found with what is wrong for all, before any account is opened")
    func wrong() async throws {
        let overrides = [
            "work": PluginOverride(json: #"{"match": 7}"#), "home": PluginOverride(json: #"{"log": "/dev/null"}"#),
            "away": PluginOverride(isEnabled: false, json: #"{"matsch": ""}"#),
        ]
        try await withRecorder(json: #"{"mach": "true"}"#, overrides: overrides) { folder, host async throws in
            let report = try #require(await host.reports().first { $0.id == Self.recorder })
            let known = ["log", "match", "cleanup"]
            #expect(report.state == .refused)
            #expect(
                report.settingProblems == [
                    SettingProblem(["mach"], .unknown(among: known)),
                    SettingProblem(["matsch"], .unknown(among: known), account: "away"),
                    SettingProblem(["match"], .wrong("must be of type string"), account: "work"),
                ])
            #expect(report.reason?.contains("`match` of the account work must be of type string") == true)
            #expect(try await conditions(nil, folder, host) == nil)
        }
    }
}
