import ArgumentParser
import Core
import Model

struct Status: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of the accounts.",
        discussion: """
            Works while a host is running. Without a host, shows the state in which the last one left the account. With \
            --watch it goes on until it is interrupted: a terminal is drawn again in place, other outputs get a block, or \
            with --json a line, whenever something has changed, at most once a second. A host that starts later is seen.
            """)

    @OptionGroup var global: GlobalOptions
    @Flag(help: "Go on showing what changes, with transfers, their rates and the time that is left.") var watch = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let accounts = try config.namedAccounts()
        let tried = try await triedPlugins(config, console, rememberedBy: accounts.first)
        if watch {
            try await StatusWatch(config, accounts, plugins: tried, isJSON: global.isJSON, console).run()
            return []
        }
        var failures: [Failure] = []
        let hosts = AskedHosts(of: config.file)
        for account in accounts {
            do {
                var status = try await Self.status(of: account)
                var (busyWith, phase): ([String], String?) = ([], nil)
                do throws(Failure) {
                    if let state = try await hosts.state(of: account) {
                        busyWith = state.busyWith
                        if state.phase == "opening" {
                            (status.connection, phase) = (.connecting, state.status)
                        }
                        // Only the host knows what keeps it from opening a vault for the first time.
                        if state.phase == "waiting", status.trouble == nil {
                            status.trouble = state.failure.map { AccountTrouble(message: $0.message, hint: $0.hint) }
                        }
                    }
                } catch {
                    // The database tells the rest. A host of another version does not tell what it is busy with.
                    if await hosts.hasSilent { failures.append(error) }
                }
                let plugins = tried.map { $0.asSet(for: [account], in: config).seen(by: status.plugins, config) }
                if global.isJSON {
                    console.print(JSONValue(status, busyWith: busyWith, plugins: plugins))
                } else {
                    for line in StatusText(status, phase: phase, busyWith: busyWith, plugins: plugins).lines {
                        console.print(line)
                    }
                }
            } catch {
                failures.append(error)
            }
        }
        return failures
    }

    /// Reads the state of an account from its database.
    static func status(of account: AccountConfig) async throws(Failure) -> AccountStatus {
        do throws(Failure) {
            return try await account.withReader { reader throws(Failure) in try await reader.status() }
                ?? AccountStatus(account: account.bookmark.name)
        } catch {
            // A problem that keeps the host from opening the database keeps a reader from opening it too.
            let trouble =
                AccountReader.trouble(of: account.bookmark)
                ?? account.awayVault.map { AccountTrouble(message: $0.message, hint: $0.advice) }
            guard let trouble else { throw error }
            var status = AccountStatus(account: account.bookmark.name)
            status.trouble = trouble
            return status
        }
    }
}
