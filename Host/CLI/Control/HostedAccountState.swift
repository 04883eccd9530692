import Core
import Model

/// What a running host says of one of its accounts over the control socket.
struct HostedAccountState: Decodable {
    /// A failure as the host names it.
    struct Problem: Decodable {
        var code: String
        var message: String
        var hint: String?
    }

    var account: String
    var phase: String
    var status: String
    var connection: String?
    var rejected: Bool
    var paused: Bool
    var busyWith: [String]
    var failure: Problem?

    /// What is wrong with the account; nil if nothing is.
    var problem: Failure? {
        if let failure {
            let kind = Failure.Kind.allCases.first { $0.code == failure.code } ?? .failed
            return Failure(kind, "\(account): \(failure.message)", hint: failure.hint)
        }
        if phase == "ended" { return Failure(.failed, "\(account): the account has ended", hint: "see the host's log") }
        if rejected {
            return Failure(
                .denied, "\(account): the server rejects the account", hint: "`larder status` shows why, and since when"
            )
        }
        if phase == "opening" { return Failure(.unreachable, "\(account): the account is being opened") }
        // A person wants it so.
        if paused { return nil }
        switch connection.flatMap(ConnectionState.init) {
        case .offline: return Failure(.unreachable, "\(account): the server is not reached")
        case .unavailable: return Failure(.unreachable, "\(account): the server cannot serve requests now")
        case .connecting, .online, nil: return nil
        }
    }
}

/// The running hosts, asked for the states of accounts, also of several at a time. A host that did not answer is not
/// waited for again.
actor AskedHosts {
    private let config: String
    private let clock: HostClock
    private var silent: Set<RunningHost> = []
    /// The search for the hosts that have read the config; nil before it began.
    private var known: Task<[RunningHost], Never>?

    /// Whether a host did not answer.
    var hasSilent: Bool { !silent.isEmpty }

    /// - Parameter config: the absolute path of the config.
    init(of config: String, clock: HostClock = .system) { (self.config, self.clock) = (config, clock) }

    /// Asks the host that runs an account: the one that its vault names, else one that has read the config, which may not
    /// have the vault open yet or any more.
    /// - Returns: nil if no host runs the account.
    /// - Throws: as ``RunningHost/ask(_:body:fields:clock:hear:)``; `vaultLocked` if the host does not answer in time, has
    ///   lost its socket, or has the vault for an account of another name.
    func state(of account: AccountConfig) async throws(Failure) -> HostedAccountState? {
        if let host = await RunningHost(of: account, in: nil) {
            do throws(Failure) {
                if let state = try await state(of: account, in: host) { return state }
            } catch {
                guard error.kind == .notFound else { throw error }
                throw Failure(
                    .vaultLocked, "\(account.bookmark.name): the vault is in use, and \(error.message)",
                    hint: error.advice)
            }
        }
        for host in await hostsOfConfig() {
            do throws(Failure) {
                if let state = try await state(of: account, in: host) { return state }
            } catch {
                guard error.kind == .notFound else { throw error }
            }
        }
        if let lost = await RunningHost.lost(account) { throw lost }
        return nil
    }

    private func hostsOfConfig() async -> [RunningHost] {
        let search = known ?? Task { [config, clock] in await RunningHost.all(reading: config, clock: clock) }
        known = search
        return await search.value
    }

    private func state(
        of account: AccountConfig, in host: RunningHost
    ) async throws(Failure) -> HostedAccountState? {
        let name = account.bookmark.name
        if !silent.contains(host) {
            if let result = await host.answer(to: .account(name), clock: clock) {
                return try result.get().map { bytes throws(Failure) in
                    try ControlCoding.decode(HostedAccountState.self, from: bytes)
                }
            }
            silent.insert(host)
        }
        let silent = ControlClient.silent
        throw Failure(silent.kind, "\(name): \(silent.message)", hint: silent.hint)
    }
}
