import Logging
import Model
import Testing

@testable import larder

/// Decodes a config. `text` stands below an account that is valid.
private func decode(
    _ text: String, account: String = "", environment: [String: String] = [:],
    request: Config.Request = Config.Request()
) throws(Failure) -> Config {
    let head = """
        accounts:
          - name: home
            url: https://cloud.example.org
            vault: /srv/vault
        \(account)
        """
    return try Config.decode(
        head + "\n" + text, file: "/etc/larder/config.yaml", request: request,
        environment: ["HOME": "/home/ada"].merging(environment) { $1 })
}

private func problems(_ text: String, account: String = "", environment: [String: String] = [:]) -> [String] {
    do {
        _ = try decode(text, account: account, environment: environment)
        return []
    } catch {
        #expect(error.kind == .config)
        return error.message.split(separator: "\n").map(String.init)
    }
}

@Suite struct ConfigDecodingTests {
    @Test("H3: a config without settings has the defaults, each with its source")
    func defaults() throws {
        let config = try decode("")
        #expect(config.settings.poll == nil)
        #expect(config.settings.walk == .seconds(300))
        #expect(config.settings.removalGuard == RemovalGuard(share: 0.5, items: 1000))
        #expect(try decode("removal-guard: off").settings.removalGuard == nil)
        #expect(
            try decode("", environment: ["LARDER_REMOVAL_GUARD_SHARE": "5%"]).settings.removalGuard
                == RemovalGuard(share: 0.05))
        #expect(try decode("", environment: ["LARDER_REMOVAL_GUARD": "off"]).settings.removalGuard == nil)
        #expect(config.settings.limits == Limits())
        #expect(
            config.settings.plugins.map(\.id.shortName)
                == [
                    "available-offline", "rules", "download-expiration", "vacuum", "version-updates", "core-loop",
                    "calendar-loop", "share-loop",
                ])
        // Rules are the one plugin that does nothing by itself, and so the one that is off.
        #expect(config.settings.plugins.filter { !$0.isEnabled }.map(\.id.shortName) == ["rules"])
        #expect(config.accounts[0].bookmark.files == "/srv/vault/files")
        #expect(config.shown.first { $0.key == "poll" }?.value == .null)
        #expect(config.shown.first { $0.key == "walk" }?.source == .builtIn)
        #expect(
            config.shown.first { $0.key == "accounts.home.url" }?.source
                == .file("/etc/larder/config.yaml", line: 3, column: 10))
    }

    @Test("H3: every setting that the file leaves out is shown with what holds for it")
    func shownDefaults() throws {
        let config = try decode(
            """
            plugins:
              org.example.a: { settings: { credential: { user: ada, key: hunter2 } } }
              vacuum: { library: ./own.so }
            """,
            account: """
                    username: ada
                    password: { file: home.password }
                    tls:
                """)
        let expected = [
            "accounts.home.password.insecure": "false", "accounts.home.tls.trust": "\"system\"",
            "accounts.home.local-changes": "\"report\"", "removal-guard.share": "\"50%\"", "limits.uploads": "\"auto\"",
            "limits.connections": "\"auto\"", "limits.downloads": "\"auto\"", "limits.actions": "10",
            "plugins.paths": "[]", "plugins.core-loop.enabled": "true", "plugins.core-loop.isolation": "\"in-process\"",
            "plugins.core-loop.withhold": "[]", "plugins.core-loop.grant": "[]",
            "plugins.core-loop.project-quota": "\"1GB\"", "plugins.core-loop.record-quota": "\"1GB\"",
            "plugins.org.example.a.isolation": "\"process\"", "plugins.vacuum.isolation": "\"process\"",
            "log.level": "\"info\"", "log.format": "\"text\"",
        ]
        for (key, value) in expected {
            let shown = config.shown.filter { $0.key == key }
            #expect(shown.map(\.value.text) == [value] && shown.first?.source == .builtIn, "\(key): \(shown)")
        }
        #expect(!config.shown.contains { $0.value.text.contains("hunter2") })
    }

    @Test("H3: every setting of the contract is read")
    func everySetting() throws {
        let config = try decode(
            """
            poll: 30s
            walk: 24h
            removal-guard: { share: 12.5%, items: 40 }
            limits: { connections: 4, downloads: 3, uploads: 2, actions: 1, bandwidth: { up: 2MB, down: 10MB }, slowest: 5KiB }
            disk: { keep-free: 2GB }
            plugins:
              paths: [~/plugins, ./more, "${BASE}/x"]
              available-offline: { enabled: false, keep-downloads: false }
              vacuum: { after: 60s, n: 3, f: 1.5, on: no, text: "7", list: [1, yes, ~] }
              org.example.archive: { library: ./lib.so, isolation: in-process, settings: { years: 5 } }
            log: { level: debug, format: json }
            """,
            account: """
                    username: ada
                    token: { env: TOKEN }
                    tls: { ca: certs/ca.pem }
                    files: ~/Cloud
                    local-changes: ignore
                    on-conflict: [{ path: "*.md", do: keep-both }, { path: /Mine, do: local }]
                """, environment: ["BASE": "/base"])
        #expect(config.settings.poll == .seconds(30))
        #expect(config.settings.walk == .seconds(86_400))
        #expect(config.settings.removalGuard == RemovalGuard(share: 0.125, items: 40))
        #expect(
            config.settings.limits
                == Limits(
                    connections: 4, downloads: 3, uploads: 2, actions: 1,
                    bandwidth: BandwidthLimits(up: 2_000_000, down: 10_000_000), slowest: 5_120))
        #expect(config.settings.keepFree == 2_000_000_000)
        #expect(config.settings.pluginPaths == ["/home/ada/plugins", "/etc/larder/more", "/base/x"])
        #expect(config.log.level == .debug && config.log.format == .json)
        #expect(
            config.accounts[0].bookmark.onConflict
                == ConflictRules([
                    .init(pattern: "*.md", answer: .keepBoth), .init(pattern: "/Mine", answer: .local),
                ]))
        let account = config.accounts[0]
        #expect(account.bookmark.trust == .authorities(file: "/etc/larder/certs/ca.pem"))
        #expect(account.bookmark.files == "/home/ada/Cloud")
        #expect(account.bookmark.localChanges == .ignore)
        let place = ConfigSource.file("/etc/larder/config.yaml", line: 6, column: 19)
        #expect(
            account.secret
                == .token(SecretSetting(keyPath: "accounts.home.token", source: .environment("TOKEN"), place: place)))
        let plugins = config.settings.plugins
        #expect(plugins.map(\.id.text).contains("org.example.archive"))
        #expect(plugins[0].isEnabled == false && plugins[0].json == #"{"keep-downloads":false}"#)
        #expect(plugins[1].json == #"{"after":"60s","n":3,"f":1.5,"on":"no","text":"7","list":[1,"yes",null]}"#)
        #expect(plugins[2].library == "/etc/larder/lib.so" && plugins[2].isolation == .inProcess)
        #expect(plugins[2].json == #"{"years":5}"#)
    }

    @Test("H3: all problems are named at once, with line, column and the nearest known key")
    func allProblems() {
        let found = problems(
            """
            pol: 10s
            walk: soon
            limits: { downloads: 0, conections: 3 }
            plugins:
              vacum: {}
              available-offline: { enabled: yes }
            log: [level]
            """)
        #expect(
            found == [
                "/etc/larder/config.yaml:6:1: there is no setting `pol`; did you mean `poll`?",
                """
                /etc/larder/config.yaml:7:7: `walk`: `soon` is not a duration; \
                write it like 500ms, 90s, 10m, 24h or 7d
                """,
                "/etc/larder/config.yaml:8:22: `limits.downloads`: `0` is neither auto nor a whole number from 1 to 256",
                "/etc/larder/config.yaml:8:25: there is no setting `limits.conections`; did you mean `connections`?",
                "/etc/larder/config.yaml:10:3: there is no plugin `vacum`; did you mean `vacuum`? "
                    + "(other plugins' ids have a dot, like org.example.archive)",
                "/etc/larder/config.yaml:11:33: `plugins.available-offline.enabled`: `yes` is neither true nor false; "
                    + "write true or false, without quotes",
                "/etc/larder/config.yaml:12:6: `log` must be a map of settings, not a list",
            ])
    }

    @Test("H3: a number of requests is auto, or the most", arguments: [("auto", Int?.none), ("1", 1), ("256", 256)])
    func requests(text: String, most: Int?) throws {
        let config = try decode("limits: { connections: \(text), downloads: \(text), uploads: \(text) }")
        #expect(config.settings.limits == Limits(connections: most, downloads: most, uploads: most))
        #expect(problems("limits: { actions: auto }").count == 1 && problems("limits: { uploads: many }").count == 1)
    }

    @Test("P9: `plugins.order` names each plugin once, by either of its names, and only those of the config")
    func order() throws {
        let config = try decode(
            "plugins: { order: [org.example.a, org.larder.vacuum, core-loop], org.example.a: {}, vacuum: {} }",
            environment: ["LARDER_PLUGINS_VACUUM_AFTER": "5s"])
        let ranks = Dictionary(config.settings.plugins.map { ($0.id.shortName, $0.rank) }) { $1 }
        #expect(ranks["org.example.a"] == 0 && ranks["vacuum"] == 1 && ranks["core-loop"] == 2)
        #expect(ranks.values.count { $0 != nil } == 3)
        #expect(config.shown.first { $0.key == "plugins.order" }?.value.text.contains("org.larder.vacuum") == true)
        #expect(try decode("").shown.first { $0.key == "plugins.order" }?.value.text == "[]")
        #expect(
            problems("plugins: { order: [vacuum, org.example.b, vacum, org.larder.vacuum] }") == [
                "/etc/larder/config.yaml:6:28: `plugins.order`: the config has no plugin `org.example.b`",
                "/etc/larder/config.yaml:6:43: `plugins.order`: the config has no plugin `vacum`; "
                    + "did you mean `vacuum`?",
                "/etc/larder/config.yaml:6:50: `plugins.order` names the plugin `org.larder.vacuum` a second time",
            ])
    }

    @Test("G11: services that a plugin does not get, and the quota of its projects, stand beside `enabled`")
    func grants() throws {
        let config = try decode(
            """
            plugins:
              vacuum: { withhold: [larder.kv/1, larder.projects/1], after: 60s }
              org.example.a: { project-quota: 16MiB, record-quota: 5MB, withhold: [] }
            """, environment: ["LARDER_PLUGINS_VACUUM_PROJECT_QUOTA": "0B"])
        let (vacuum, other) = (config.settings.plugins[0], config.settings.plugins[1])
        #expect(vacuum.withheld == ["larder.kv/1", "larder.projects/1"] && vacuum.projectQuota == 0)
        #expect(vacuum.json == #"{"after":"60s"}"#)
        #expect(other.withheld == [] && other.projectQuota == 16 << 20)
        #expect(config.settings.plugins.last?.projectQuota == 1_000_000_000)
        #expect(other.recordQuota == 5_000_000 && vacuum.recordQuota == 1_000_000_000)
        let shown = Dictionary(config.shown.map { ($0.key, $0.value.text) }) { $1 }
        #expect(shown["plugins.vacuum.withhold"] == #"["larder.kv/1","larder.projects/1"]"#)
        #expect(shown["plugins.org.example.a.project-quota"] == #""16MiB""#)
        #expect(shown["plugins.share-loop.project-quota"] == #""1GB""#)
        #expect(
            problems("plugins: { vacuum: { withhold: [larder.project/1, larder.kv/1, x], project-quota: much } }") == [
                "/etc/larder/config.yaml:6:33: `plugins.vacuum.withhold`: there is no service `larder.project/1`; "
                    + "did you mean `larder.projects/1`?",
                """
                /etc/larder/config.yaml:6:64: `plugins.vacuum.withhold`: there is no service `x`; \
                did you mean `larder.kv/1`?
                """,
                "/etc/larder/config.yaml:6:83: `plugins.vacuum.project-quota`: `much` is not a size; "
                    + "write it like 0B, 700MB, 20GB or 16GiB",
            ])
        #expect(
            problems("plugins: { vacuum: { withhold: larder.kv/1 } }").first?
                .hasSuffix("`plugins.vacuum.withhold` must be a list, not a single value") == true)
    }

    @Test(
        "G11 H3: a plugin is granted what the config names, and nothing else; no plugin is granted anything otherwise")
    func granted() throws {
        let config = try decode(
            """
            plugins:
              vacuum: { grant: [], after: 60s }
              org.example.a: { grant: [server-changes] }
            """)
        let granted = config.settings.plugins.filter { !$0.grants.isEmpty }
        #expect(granted.map(\.id.text) == ["org.example.a"] && granted.first?.grants == [.serverChanges])
        #expect(config.settings.plugins.first?.json == #"{"after":"60s"}"#)
        let shown = Dictionary(config.shown.map { ($0.key, $0.value.text) }) { $1 }
        #expect(shown["plugins.org.example.a.grant"] == #"["server-changes"]"#)
        #expect(shown["plugins.share-loop.grant"] == "[]")
        #expect(
            problems("plugins: { vacuum: { grant: [server-change] } }").first?
                .hasSuffix(
                    "`plugins.vacuum.grant`: there is no grant `server-change`; did you mean `server-changes`?")
                == true)
        #expect(
            problems("plugins: { vacuum: { grant: all } }").first?
                .hasSuffix("`plugins.vacuum.grant` must be a list, not a single value") == true)
    }

    @Test("H3: a byte order mark is no part of the config, and the places are those that an editor shows")
    func byteOrderMark() throws {
        let text = "accounts:\n- { name: home, url: 'https://cloud.example.org', vault: /v }\npoll: 3s\n"
        #expect(try Config.decode("\u{feff}" + text, file: "/c.yaml").settings.poll == .seconds(3))
        let failure = #expect(throws: Failure.self) {
            try Config.decode("\u{feff}bogus: 1\n" + text, file: "/c.yaml")
        }
        #expect(failure?.message.hasPrefix("/c.yaml:1:1: ") == true, "\(failure?.message ?? "")")
    }

    @Test("H3: a key that stands twice is a problem beside the others")
    func duplicates() {
        let found = problems("poll: 10s\nwalk: 1\npoll: 20s\nlog: { level: info, level: debug }")
        #expect(
            found == [
                "/etc/larder/config.yaml:7:7: `walk`: `1` is not a duration; write it like 500ms, 90s, 10m, 24h or 7d",
                """
                /etc/larder/config.yaml:8:1: `poll` is given a second time; \
                the first is at /etc/larder/config.yaml:6:1
                """,
                """
                /etc/larder/config.yaml:9:21: `level` is given a second time; \
                the first is at /etc/larder/config.yaml:9:8
                """,
            ])
    }

    @Test(
        "H3: what is not built says so",
        arguments: [
            ("control: { socket: auto }", "", "`control` is not available in this build; remove it"),
            ("metrics: { listen: 127.0.0.1:9464 }", "", "`metrics` is not available in this build; remove it"),
            ("", "    local-changes: upload", "this build does not upload changes in the tree"),
            ("", "    on-conflict: both", "`accounts.home.on-conflict`: `both` is not"),
            ("", "    on-conflict: { path: x }", "`accounts.home.on-conflict` must be a single value"),
            ("", "    on-conflict: [{ path: x }]", "`accounts.home.on-conflict.0.do` is missing"),
            (
                "", "    on-conflict: [{ do: local, path: '' }]",
                "`accounts.home.on-conflict.0.path` must be a single text"
            ),
            ("", "    on-conflict: [{ path: x, do: mine }]", "`accounts.home.on-conflict.0.do`: `mine` is not"),
            ("", "    on-conflict: [local]", "`accounts.home.on-conflict.0` must be a map of settings"),
        ])
    func notBuilt(text: String, account: String, message: String) {
        let found = problems(text, account: account)
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    @Test("C14: a certificate of the account's own has a key, whose file is not everybody's")
    func clientCertificates() throws {
        let folder = TemporaryFolder()
        try folder.write("key", to: "own.key", mode: 0o640)
        try folder.write("key", to: "open.key", mode: 0o644)
        let files = "certificate: certs/own.pem, key: \(folder.path)/own.key"
        let account = try decode(
            "", account: "    tls: { fingerprint: \(String(repeating: "ab", count: 32)), \(files) }"
        )
        .accounts[0].bookmark
        #expect(account.clientCertificate?.certificate == "/etc/larder/certs/own.pem")
        #expect(account.clientCertificate?.key == "\(folder.path)/own.key")
        #expect(account.trust == .fingerprint(Array(repeating: 0xab, count: 32)))
        #expect(
            problems("", account: "    tls: { certificate: own.pem }") == [
                "/etc/larder/config.yaml:5:12: `accounts.home.tls` needs both `certificate` and `key`, or neither"
            ])
        #expect(
            problems("", account: "    tls: { certificate: a, key: \(folder.path)/open.key }") == [
                "/etc/larder/config.yaml:5:33: `accounts.home.tls.key`: everybody can read \(folder.path)/open.key; "
                    + "run `chmod o= \(folder.path)/open.key`"
            ])
    }

    @Test("C10: a kind of login that does not go with the secret, or that is not there, is told with its place")
    func logins() throws {
        let password = "    username: ada\n    password: { env: P }"
        for word in ["auto", "basic", "digest"] {
            let account = try decode("", account: password + "\n    auth: \(word)").accounts[0]
            #expect(account.login.rawValue == word)
        }
        #expect(try decode("", account: "    token: { env: T }\n    auth: bearer").accounts[0].login == .bearer)
        let wrong = [
            ("    auth: negotiate", "negotiate (Kerberos) is not supported; write auto with a username and a password"),
            ("    auth: diggest", "`diggest` is not one of auto, basic, digest, bearer; did you mean `digest`?"),
            ("    auth: digest", "digest needs `username` and `password` beside it"),
            ("    token: { env: T }\n    auth: basic", "basic needs `username` and `password` beside it"),
            (password + "\n    auth: bearer", "bearer needs `token` beside it"),
        ]
        for (account, message) in wrong {
            let found = problems("", account: account)
            let line = 4 + account.split(separator: "\n").count
            #expect(found.count == 1 && found[0].contains(":\(line):11: `accounts.home.auth`: \(message)"), "\(found)")
        }
    }

    @Test("H3: environment goes over the file, a flag over both; a value of either is checked")
    func precedence() throws {
        let text = "poll: 10s\nlog: { level: error }\nplugins: { vacuum: { after: 1m } }"
        let environment = [
            "LARDER_POLL": "20s", "LARDER_LOG_LEVEL": "debug", "LARDER_PLUGINS_VACUUM_AFTER": "5m",
            "LARDER_LIMITS_DOWNLOADS": "2", "LARDER_ACCOUNT": "home",
            "LARDER_PLUGINS_AVAILABLE_OFFLINE_ENABLED": "false",
        ]
        var config = try decode(text, environment: environment)
        #expect(config.settings.poll == .seconds(20) && config.log.level == .debug)
        #expect(config.settings.limits.downloads == 2)
        #expect(config.settings.plugins[0].json == #"{"after":"5m"}"#)
        #expect(config.settings.plugins[1].isEnabled == false)
        #expect(config.accountName == "home")
        #expect(config.shown.first { $0.key == "poll" }?.source == .environment("LARDER_POLL"))
        config = try decode(text, environment: environment, request: .init(logLevel: "trace"))
        #expect(config.log.level == .trace)
        #expect(config.shown.first { $0.key == "log.level" }?.source == .flag("--log-level"))
        #expect(
            problems(text, environment: ["LARDER_POLL": "0s"]) == [
                "LARDER_POLL: `poll`: `0s` is too short; the minimum is 1s"
            ])
    }

    @Test("H3: the limits of transfers and of the disk are sizes, with defaults, and 0B sets no limit")
    func sizes() throws {
        let config = try decode("")
        #expect(config.settings.limits.slowest == 1_000 && config.settings.keepFree == nil)
        #expect(config.shown.first { $0.key == "limits.slowest" }?.value.text == "\"1kB\"")
        #expect(config.shown.first { $0.key == "disk.keep-free" }?.value.text == "null")
        let none = try decode(
            "limits: { slowest: 0B }", environment: ["LARDER_DISK_KEEP_FREE": "0B", "LARDER_LIMITS_SLOWEST": "3B"])
        #expect(none.settings.limits.slowest == 3 && none.settings.keepFree == 0)
        #expect(
            problems("limits: { slowest: none }\ndisk: { keep-free: 5%, kept: 1MB }") == [
                "/etc/larder/config.yaml:6:20: `limits.slowest`: `none` is not a size; write it like 0B, 700MB, 20GB "
                    + "or 16GiB",
                "/etc/larder/config.yaml:7:20: `disk.keep-free`: `5%` is not a size; write it like 0B, 700MB, 20GB or "
                    + "16GiB",
                "/etc/larder/config.yaml:7:24: there is no setting `disk.kept`; did you mean `keep-free`?",
            ])
    }

    @Test("H3, S37: the bandwidth is two sizes a second, none unless set; nothing at all is no limit to set")
    func bandwidth() throws {
        let none = try decode("")
        #expect(none.settings.limits.bandwidth == BandwidthLimits())
        for key in ["limits.bandwidth.up", "limits.bandwidth.down"] {
            #expect(none.shown.first { $0.key == key }?.value.text == "null")
        }
        let some = try decode(
            "limits: { bandwidth: { down: 10MB } }", environment: ["LARDER_LIMITS_BANDWIDTH_UP": "1KiB"])
        #expect(some.warnings.isEmpty)
        #expect(some.settings.limits.bandwidth == BandwidthLimits(up: 1_024, down: 10_000_000))
        #expect(some.shown.first { $0.key == "limits.bandwidth.down" }?.value.text == "\"10MB\"")
        let over = try decode(
            "limits: { bandwidth: { down: 10MB } }", environment: ["LARDER_LIMITS_BANDWIDTH_DOWN": "3kB"])
        #expect(over.settings.limits.bandwidth == BandwidthLimits(down: 3_000))
        #expect(
            problems("limits: { bandwidth: { up: 0B, down: fast, dwn: 1MB } }") == [
                "/etc/larder/config.yaml:6:28: `limits.bandwidth.up`: `0B` lets nothing through; leave it out to set no "
                    + "limit",
                "/etc/larder/config.yaml:6:38: `limits.bandwidth.down`: `fast` is not a size; write it like 0B, 700MB, "
                    + "20GB or 16GiB",
                "/etc/larder/config.yaml:6:44: there is no setting `limits.bandwidth.dwn`; did you mean `down`?",
            ])
        #expect(
            problems("limits: { bandwidth: 10MB }") == [
                "/etc/larder/config.yaml:6:22: `limits.bandwidth` must be a map of settings, not a single value"
            ])
    }

    @Test("H3: an empty variable sets nothing")
    func emptyVariables() throws {
        let config = try decode(
            "poll: 30s\nplugins: { vacuum: { after: 1m } }",
            environment: [
                "LARDER_POLL": "", "LARDER_PLUGINS_VACUUM_AFTER": "", "LARDER_REMOVAL_GUARD": "", "LARDER_X": "",
            ])
        #expect(config.settings.poll == .seconds(30) && config.settings.plugins[0].json == #"{"after":"1m"}"#)
        #expect(config.shown.filter { $0.key == "poll" }.map(\.source.description) == ["/etc/larder/config.yaml:6:7"])
        #expect(
            config.warnings.count == 1 && config.warnings[0].contains("LARDER_X sets nothing"), "\(config.warnings)")
    }

    @Test("H3: a plugin is the same by its id and by its short name, in the file and in variables")
    func fullNames() throws {
        for name in ["VACUUM", "ORG_LARDER_VACUUM"] {
            for key in ["vacuum", "org.larder.vacuum"] {
                let config = try decode(
                    "plugins: { \(key): { after: 1m } }", environment: ["LARDER_PLUGINS_\(name)_AFTER": "5m"])
                #expect(config.warnings.isEmpty && config.settings.plugins[0].json == #"{"after":"5m"}"#)
                #expect(
                    config.shown.first { $0.key == "plugins.vacuum.after" }?.source
                        == .environment("LARDER_PLUGINS_\(name)_AFTER"))
            }
        }
    }

    @Test("H3: a variable that sets nothing is told with the nearest that does, but for the tests' and the file's own")
    func strangeVariables() throws {
        let environment = [
            "LARDER_POL": "20s", "LARDER_PLUGINS_VACUUM_AFTER": "5m", "LARDER_WALK": "1m", "LARDER_ACCOUNT": "home",
            "LARDER_TEST_BIN": "/bin/larder", "LARDER_CONFIG": "/c", "LARDER_FOLDER": "/p", "LARDERS": "1",
            "LARDER_LOG_LEVELS": "debug",
        ]
        let config = try decode("plugins: { paths: ['${LARDER_FOLDER}'] }", environment: environment)
        #expect(
            config.warnings == [
                "the environment variable LARDER_LOG_LEVELS sets nothing; did you mean LARDER_LOG_LEVEL?",
                "the environment variable LARDER_POL sets nothing; did you mean LARDER_POLL?",
            ])
    }

    @Test("H3: the numbers of uploads and of other changes are settings like that of downloads")
    func limitsOfChanges() throws {
        let said = try decode("limits: { downloads: 2, uploads: 1 }", environment: ["LARDER_LIMITS_ACTIONS": "4"])
        let limits = said.settings.limits
        #expect(said.warnings.isEmpty && (limits.downloads, limits.uploads, limits.actions) == (2, 1, 4))
        #expect(throws: Failure.self) { try decode("limits: { uploads: many }") }
    }

    @Test("H3: words that YAML 1.1 takes for booleans stay words where text is meant")
    func plainWords() throws {
        let config = try decode("", account: "    username: no")
        #expect(config.accounts[0].bookmark.username == "no")
    }

    @Test(
        "H3: paths know ~ and variables, and say what they do not know",
        arguments: [
            ("~", "/home/ada"), ("~/a/./b", "/home/ada/a/b"), ("x//y", "/etc/larder/x/y"), ("/a/../b", "/a/../b"),
            ("${HOME}/${HOME}", "/home/ada/home/ada"), ("$HOME", "/etc/larder/$HOME"), ("~bob/x", nil), ("${NO}", nil),
            ("${HOME", nil), ("", nil),
        ])
    func paths(text: String, expected: String?) {
        let paths = ConfigPaths(folder: "/etc/larder", environment: ["HOME": "/home/ada"])
        #expect((try? paths.absolute(text)) == expected)
    }

    @Test("H3: text that is no config is refused with its place, and nothing crashes")
    func malformed() {
        for text in [
            "", "[]", "42", "a: [", "\"", "accounts: {}", "accounts: []", "accounts: [[]]", "accounts: [x]",
            "? [a]\n: b",
            "accounts:\n\t- x", "&a [*a]", "a: *b", "--- 1\n--- 2", "\u{0}", "accounts: [{}]", "poll: {a: b}",
            "\"\": 1\n\"\": 2", "plugins: 3", "plugins: {paths: x}", "plugins: {a.b: {settings: 3}}",
            "removal-guard: on",
            "accounts: [{name: '../x', url: 'x'}]", "%", "!!binary x", "<<: {poll: 1s}",
        ] {
            #expect(throws: Failure.self, "\(text)") { try Config.decode(text, file: "/c.yaml") }
        }
    }

    @Test("H3: values that stand for one another more and more do not use up memory")
    func aliasBomb() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 {
            let before = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(before)]\n"
        }
        #expect(throws: Failure.self) { try Config.decode(text, file: "/c.yaml") }
    }

    @Test("H3: two accounts share no name and no folder, which is told whatever else is wrong with them")
    func twoAccounts() {
        for more in ["url: https://b.example", "url: nowhere, walk: 1m"] {
            let found = problems("", account: "  - { name: home, \(more), vault: /srv/vault/files/x }")
            #expect(
                found.contains(
                    "/etc/larder/config.yaml:5:13: there are two accounts with the name `home`; "
                        + "the other is at /etc/larder/config.yaml:2:11"
                ), "\(found)")
            #expect(
                found.contains(
                    "/etc/larder/config.yaml:5:5: the accounts `home` and `home` both use "
                        + "the folder /srv/vault/files/x"),
                "\(found)")
        }
        #expect(
            problems("", account: "  - { name: a/b, url: https://b.example, vault: /srv/vault }").last
                == """
                /etc/larder/config.yaml:5:13: an account's name consists of at most 64 letters, digits, \
                `-`, `_` and `.`
                """
        )
    }

    @Test("H3: an address is checked, and one with a password in it is not repeated")
    func addresses() {
        for url in ["ftp://x", "https://", "https://a/?q", "https://a/#f", "https://ada:hunter2@a/", "https://a b/"] {
            let text = "accounts: [{ name: a, vault: /v, url: '\(url)' }]"
            do {
                _ = try Config.decode(text, file: "/c.yaml")
                Issue.record("\(url) was taken")
            } catch {
                #expect(!error.message.contains("hunter2"))
            }
        }
    }
}

