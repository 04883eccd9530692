import Model
import Testing

@testable import larder

/// The places in the config of settings that a plugin does not take.
@Suite struct OwnSettingsTests {
    private func draft(_ text: String, environment: [String: String] = [:]) throws(Failure) -> Config {
        let head = "accounts:\n  - name: home\n    url: https://cloud.example.org\n    vault: /srv/vault\n"
        return try Config.draft(
            of: head + text, file: "/c.yaml", environment: ["HOME": "/"].merging(environment) { $1 })
    }

    private func report(_ id: String, _ problems: SettingProblem...) -> PluginReport {
        var report = PluginReport(
            id: PluginID(shortOrFull: id), name: id, state: .refused, isolation: .inProcess)
        report.settingProblems = problems
        return report
    }

    private func messages(_ config: Config, _ reports: PluginReport...) -> [String] {
        do throws(Failure) {
            _ = try config.whole(reports.flatMap(config.problems))
            return []
        } catch {
            #expect(error.kind == .config)
            return error.message.split(separator: "\n").map(String.init)
        }
    }

    @Test(
        "H3: what a plugin's schema finds wrong has the line and column of its key or value, among all other problems")
    func places() throws {
        let config = try draft(
            """
            plugins:
              org.example.archive:
                library: /a.so
                settings: { yeras: 5, "years": 0 }
              core-loop: { events: { ulr: x, "every": 1 }, interval: 7dd }
            pol: 1
            """)
        #expect(
            messages(
                config,
                report(
                    "core-loop", SettingProblem(["interval"], .wrong("is not a duration: write it like 7d")),
                    SettingProblem(["events", "ulr"], .unknown(among: ["url"])),
                    SettingProblem(["events", "every"], .wrong("must be at least 2"))),
                report(
                    "org.example.archive", SettingProblem(["yeras"], .unknown(among: ["log", "years"])),
                    SettingProblem(["years"], .wrong("must be at least 1")))) == [
                    """
                    /c.yaml:8:17: there is no setting `plugins.org.example.archive.settings.yeras`; \
                    did you mean `years`?
                    """,
                    "/c.yaml:8:36: `plugins.org.example.archive.settings.years` must be at least 1",
                    "/c.yaml:9:26: there is no setting `plugins.core-loop.events.ulr`; did you mean `url`?",
                    "/c.yaml:9:43: `plugins.core-loop.events.every` must be at least 2",
                    "/c.yaml:9:58: `plugins.core-loop.interval` is not a duration: write it like 7d",
                    "/c.yaml:10:1: there is no setting `pol`; did you mean `poll`?",
                ])
    }

    @Test("H3: what is wrong in a list has the place of the very element")
    func lists() throws {
        let config = try draft(
            """
            plugins:
              rules:
                rules:
                  - { name: a, match: favorite }
                  - name: b
                    match: sise > 1
                    kep: here
            """)
        #expect(
            messages(
                config,
                report(
                    "rules", SettingProblem(["rules", "[2]", "match"], .wrong("is wrong")),
                    SettingProblem(["rules", "[2]", "kep"], .unknown(among: ["keep"])),
                    SettingProblem(["rules", "[1]", "keep"], .wrong("is missing")),
                    SettingProblem(["rules", "[9]"], .wrong("is not there")))) == [
                    "/c.yaml:8:7: `plugins.rules.rules[9]` is not there",
                    "/c.yaml:8:9: `plugins.rules.rules[1].keep` is missing",
                    "/c.yaml:10:16: `plugins.rules.rules[2].match` is wrong",
                    "/c.yaml:11:9: there is no setting `plugins.rules.rules[2].kep`; did you mean `keep`?",
                ])
    }

    @Test("H3: what is meant may be a setting of the host's own; a plugin that takes none says so; a variable is named")
    func names() throws {
        let config = try draft(
            "plugins:\n  vacuum: { enable: false }\n  org.example.a: { settings: { enable: 1 } }\n",
            environment: ["LARDER_PLUGINS_VERSION_UPDATES_AFTER": "7dd"])
        #expect(
            messages(
                config, report("vacuum", SettingProblem(["enable"], .unknown(among: ["after"]))),
                report("org.example.a", SettingProblem(["enable"], .unknown(among: []))),
                report("version-updates", SettingProblem(["after"], .wrong("is wrong")))) == [
                    "LARDER_PLUGINS_VERSION_UPDATES_AFTER: `plugins.version-updates.after` is wrong",
                    "/c.yaml:6:13: there is no setting `plugins.vacuum.enable`; did you mean `enabled`?",
                    """
                    /c.yaml:7:32: there is no setting `plugins.org.example.a.settings.enable`; \
                    the plugin takes no settings there
                    """,
                ])
    }

    @Test(
        "H3: what plugins have and the config leaves out is shown behind what it says, and nothing of what looks like a secret"
    )
    func defaults() throws {
        let config = try draft(
            """
            plugins:
              org.example.b: { settings: { list: [{ api-token: hunter2, x: 1 }], auth: { tokens: { a: hunter2 } } } }
              org.example.a:
                settings: { events: { every: 5, url: 'https://ada:hunter2@host/' }, none: {} }
            """)
        func report(_ id: String, _ defaults: String) throws -> PluginReport {
            var report = self.report(id)
            report.settingDefaults = try JSONValue(parsing: defaults)
            return report
        }
        let shown = config.shown(with: [
            try report(
                "org.example.a", #"{"after": "7d", "events": {"kinds": ["x"], "deep": {"on": true, "n": 1.5}}}"#),
            try report("org.example.b", #"{"secret": "hunter2", "text": "true", "none": null}"#),
            try report("vacuum", #"{"after": "60s"}"#), try report("org.example.stranger", #"{"a": 1}"#),
        ])
        .drop { !$0.key.hasPrefix("plugins.org.example.b.settings.") }
        let lines = shown.map { "\($0.key.dropFirst(8)) \($0.value.text) \($0.source)" }
        #expect(
            lines.filter { $0.contains(".settings.") || $0.hasPrefix("vacuum.after") } == [
                #"org.example.b.settings.list [{"api-token":"********","x":1}] /c.yaml:6:38"#,
                #"org.example.b.settings.auth.tokens.a "********" /c.yaml:6:91"#,
                #"org.example.b.settings.secret "********" default"#, #"org.example.b.settings.text "true" default"#,
                "org.example.b.settings.none null default", "org.example.a.settings.events.every 5 /c.yaml:8:34",
                #"org.example.a.settings.events.url "https://********@host/" /c.yaml:8:42"#,
                "org.example.a.settings.none {} /c.yaml:8:79",
                #"org.example.a.settings.after "7d" default"#, #"org.example.a.settings.events.kinds ["x"] default"#,
                "org.example.a.settings.events.deep.on true default",
                "org.example.a.settings.events.deep.n 1.5 default",
                #"vacuum.after "60s" default"#,
            ])
        #expect(lines.firstIndex(of: #"org.example.b.settings.text "true" default"#) == 3, "\(lines)")
    }

    @Test(
        "H3: a plugin of which it is not clear what is meant is not opened to check its settings",
        arguments: [
            ("vacuum: { enabled: flase, after: 7dd }", false), ("vacuum: { after: 7dd, library: '${NONE}' }", false),
            ("vacuum: { after: 7dd }\n  org.larder.vacuum: { enabled: false }", false),
            ("vacuum: { after: 7dd, enabled: false, enabled: true }", false), ("vacuum: { after: 7dd }", true),
        ])
    func unclear(text: String, isChecked: Bool) throws {
        let config = try draft("plugins:\n  \(text)\npol: 1\n").checkable
        #expect(config.settings.plugins.contains { $0.id.shortName == "vacuum" && $0.isEnabled } == isChecked)
    }
}
