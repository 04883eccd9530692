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
        // A person wants it so.
        if paused { return nil }
        switch connection.flatMap(ConnectionState.init) {
        case .offline: return Failure(.unreachable, "\(account): the server is not reached")
        case .unavailable: return Failure(.unreachable, "\(account): the server cannot serve requests now")
        case .connecting, .online, nil: return nil
        }
    }

    /// Asks the host that runs an account.
    /// - Returns: nil if no host runs the account.
    /// - Throws: as ``RunningHost/ask(_:body:fields:hear:)``.
    static func of(_ account: AccountConfig) async throws(Failure) -> HostedAccountState? {
        guard let host = await RunningHost(of: account),
            let answer = try await host.ask(.account(account.bookmark.name))
        else { return nil }
        return try ControlCoding.decode(HostedAccountState.self, from: answer)
    }
}
