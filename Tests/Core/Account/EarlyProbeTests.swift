import Core
import Model
import TestSupport
import Testing

@Suite struct EarlyProbeTests {
    @Test(
        "Libraries that were tried before an account was open are not tried again, by any of the accounts opened then")
    func remembered() async throws {
        try await withTemporaryFolder { folder in
            let log = CollectedLog()
            let accounts = ["a", "b"].map {
                Bookmark(
                    name: $0, url: "http://127.0.0.1:1", username: nil, vault: "\(folder)/\($0)",
                    files: "\(folder)/\($0)/files")
            }
            func process(probe: [String]) -> HostProcess {
                HostProcess(
                    settings: Settings(),
                    options: HostOptions(
                        logger: log.logger, builtInPlugins: "\(Build.root)/.build/debug", probe: probe))
            }
            // The plugin with the rules of a config is off without any.
            func isOn(_ report: PluginReport) -> Bool { report.state != .disabled }
            let first = process(probe: [try Build.larder, "__probe"])
            #expect(await first.pluginReports(before: accounts[0]).filter(isOn).allSatisfy { $0.state == .ready })
            for account in accounts { try await first.open(account, credentials: { AccountSecret(.none) }).close() }
            try await first.close()

            for account in accounts {
                let second = process(probe: ["/bin/false"])
                #expect(
                    await second.pluginReports(before: account).filter(isOn).allSatisfy { $0.state == .ready },
                    "\(log.messages)")
                try await second.close()
            }
            let third = process(probe: ["/bin/false"])
            #expect(await third.pluginReports().filter(isOn).allSatisfy { $0.state == .refused })
            try await third.close()
        }
    }
}
