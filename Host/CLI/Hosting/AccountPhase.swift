import Core
import Model

/// What the running host does with an account.
enum AccountPhase: Sendable {
    case opening
    case atWork(AccountHost)
    /// The account is opened again later, because of a failure that may pass.
    case waiting(Failure)
    case closing
    case ended

    /// The account at work; nil in the other phases.
    var host: AccountHost? { if case .atWork(let host) = self { host } else { nil } }

    var isOpening: Bool { if case .opening = self { true } else { false } }
    var hasEnded: Bool { if case .ended = self { true } else { false } }

    /// The phase in words, as one line.
    var status: String {
        switch self {
        case .opening: "opening the vault"
        case .waiting(let failure): "waits: \(Text.shortened(failure.message, to: 200))"
        case .closing: "closing the vault"
        case .ended: "ended"
        case .atWork(let host): Self.status(of: host)
        }
    }

    /// A pause in words.
    static func status(of pause: AccountPause) -> String {
        "paused" + (pause.until.map { " until \(Text.time($0))" } ?? "")
    }

    private static func status(of host: AccountHost) -> String {
        if let pause = host.pause { return Self.status(of: pause) }
        if host.isRefused { return "the server rejects the account" }
        let progress = host.progress
        let left = progress.filesTotal - progress.filesDone
        let work = left > 0 ? ", \(Text.count(left, "file")) to fetch" : ""
        return host.connectionState.rawValue + work
    }
}

extension [String: AccountPhase] {
    /// The host's state, for a service manager. The host is ready as soon as no account is being opened for the first
    /// time and at least one goes on.
    func state(isStopping: Bool) -> ServiceState {
        let isReady = !contains { $0.value.isOpening }
        let goesOn = contains { !$0.value.hasEnded }
        let status = sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.status)" }.joined(separator: "; ")
        return ServiceState(isReady: isReady && goesOn, isStopping: isStopping, status: Text.shortened(status))
    }
}
