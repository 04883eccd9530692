import ArgumentParser
import Core
import Model

struct Reload: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Have the running host read its config anew.",
        discussion: """
            The host checks everything first. A config with a mistake leaves the old one at work. What a change does \
            not touch goes on undisturbed. The exit code is 69 if no host runs, \
            and 78 if the config has a mistake.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let environment = processEnvironment()
        // A config with a mistake may still tell where the accounts' vaults are. The host names the mistakes.
        let draft = try? Config.draft(global.request, environment: environment)
        var hosts = try await runningHosts(draft?.accounts ?? [])
        if hosts.isEmpty {
            hosts = await RunningHost.all(reading: try Config.path(global.request, environment: environment))
        }
        guard !hosts.isEmpty else {
            _ = try Config.load(global.request, environment: environment)
            throw Failure(.unreachable, "no host runs", hint: "`larder run` starts one, which reads the config")
        }
        return await reload(hosts) { report in
            console.print(global.isJSON ? JSONValue(report).text : report.words)
        }
    }
}

/// Has the hosts that run accounts of a config read it anew, after a command has changed it.
/// - Returns: what went wrong.
func reloadHosts(of config: Config) async -> [Failure] {
    do throws(Failure) {
        return await reload(try await runningHosts(config.accounts)) { _ in }
    } catch {
        return [error]
    }
}

private func reload(_ hosts: [RunningHost], tell: (ReloadReport) -> Void) async -> [Failure] {
    var failures: [Failure] = []
    for host in hosts {
        do throws(Failure) {
            guard let report = try await host.reload() else { continue }
            tell(report)
            for trouble in report.troubles {
                failures.append(Failure(.failed, "\(trouble.account): \(trouble.message)"))
            }
        } catch {
            failures.append(error)
        }
    }
    return failures
}

/// Returns the hosts that run the accounts, each once. A host that has ended is not among them.
func runningHosts(_ accounts: [AccountConfig]) async throws(Failure) -> [RunningHost] {
    var hosts: [RunningHost] = []
    for account in accounts {
        guard let host = await RunningHost(of: account, in: nil), !hosts.contains(host),
            try await host.ask(.host) != nil
        else {
            continue
        }
        hosts.append(host)
    }
    return hosts
}

extension RunningHost {
    /// Has the host read its config anew.
    /// - Returns: what was done; nil if the host does not run any more.
    /// - Throws: as ``ask(_:body:fields:hear:)``; `config` with all problems of the config.
    func reload() async throws(Failure) -> ReloadReport? {
        try await ask(.reload).map { bytes throws(Failure) in try ControlCoding.decode(ReloadReport.self, from: bytes) }
    }
}

extension ReloadReport {
    fileprivate var words: String { summary.isEmpty ? "nothing has changed" : summary }
}
