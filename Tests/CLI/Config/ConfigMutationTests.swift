import Model
import TestSupport
import Testing

@testable import larder

@Suite struct ConfigMutationTests {
    private static let sample = """
        # a comment
        accounts:
          - name: home
            url: https://cloud.example.org/dav
            username: ada
            password: { file: ~/secret }
            vault: /srv/vault
            tls: { fingerprint: "\(String(repeating: "ab:", count: 31))ab" }
            local-changes: report
        poll: 30s
        walk: 5m
        limits: { connections: 8, downloads: 4 }
        log: { level: info }
        plugins:
          paths: [/usr/lib/larder]
          available-offline: { enabled: true, settings: { keep-downloads: false } }
          "org.example.\\u0061":
            library: ${HOME}/a.so
            isolation: in-process
            settings: |
              match: a
        """
    private static let words = [
        ":", "- ", "{", "}", "[", "]", "&a", "*a", "<<: *a", "!!str", "|", ">-", "\"", "'", "#", "\t", "---", "...",
        "? ", "${HOME}",
        "${", "~", "null", "0x1f", "1e999", "accounts", "plugins", "\n  ", "\n",
    ]

    @Test("H3: a config with mistakes is a config, or an error that names its places")
    func decoding() {
        var mutator = Mutator(words: Self.words)
        var configs = 0
        for _ in 0..<SeededGenerator.rounds() {
            let text = mutator.mutate(Self.sample)
            do throws(Failure) {
                _ = try Config.decode(text, file: "/etc/larder/config.yaml", environment: ["HOME": "/home/ada"])
                configs += 1
            } catch {
                #expect(error.kind == .config && !error.message.isEmpty, "\(text) LARDER_TEST_SEED=\(mutator.seed)")
            }
        }
        #expect(configs > 0 && configs < SeededGenerator.rounds())
    }

    @Test("G2: switching a plugin in a config with mistakes changes its lines alone, or is refused")
    func switching() throws {
        var mutator = Mutator(words: Self.words)
        let plugin = PluginID(shortOrFull: "available-offline")
        var changed = 0
        for _ in 0..<SeededGenerator.rounds() {
            let text = mutator.mutate(Self.sample)
            guard let off = try? PluginSwitch(plugin: plugin, isEnabled: false).apply(to: text) else { continue }
            let again = try? PluginSwitch(plugin: plugin, isEnabled: false).apply(to: off)
            #expect(again == off, "\(text) LARDER_TEST_SEED=\(mutator.seed)")
            if off != text { changed += 1 }
        }
        #expect(changed > 0)
    }
}
