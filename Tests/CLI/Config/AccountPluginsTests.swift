import Model
import Testing

@testable import larder

/// What an account's part of the config says of plugins.
@Suite struct AccountPluginsTests {
    private static let vacuum = PluginID(shortOrFull: "vacuum")
    private static let archive = PluginID("org.example.archive")

    /// Decodes a config with two accounts, of which the second has the lines.
    private func draft(_ lines: String, plugins: String = "{ org.example.archive: {} }") throws(Failure) -> Config {
        let text = """
            plugins: \(plugins)
            accounts:
              - { name: home, url: "https://cloud.example.org", vault: /srv/home }
              - name: work
                url: https://cloud.example.org
                vault: /srv/work
                plugins:
            \(lines)
            """
        return try Config.draft(of: text, file: "/c.yaml", environment: ["HOME": "/"])
    }

    private func problems(
        _ lines: String, plugins: String = "{ org.example.archive: {} }", _ reports: PluginReport...
    ) throws -> [String] {
        let config = try draft(lines, plugins: plugins)
        do throws(Failure) {
            _ = try config.whole(reports.flatMap(config.problems))
            return []
        } catch {
            #expect(error.kind == .config)
            return error.message.split(separator: "\n").map(String.init)
        }
    }

    @Test("H3: an account's settings of plugins go over those of all accounts, one by one, and over no other account's")
    func overlaid() throws {
        let config = try draft(
            """
                  org.larder.vacuum: { enabled: false, after: 5m }
                  core-loop: { events: { every: 7 } }
                  org.example.archive: { settings: { kinds: [c], years: 2 } }
            """,
            plugins: """
                { core-loop: { interval: 9m, events: { url: x, every: 1 } },
                  org.example.archive: { settings: { years: 5, keep: true, kinds: [a, b] } } }
                """
        ).whole()
        func settings(_ id: PluginID, _ account: Int) -> PluginSettings? {
            config.settings.plugins.first { $0.id == id }?.with(config.accounts[account].bookmark.plugins[id])
        }
        let loop = PluginID(shortOrFull: "core-loop")
        #expect(settings(Self.archive, 0)?.json == #"{"years":5,"keep":true,"kinds":["a","b"]}"#)
        #expect(settings(Self.archive, 1)?.json == #"{"years":2,"keep":true,"kinds":["c"]}"#)
        #expect(settings(loop, 0)?.json == #"{"interval":"9m","events":{"url":"x","every":1}}"#)
        #expect(settings(loop, 1)?.json == #"{"interval":"9m","events":{"url":"x","every":7}}"#)
        #expect(settings(loop, 1)?.isEnabled == true)
        #expect(settings(Self.vacuum, 0)?.isEnabled == true && settings(Self.vacuum, 1)?.isEnabled == false)
        #expect(settings(Self.vacuum, 1)?.json == #"{"after":"5m"}"# && settings(Self.vacuum, 0)?.json == "{}")
        #expect(config.isEnabled(Self.vacuum, for: config.accounts[0]))
        #expect(!config.isEnabled(Self.vacuum, for: config.accounts[1]))

        let shown = config.shown.map { "\($0.key) \($0.value.text) \($0.source)" }
        for line in [
            "accounts.work.plugins.vacuum.enabled false /c.yaml:9:37",
            #"accounts.work.plugins.vacuum.after "5m" /c.yaml:9:51"#,
            "accounts.work.plugins.core-loop.events.every 7 /c.yaml:10:37",
            #"accounts.work.plugins.org.example.archive.settings.kinds ["c"] /c.yaml:11:49"#,
        ] {
            #expect(shown.contains(line), "\(line) in \(shown.filter { $0.contains(".plugins.") })")
        }
        #expect(shown.count { $0.hasPrefix("accounts.work.plugins.") } == 5)
        #expect(!shown.contains { $0.hasPrefix("accounts.home.plugins.") })
        #expect(config.enabledSettings(of: Self.vacuum).map(\.value) == [.bool(true), .bool(false)])
        // The digest of the account's part tells them from each other.
        #expect(try draft("      {}").accounts[1].digest != config.accounts[1].digest)
        #expect(try draft("      {}").accounts[1].bookmark.plugins.isEmpty)
    }

