import ArgumentParser
import Core
import Model
import Threads

struct Watch: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "List items, and then tell what changes in the list, until interrupted.",
        discussion: """
            Needs a running host. First come the items that are known, as change sets that insert them, then change sets: \
            what to take out of the list (-), what to put in (+), what moved in its order (>) and what changed (~). With \
            --json each change set is a line, with the positions that turn the old list into the new one. The list is that \
            of a folder's own contents, or, with --where, of everything below the folder that meets the condition. \
            A folder that is not there is told, and its contents come when it comes.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "A folder, whose contents are listed, or a file. Default: the root.", completion: .itemPath)
    var path = "/"
    @Option(name: .customLong("where"), help: ArgumentHelp("Only items that meet the condition.", valueName: "cond"))
    var condition: String?
    @Option(help: ArgumentHelp("Sort by a property instead of the path.", valueName: "property")) var sort: String?
    @Flag(help: "Sort in descending order.") var descending = false
    @Option(help: ArgumentHelp("Only the first items of the order, at most this many.", valueName: "n"))
    var limit: Int?
    @Flag(help: "Ask the server for the folder first, if it was not asked in the last ten seconds.") var refresh = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        var query = LiveQuery(.contents(of: try await global.itemPath(path)))
        if let condition {
            query.filters = [try CLIArgument.itemCondition(condition, of: "--where")]
            query.isRecursive = true
        }
        if let sort { query.sort = try CLIArgument.property(sort) }
        query.isDescending = descending
        if let limit, limit < 0 { throw Failure(.usage, "--limit: \(limit) is negative") }
        query.limit = limit
        let config = try global.loadConfig()
        let (account, isJSON) = (try config.oneAccount(), global.isJSON)
        let following = Following(accounts: [account], config: config.file, console: console, subject: "the query")
        return try await following.untilEnded { [query, refresh] host, _, fields throws(Failure) in
            try await host.follow(query, refreshes: refresh, of: account.bookmark.name, fields: fields) { told in
                await runBlocking {
                    if isJSON { console.print(told) } else { Self.print(told, console) }
                    console.send()
                }
            }
        }
    }

    /// Prints a change set for people: a line for each item, and one for a state that is not the usual one.
    private static func print(_ told: JSONValue, _ console: Console) {
        if told["anew"] == .bool(true) { console.print("the list begins anew:") }
        for (mark, name) in [("-", "removed"), (">", "moved"), ("+", "inserted"), ("~", "updated")] {
            guard case .array(let items)? = told["changeSet"]?[name] else { continue }
            for item in items {
                guard case .string(let path)? = item["path"] else { continue }
                let isFolder = item["type"] == .string("folder") && path != "/"
                let status = if case .string(let name)? = item["cloudStatus"] { name } else { "" }
                console.print("\(mark) \(Text.padded(status, to: 15))  \(Text.visible(path))\(isFolder ? "/" : "")")
            }
        }
        switch told["state"] {
        case .string("targetRemoved"): console.print("it is not there")
        case .string("waitingForServer"): console.print("nothing is known yet: the server was not asked")
        default: break
        }
    }
}
