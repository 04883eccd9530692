import Database
import EventLoops
import ItemList
public import Model
import Vault

/// What a person asks of event loops.
extension AccountHost {
    /// Polls every event loop, or the core loop and then one, until nothing is left to fetch, also those that rest since the
    /// server offered them nothing. What they want the item list to look at is left for the next scan.
    /// - Parameter name: the loop's id, or `kind:id`; nil: all that are enabled.
    /// - Returns: what was polled, as it is now, and why some failed.
    /// - Throws: `.notFound` if there is no such loop; `.badData` if there are several, or it is not at work; what connecting
    ///   throws.
    public func pollLoops(named name: String?) async throws(Failure) -> (loops: [LoopState], failures: [Failure]) {
        try await failing {
            try await self.loops.enable(resting: false)
            var wanted: Set<LoopKey>?
            if let name {
                let loop = try await self.loop(named: name)
                guard await self.loops.enabled.contains(loop.key) else { throw Failure.notAtWork(loop) }
                wanted = [.core, loop.key]
            }
            _ = try await Patience.trying(self.clock, upTo: 1) { try await self.connect() }
            let failures = try await withThrowingTaskGroup(of: Void.self) { [wanted] group in
                group.addTask { await self.process.watchPlugins() }
                defer { group.cancelAll() }
                return try await self.pollLoops(only: wanted)
            }
            let loops = try await self.database.read { try $0.loops.all() }
                .filter { wanted?.contains($0.key) ?? true }
            return (loops.map(\.atRest), failures)
        }
    }

    /// Switches an event loop on or off, for as long as nobody says otherwise.
    /// - Parameter name: its id, or `kind:id`.
    /// - Returns: the loop.
    /// - Throws: `.notFound` if there is no such loop, `.badData` if there are several.
    public func setLoop(named name: String, enabled isEnabled: Bool) async throws(Failure) -> LoopState {
        try await failing {
            try await self.loops.enable()
            let key = try await self.loop(named: name).key
            let loop = try await self.database.write { tx in
                try tx.loops.setEnabled(key, isEnabled)
                return try tx.loops.loop(key)
            }
            guard let loop else { throw Failure(.notFound, "the loop \(key) has gone meanwhile") }
            try await self.loops.follow(loop)
            return loop.atRest
        }
    }

    private func loop(named name: String) async throws -> LoopState {
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
