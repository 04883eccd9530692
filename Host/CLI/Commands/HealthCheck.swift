import ArgumentParser
import Model

struct HealthCheck: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Tell by the exit code whether the running host is well.",
        discussion: """
            The exit code is 0 if a host runs every account, reaches its server and is accepted there. Otherwise it is \
            the code of what is wrong: 69 if no host runs or a server is not reached, 77 if a server rejects the \
            account, 74 if the disk fails or a vault is away, 75 if the host does not answer within 10 seconds. Issues that \
            wait for a person are no matter of health, and neither is a pause.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        var failures: [Failure] = []
        let config = try global.loadConfig()
        var hosts = AskedHosts(of: config.file)
        for account in try config.namedAccounts() {
            let name = account.bookmark.name
            let problem: Failure?
            var status: String?
            do throws(Failure) {
                // The host itself looks for it twice a minute.
                try await account.refuseAwayVault()
                let state = try await hosts.state(of: account)
                status = state?.status
                problem =
                    state.map(\.problem)
                    ?? Failure(.unreachable, "\(name): no host runs", hint: "`larder run` starts one")
            } catch {
                problem = error
            }
            if global.isJSON {
                console.print(
                    .object([
                        "account": .string(name), "healthy": .bool(problem == nil), "status": .string(status),
                    ]))
            } else if problem == nil {
                console.print("\(name): \(status ?? "")")
            }
            if let problem { failures.append(problem) }
        }
        return failures
    }
}
