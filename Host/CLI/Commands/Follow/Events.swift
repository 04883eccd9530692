import ArgumentParser
import Core
import Model
import Threads

struct Events: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Tell what changed in the account, from a position on.",
        discussion: """
            Tells of items, sync records, issues, event loops and plugins. For each one comes its newest state, in the order \
            of the changes; states in between are left out, so that a reader that was away for long is told each item about \
            once. Each event has a position: with --since a reader goes on from the last one that it has. It may be told \
            again of what one transaction changed, and misses nothing. If changes are not known any more, a gap is told: \
            everything is then to be listed anew, as with `larder ls -r --removed`. Changes are known for 30 days, but only the \
            last 100,000 removals, and the last 100,000 changes of all else but items. Without --since, what changes from now on is told, and first the position.
            Without --follow, the events come that are there now, and then the newest position. --follow needs a running \
            host.
            """)

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("The position behind which events are told.", valueName: "epoch:n")) var since: String?
    @Flag(help: "Go on until interrupted.") var follow = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        var position: ChangePosition?
        if let since {
            position = ChangePosition(since)
            if position == nil {
                throw Failure(
                    .usage, "--since: \(since) is no position, which is EPOCH:N", hint: "`position` of an event")
            }
        }
        let config = try global.loadConfig()
        let account = try config.oneAccount()
        if let position { try await Self.refuse(position, of: account, in: config) }
        let (name, isJSON) = (account.bookmark.name, global.isJSON)
        guard follow else {
            try await account.withKnownReader { reader throws(Failure) in
                var count = 0
                try await reader.changes(behind: position) { events in
                    let told = events.enumerated().map { index, event in
                        JSONValue(event, number: count + index + 1, account: name, time: .now())
                    }
                    count += told.count
                    await runBlocking { Self.print(told, console, isJSON: isJSON) }
                    return !console.isReaderGone
                }
            }
            return []
        }
        let following = Following(accounts: [account], config: config.file, console: console, subject: "go on")
        return try await following.untilEnded { [position] host, _, fields throws(Failure) in
            try await host.changes(behind: position, of: name, fields: fields) { told in
                await runBlocking {
                    Self.print(told, console, isJSON: isJSON)
                    console.send()
                }
            }
        }
    }

    private static func print(_ events: [JSONValue], _ console: Console, isJSON: Bool) {
        for event in events { console.print(isJSON ? event.text : EventLine(event).text) }
    }

    /// Refuses a position that is another account's.
    private static func refuse(
        _ position: ChangePosition, of account: AccountConfig, in config: Config
    ) async throws(Failure) {
        guard config.accounts.count > 1 else { return }
        func epoch(_ account: AccountConfig) async -> Int64? {
            do throws(Failure) {
                return try await account.withReader { reader throws(Failure) in try await reader.changePosition().epoch
                }
            } catch { return nil }
        }
        if await epoch(account) == position.epoch { return }
        for other in config.accounts where other.bookmark.name != account.bookmark.name {
            if await epoch(other) == position.epoch { throw .positionOfOther(position, other.bookmark.name) }
        }
    }
}
