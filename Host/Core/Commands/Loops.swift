import Database
import EventLoops
import ItemList
public import Model
import Vault

/// What a person asks of event loops.
public enum Loops {
    /// Polls every event loop, or the core loop and then one, until nothing is left to fetch, also those that rest since the
    /// server offered them nothing. What they want the item list to look at is left for the next scan.
    ///
    /// Answers with what was polled, as it is now, and why some failed.
    /// - Throws: `.notFound` if there is no such loop; `.badData` if there are several, or it is not at work; what connecting
    ///   throws.
    public struct Poll: AccountCommand {
        /// The loop's id, or `kind:id`; nil: all that are enabled.
        public var name: String?

        public init(named name: String?) { self.name = name }

        public func carryOut(
            for host: AccountHost
        ) async throws(Failure) -> (loops: [LoopState], failures: [Failure]) {
            try await host.failing {
                try await host.loops.enable(resting: false)
                var wanted: Set<LoopKey>?
                if let name {
                    let loop = try await host.loop(named: name)
                    guard await host.loops.enabled.contains(loop.key) else { throw Failure.notAtWork(loop) }
                    wanted = [.core, loop.key]
                }
                _ = try await ListingRetry.trying(host.clock, upTo: 1) { try await host.connect() }
                let failures = try await withThrowingTaskGroup(of: Void.self) { [wanted] group in
                    group.addTask { await host.process.watchPlugins() }
                    defer { group.cancelAll() }
                    return try await host.pollLoops(only: wanted)
                }
                let loops = try await host.database.read { try $0.loops.all() }
                    .filter { wanted?.contains($0.key) ?? true }
                return (loops.map(\.atRest), failures)
            }
        }
    }

    /// Switches an event loop on or off, for as long as nobody says otherwise; answers with the loop.
    /// - Throws: `.notFound` if there is no such loop, `.badData` if there are several.
    public struct Switch: AccountCommand {
        /// Its id, or `kind:id`.
        public var name: String
        public var isEnabled: Bool

        public init(named name: String, enabled isEnabled: Bool) { (self.name, self.isEnabled) = (name, isEnabled) }

        public func carryOut(for host: AccountHost) async throws(Failure) -> LoopState {
            try await host.failing {
                try await host.loops.enable()
                let key = try await host.loop(named: name).key
                let loop = try await host.database.write { tx in
                    try tx.loops.setEnabled(key, isEnabled)
                    return try tx.loops.loop(key)
                }
                guard let loop else { throw Failure(.notFound, "the loop \(key) has gone meanwhile") }
                try await host.loops.follow(loop)
                return loop.atRest
            }
        }
    }
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
            hint: loops.isEmpty ? "no plugin that is enabled has event loops" : "the loops are: \(names)")
    }
}

extension Failure {
    fileprivate static func notAtWork(_ loop: LoopState) -> Failure {
        loop.isEnabled
            ? Failure(
                .badData, "the loop \(loop.key) is not at work, since its plugin \(loop.plugin) is not",
                hint: "`larder plugin list` says why")
            : Failure(
                .badData, "the loop \(loop.key) is disabled", hint: "`larder loop enable \(loop.key)` switches it on")
    }
}

extension LoopState {
    /// As it is while no host runs, which would poll it again.
    fileprivate var atRest: LoopState {
        var loop = self
        loop.nextPoll = nil
        return loop
    }
}
