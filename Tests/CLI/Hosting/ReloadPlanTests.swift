import Model
import Testing

@testable import larder

@Suite struct ReloadPlanTests {
    private func account(_ name: String, vault: String? = nil, user: String = "ada", line: Int = 1) -> AccountConfig {
        let vault = vault ?? "/vaults/\(name)"
        let place = ConfigSource.file("/config", line: line, column: 1)
        let secret = SecretSetting(keyPath: "accounts.\(name).password", source: .file("/secret"), place: place)
        return AccountConfig(
            bookmark: Bookmark(
                name: name, url: "https://example.org", username: user, vault: vault, files: "\(vault)/files"),
            secret: .password(secret))
    }

    @Test("H8: accounts go on, restart, start and end, each as its own part of the config changed")
    func changes() {
        let running = [account("a"), account("b"), account("c")]
        let wanted = [account("d"), account("b", user: "bob"), account("a", line: 9)]
        let plan = ReloadPlan(running, wanted, isNewGeneration: false)
        #expect(plan.steps.map(\.change) == [.start, .restart, .none])
        #expect(plan.steps.map(\.config.bookmark.name) == ["d", "b", "a"])
        #expect(plan.ends == ["c"] && plan.needRestart.isEmpty)
        let all = ReloadPlan(running, wanted, isNewGeneration: true)
        #expect(all.steps.map(\.change) == [.start, .restart, .restart])
    }

    @Test("H8: an account whose folders changed goes on whole as it was, and no other gets folders that are in use")
    func folders() {
        let running = [account("a"), account("b")]
        let wanted = [
            account("a", vault: "/elsewhere", user: "bob"), account("b", vault: "/vaults/a/x"),
            account("c", vault: "/vaults/b"),
        ]
        let plan = ReloadPlan(running, wanted, isNewGeneration: false)
        #expect(plan.steps.map(\.config) == running && plan.steps.map(\.change) == [.none, .none])
        #expect(
            plan.needRestart == [
                "accounts.a.vault", "accounts.a.files", "accounts.a", "accounts.b.vault", "accounts.b.files",
                "accounts.c",
            ])
        let all = ReloadPlan(running, wanted, isNewGeneration: true)
        #expect(all.steps.map(\.config) == running && all.steps.map(\.change) == [.restart, .restart])
    }

    @Test("H8: swapped names of accounts mix no server's files with another's, in whatever order they stand")
    func swapped() {
        func of(_ name: String, _ server: String) -> AccountConfig {
            var config = account(name, vault: "/vaults/\(server)", user: server)
            config.bookmark.url = "https://\(server).example.org"
            config.digest = "\(name) \(server)"
            return config
        }
        let running = [of("t", "a"), of("u", "b"), of("v", "c")]
        for wanted in [
            [of("t", "b"), of("u", "a"), of("v", "c")], [of("u", "a"), of("t", "b"), of("v", "c")],
            [of("t", "b"), of("u", "c"), of("v", "a")], [of("t", "c"), of("w", "a"), of("u", "b")],
        ] {
            let plan = ReloadPlan(running, wanted, isNewGeneration: false)
            #expect(plan.steps.allSatisfy { running.contains($0.config) && $0.change == .none }, "\(plan)")
            #expect(plan.needRestart.contains("accounts.t") && plan.needRestart.contains("accounts.t.vault"))
        }
    }

    @Test("H8: what is different for one account in plugins' settings restarts this account alone")
    func overrides() {
        let id = PluginID(shortOrFull: "vacuum")
        func with(_ override: PluginOverride) -> AccountConfig {
            var config = account("b")
            config.bookmark.plugins[id] = override
            return config
        }
        let versions = [
            account("b"), with(PluginOverride(json: #"{"after":"5m"}"#)),
            with(PluginOverride(json: #"{"after":"6m"}"#)),
            with(PluginOverride(isEnabled: false)),
        ]
        for old in versions {
            for new in versions {
                let plan = ReloadPlan([account("a"), old], [account("a"), new], isNewGeneration: false)
                #expect(plan.steps.map(\.change) == [.none, old == new ? .none : .restart])
            }
        }
        // The settings that accounts share are the same, unless a library is opened for it.
        let off = PluginSettings(id: PluginID("org.example.a"), isEnabled: false)
        let shared = Settings(plugins: [PluginSettings(id: id), off])
        var other = shared
        other.plugins[0].overrides = ["b": PluginOverride(isEnabled: false, json: #"{"after":"5m"}"#)]
        other.plugins[1].overrides = ["b": PluginOverride(isEnabled: false)]
        #expect(other.ofAccounts == shared.ofAccounts)
        other.plugins[1].overrides = ["b": PluginOverride(isEnabled: true)]
        #expect(other.ofAccounts != shared.ofAccounts)
    }

    @Test("H8: settings that concern no account, and those of plugins that are off, make no difference to accounts")
    func settings() {
        func plugin(_ id: String, isEnabled: Bool = true, json: String = "{}") -> PluginSettings {
            PluginSettings(id: PluginID(shortOrFull: id), isEnabled: isEnabled, json: json)
        }
        let before = Settings(plugins: [plugin("vacuum"), plugin("core-loop", isEnabled: false), plugin("archive")])
        var same = before
        same.shutdownTimeout = .seconds(3)
        same.limits.bandwidth = BandwidthLimits(up: 1, down: 1)
        same.pluginPaths = ["/plugins"]
        same.plugins = [plugin("archive"), plugin("vacuum"), plugin("core-loop", isEnabled: false, json: "{\"a\": 1}")]
        #expect(same.ofAccounts == before.ofAccounts)
        same.plugins[2].isEnabled = true
        #expect(same.ofAccounts != before.ofAccounts)
        for change: (inout Settings) -> Void in [
            { $0.poll = .seconds(3) }, { $0.limits.downloads = 1 }, { $0.keepFree = 1 },
            { $0.plugins[0].json = "{\"after\": 1}" }, { $0.plugins[0].isEnabled = false },
            { $0.plugins[2].rank = 0 },
        ] {
            var other = before
            change(&other)
            #expect(other.ofAccounts != before.ofAccounts)
        }
    }
}
