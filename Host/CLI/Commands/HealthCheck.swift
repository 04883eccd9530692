import ArgumentParser
import Model

struct HealthCheck: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Tell by the exit code whether the running host is well.",
        discussion: """
            The exit code is 0 if a host runs every account, reaches its server and is accepted there. Otherwise it is \
            the code of what is wrong: 69 if no host runs or a server is not reached, 77 if a server rejects the \
            account, 74 if the disk fails or a vault is away, 75 if the host does not answer within 10 seconds, or a host \
            has the vault for an account of another name. Issues that wait for a person are no matter of health, and neither is a pause.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let healths = await Self.healths(of: try config.namedAccounts(), AskedHosts(of: config.file))
        for health in healths {
            if global.isJSON {
                console.print(
                    .object([
                        "account": .string(health.account), "healthy": .bool(health.problem == nil),
                        "status": .string(health.status),
                    ]))
            } else if health.problem == nil {
                console.print("\(health.account): \(health.status ?? "")")
            }
        }
        return healths.compactMap(\.problem)
    }

    /// How an account is doing.
    struct Health: Sendable {
        var account: String
        /// What its host says; nil if none says anything.
        var status: String?
        var problem: Failure?
    }

    /// The most accounts that are asked for at a time.
    private static let mostAtOnce = 16

    /// Asks for accounts, several at a time.
    /// - Returns: their healths, in the order of the accounts.
    static func healths(of accounts: [AccountConfig], _ hosts: AskedHosts) async -> [Health] {
        await withTaskGroup(of: (Int, Health).self) { group in
            var healths: [Health?] = Array(repeating: nil, count: accounts.count)
            for (index, account) in accounts.enumerated() {
                if index >= mostAtOnce, let (done, health) = await group.next() { healths[done] = health }
                group.addTask { (index, await health(of: account, hosts)) }
            }
            for await (done, health) in group { healths[done] = health }
            return healths.compactMap(\.self)
        }
    }

    private static func health(of account: AccountConfig, _ hosts: AskedHosts) async -> Health {
        var health = Health(account: account.bookmark.name)
        do throws(Failure) {
            // The host itself looks for it twice a minute.
            try await account.refuseAwayVault()
            let state = try await hosts.state(of: account)
            health.status = state?.status
            health.problem =
                state.map(\.problem)
                ?? Failure(.unreachable, "\(health.account): no host runs", hint: "`larder run` starts one")
        } catch {
            health.problem = error
        }
        return health
    }
}
