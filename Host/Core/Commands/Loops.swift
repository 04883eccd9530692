import Database
import EventLoops
import ItemList
public import Model
import Vault

/// Commands of a person about event loops.
public enum Loops {
    /// Polls all event loops, or the core loop and then one named loop, until nothing is left to fetch. This includes
    /// loops that rest because the server offered them nothing. The folders that the loops want the item list to check
    /// are left for the next scan.
    /// - Throws: `.notFound` if there is no such loop; `.badData` if several loops have the id, or if the loop does not
    ///   run; the errors of connecting.
    public struct Poll: AccountCommand {
        public static let name = "loop-poll"

        /// The loop's id, or `kind:id`; nil polls all enabled loops.
        public var name: String?

        /// Creates the command.
        public init(named name: String?) { self.name = name }

        public func carryOut(for host: AccountHost) async throws(Failure) -> LoopPollOutcome {
            try await host.failing {
                try await host.work.turn {
                    try await pollAlone(host)
                } atWork: {
                    let wanted = try await wanted(host)
                    let failures = try await host.pollLoopsAtWork(only: wanted)
                    let loops = try await states(of: wanted, host)
                    return LoopPollOutcome(loops: loops, failures: failures)
                }
            }
        }

        private func wanted(_ host: AccountHost) async throws -> Set<LoopKey>? {
            guard let name else { return nil }
            let loop = try await host.loop(named: name)
            guard await host.loops.enabled.contains(loop.key) else { throw Failure.notAtWork(loop) }
            return [.core, loop.key]
        }

        private func states(of wanted: Set<LoopKey>?, _ host: AccountHost) async throws -> [LoopState] {
            try await host.database.read { try $0.loops.all() }.filter { wanted?.contains($0.key) ?? true }
        }

        private func pollAlone(_ host: AccountHost) async throws -> LoopPollOutcome {
            try await host.loops.enable(resting: false)
            let wanted = try await wanted(host)
            _ = try await ListingRetry.trying(host.clock, upTo: 1) { try await host.connect() }
            let failures = try await withThrowingTaskGroup(of: Void.self) { [wanted] group in
                group.addTask { await host.process.watchPlugins() }
                defer { group.cancelAll() }
                return try await host.pollLoops(only: wanted)
            }
            let loops = try await states(of: wanted, host)
            return LoopPollOutcome(loops: loops.map(\.atRest), failures: failures)
        }
    }

    /// Enables or disables an event loop until the next such command. The answer is the loop.
    /// - Throws: `.notFound` if there is no such loop, `.badData` if several loops have the id.
    public struct Switch: AccountCommand {
        public static let name = "loop-switch"

        /// The loop's id, or `kind:id`.
        public var name: String
        /// Whether the loop is to be enabled.
        public var isEnabled: Bool

        /// Creates the command.
        public init(named name: String, enabled isEnabled: Bool) { (self.name, self.isEnabled) = (name, isEnabled) }

        public func carryOut(for host: AccountHost) async throws(Failure) -> LoopState {
            try await host.failing {
                try await host.work.turn {
                    try await host.loops.enable()
                    return try await set(host).atRest
                } atWork: {
                    let loop = try await set(host)
                    return loop.isEnabled ? loop : loop.atRest
                }
            }
        }

        private func set(_ host: AccountHost) async throws -> LoopState {
            let key = try await host.loop(named: name).key
            let loop = try await host.database.write { tx in
                try tx.loops.setEnabled(key, isEnabled)
                return try tx.loops.loop(key)
            }
            guard let loop else { throw Failure(.notFound, "the loop \(key) no longer exists") }
            try await host.loops.follow(loop)
            return loop
        }
    }
}

/// The outcome of polling event loops.
public struct LoopPollOutcome: Codable, Sendable {
    /// The states of the polled loops after the poll.
    public var loops: [LoopState]
    /// The errors of the loops that failed.
    public var failures: [Failure]
}

extension AccountHost {
    fileprivate func loop(named name: String) async throws -> LoopState {
        let loops = try await database.read { try $0.loops.all() }
        let named = loops.filter { $0.key.id.text.hasSameBytes(as: name) }
        if named.count > 1 {
            let names = named.map(\.key.description).joined(separator: " or ")
            throw Failure(.badData, "there are \(named.count) loops with the id `\(name)`", hint: "write \(names)")
        }
        if let loop = named.first ?? loops.first(where: { $0.key.description.hasSameBytes(as: name) }) { return loop }
        let names = loops.prefix(20).map(\.key.id.text).joined(separator: ", ") + (loops.count > 20 ? ", …" : "")
        throw Failure(
            .notFound, "there is no loop `\(name)`",
            hint: loops.isEmpty ? "no enabled plugin has event loops" : "the loops are: \(names)")
    }
}

extension Failure {
    fileprivate static func notAtWork(_ loop: LoopState) -> Failure {
        loop.isEnabled
            ? Failure(
                .badData, "the loop \(loop.key) is not running, because its plugin \(loop.plugin) is not",
                hint: .listPlugins)
            : Failure(
                .badData, "the loop \(loop.key) is disabled", hint: .enableLoop(loop.key))
    }
}

extension LoopState {
    /// The loop's state without a next poll, since no host runs that would poll the loop again.
    fileprivate var atRest: LoopState {
        var loop = self
        loop.nextPoll = nil
        return loop
    }
}