@Suite struct ConfigScalarTests {
    @Test(
        "H3: durations",
        arguments: [
            ("500ms", Duration.milliseconds(500)), ("90s", .seconds(90)), ("10m", .seconds(600)),
            ("24h", .seconds(86_400)),
            ("7d", .seconds(604_800)), ("0s", .zero), ("1", nil), ("s", nil), ("1.5h", nil), ("-1s", nil), ("1 s", nil),
            ("99999999999999999d", nil), ("9999999d", nil), ("", nil), ("١s", nil),
        ])
    func durations(text: String, expected: Duration?) {
        #expect((try? ConfigScalar.duration(text)) == expected)
        if let expected { #expect((try? ConfigScalar.duration(ConfigScalar.write(expected))) == expected) }
    }

    @Test("H3: fingerprints as OpenSSL prints them")
    func fingerprints() throws {
        let digits = Array(repeating: "AB", count: 32).joined(separator: ":")
        #expect(try ConfigScalar.fingerprint("sha256 Fingerprint=" + digits) == Array(repeating: 0xab, count: 32))
        #expect(try ConfigScalar.fingerprint(digits.lowercased()) == Array(repeating: 0xab, count: 32))
        for wrong in ["", "AB", digits + ":AB", digits.dropLast() + "G"] as [String] {
            #expect(throws: Wrong.self) { try ConfigScalar.fingerprint(wrong) }
        }
    }
}