    @Test("H3: what holds for all accounts is no setting of one, and a plugin of one account is one of the config")
    func refused() throws {
        #expect(
            try problems(
                """
                      order: [vacuum]
                      vacuum: { library: /a.so, after: 5m, enabled: no }
                      vacum: {}
                      org.example.archiv: {}
                      org.other.thing: { enabled: true }
                      org.example.archive: { grant: [server-changes], seting: {}, settings: 3 }
                      org.larder.vacuum: { after: 6m }
                      available-offline: off
                """) == [
                    "/c.yaml:8:7: `accounts.work.plugins.order` cannot be different for one account; "
                        + "set `plugins.order`, which holds for all accounts",
                    "/c.yaml:9:17: `accounts.work.plugins.vacuum.library` cannot be different for one account; "
                        + "set `plugins.vacuum.library`, which holds for all accounts",
                    "/c.yaml:9:53: `accounts.work.plugins.vacuum.enabled`: `no` is neither true nor false; "
                        + "write true or false, without quotes",
                    "/c.yaml:10:7: `accounts.work.plugins`: the config has no plugin `vacum`; did you mean `vacuum`?",
                    "/c.yaml:11:7: `accounts.work.plugins`: the config has no plugin `org.example.archiv`; "
                        + "did you mean `org.example.archive`?",
                    "/c.yaml:12:7: `accounts.work.plugins`: the config has no plugin `org.other.thing`; "
                        + "a plugin that did not come with Larder is named in `plugins`",
                    "/c.yaml:13:30: `accounts.work.plugins.org.example.archive.grant` cannot be different for one account; "
                        + "set `plugins.org.example.archive.grant`, which holds for all accounts",
                    "/c.yaml:13:55: there is no setting `accounts.work.plugins.org.example.archive.seting`; "
                        + "did you mean `settings`?",
                    "/c.yaml:13:77: `accounts.work.plugins.org.example.archive.settings` must be a map, not a single value",
                    "/c.yaml:14:7: `accounts.work.plugins`: the plugin `vacuum` is given a second time",
                    "/c.yaml:15:26: `accounts.work.plugins.available-offline` must be a map of settings, "
                        + "not a single value",
                ])
        for key in PluginsConfig.sharedKeys {
            let found = try problems("      vacuum: { \(key): 1 }")
            #expect(found.count == 1 && found[0].contains("set `plugins.vacuum.\(key)`"), "\(found)")
        }
    }

    @Test("H3: what a plugin's schema finds wrong in an account's part has its place there")
    func places() throws {
        var report = PluginReport(id: Self.vacuum, name: "", state: .refused, isolation: .inProcess)
        report.settingProblems = [
            SettingProblem(["after"], .wrong("is not a duration")),
            SettingProblem(["after"], .wrong("is no duration"), account: "work"),
            SettingProblem(["enable"], .unknown(among: ["after"]), account: "work"),
            SettingProblem(["after"], .wrong("is nobody's"), account: "nobody"),
        ]
        #expect(
            try problems("      vacuum: { after: 5x, enable: true }", plugins: "{ vacuum: { after: 7dd } }", report)
                == [
                    "/c.yaml:1:29: `plugins.vacuum.after` is not a duration",
                    "/c.yaml:8:24: `accounts.work.plugins.vacuum.after` is no duration",
                    "/c.yaml:8:28: there is no setting `accounts.work.plugins.vacuum.enable`; did you mean `enabled`?",
                ])
    }

    @Test("H3: a plugin is opened to check what only an account says of it, unless it is not clear what is meant")
    func checked() throws {
        func isOpened(_ lines: String, plugins: String = "{}") throws -> Bool {
            try draft(lines + "\npol: 1", plugins: plugins).checkable.settings.plugins
                .contains { $0.id == Self.vacuum && $0.isEnabledAnywhere }
        }
        #expect(try isOpened("      vacuum: { after: 7dd }"))
        #expect(try isOpened("      vacuum: { after: 7dd, enabled: true }", plugins: "{ vacuum: { enabled: false } }"))
        #expect(try !isOpened("      vacuum: { after: 7dd }", plugins: "{ vacuum: { enabled: false } }"))
        #expect(try !isOpened("      vacuum: { after: 7dd, enabled: maybe }"))
        #expect(try !isOpened("      vacuum: { enabled: true }"))
        #expect(try !isOpened("      vacuum: { after: 7dd }", plugins: "{ vacuum: { enabled: maybe } }"))
    }
}
