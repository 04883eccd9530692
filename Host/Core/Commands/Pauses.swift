public import Model

/// Commands that hold a running account's transfers and polls, and let them go on.
public enum Pauses {
    /// Pauses the account, or changes the end of its pause: nothing is sent to its server. The pause outlasts the host.
    /// - Throws: `.badData` if the length is not above zero; `.failed` if no run is in progress that keeps the account
    ///   up to date.
    public struct Begin: AccountCommand {
        public static let name = "pause"

        /// The length of the pause in nanoseconds; nil if it lasts until a person ends it.
        public var nanoseconds: Int64?

        /// Creates the command.
        public init(for length: Duration?) { nanoseconds = length?.nanoseconds }

        public func carryOut(for host: AccountHost) async throws(Failure) -> PauseOutcome {
            if let nanoseconds, nanoseconds <= 0 {
                throw Failure(.badData, "a pause must be longer than nothing")
            }
            let length = nanoseconds.map { Duration.nanoseconds($0) }
            return try await host.failing {
                try await host.work.turn {
                    throw Failure.noRun
                } atWork: {
                    let pause = try await host.beginPause(for: length)
                    return PauseOutcome(isPaused: true, until: pause.until, changed: true)
                }
            }
        }
    }

    /// Ends the account's pause. The server is polled at once.
    /// - Throws: `.failed` if no run is in progress.
    public struct End: AccountCommand {
        public static let name = "resume"

        /// Creates the command.
        public init() {}

        public func carryOut(for host: AccountHost) async throws(Failure) -> PauseOutcome {
            try await host.failing {
                try await host.work.turn {
                    throw Failure.noRun
                } atWork: {
                    PauseOutcome(isPaused: false, until: nil, changed: try await host.resume())
                }
            }
        }
    }
}

/// Whether an account is paused after a command.
public struct PauseOutcome: Codable, Hashable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case isPaused = "paused"
        case until = "pausedUntil"
        case changed
    }

    /// Whether the account is paused.
    public var isPaused: Bool
    /// The time at which the pause ends; nil if it has no end.
    public var until: Timestamp?
    /// Whether the command changed something.
    public var changed: Bool
}

extension Failure {
    /// The failure of a command that needs a run of the account.
    static let noRun = Failure(.failed, "no run of the account is in progress", hint: .runFirst)
}
