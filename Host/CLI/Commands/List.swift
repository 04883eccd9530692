import ArgumentParser
import Core
import Model

struct List: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List items from the database, without using the network.",
        discussion: """
            COND is a condition such as 'type == "file" && size > 1000000'. Its properties are: \
            \(Condition.Property.allCases.map(\.rawValue).joined(separator: ", ")). All of them sort, except \
            \(Condition.Property.allCases.filter { !$0.isSortable }.map(\.rawValue).joined(separator: ", ")).
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "A folder, whose contents are listed, or a file. Default: the root.", completion: .itemPath)
    var path = "/"
    @Flag(name: [.customShort("r"), .long], help: "List everything below the folder.") var recursive = false
    @Option(name: .customLong("where"), help: ArgumentHelp("Only items that meet the condition.", valueName: "cond"))
    var condition: String?
    @Flag(help: "List removed items too; a condition that names `removed` does this without the flag.")
    var removed = false
    @Option(help: ArgumentHelp("Sort by a property instead of the path.", valueName: "property")) var sort: String?
    @Flag(help: "Sort in descending order.") var descending = false
    @Option(help: ArgumentHelp("List at most this many items.", valueName: "n")) var limit: Int?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        var query = ItemQuery(path: try await global.itemPath(path), now: .now())
        query.isRecursive = recursive
        query.includesRemoved = removed
        if let condition { query.condition = try CLIArgument.itemCondition(condition, of: "--where") }
        if let sort { query.sort = try CLIArgument.property(sort) }
        query.isDescending = descending
        if let limit, limit < 0 { throw Failure(.usage, "--limit: \(limit) is negative") }
        query.limit = limit
        let account = try global.loadConfig().oneAccount()
        let isJSON = global.isJSON
        try await account.withKnownReader { reader throws(Failure) in
            try await reader.items(query) { report in
                if isJSON {
                    console.print(JSONValue(report))
                } else {
                    let line = ItemLine(report, hasColour: console.hasColour).text
                    console.write(Array(line.utf8), endingLine: true)
                }
                return true
            }
        }
        return []
    }
}

/// An item's line for people: its cloud status, whether it is pinned, its size, its modification time and its path.
struct ItemLine {
    let text: String

    init(_ report: ItemReport, hasColour: Bool) {
        let item = report.item
        var notes: [String] = []
        if item.remoteVersion == .newer { notes.append("newer on the server") }
        if item.isRemoved { notes.append("removed") }
        notes += item.syncActivity.names
        let pin =
            switch report.availableOffline {
            case .direct: "P"
            case .indirect: "p"
            case .none: " "
            }
        let path = Text.visible(item.path.text) + (item.kind == .folder && !item.path.isRoot ? "/" : "")
        let status = Text.padded(item.cloudStatus.name, to: 15)
        let columns = [
            hasColour ? Self.coloured(status, item.cloudStatus) : status, pin,
            Text.padded(item.kind == .file ? Text.bytes(item.size) : "-", to: 7, atRight: true),
            Text.padded(Text.time(item.lastModified), to: 20), path,
        ]
        text = columns.joined(separator: "  ") + (notes.isEmpty ? "" : "  (\(notes.joined(separator: ", ")))")
    }

    private static func coloured(_ text: String, _ status: CloudStatus) -> String {
        switch status {
        case .cloudOnly: "\u{1b}[2m\(text)\u{1b}[0m"
        case .localCopy: "\u{1b}[32m\(text)\u{1b}[0m"
        case .locallyModified, .localOnly: "\u{1b}[33m\(text)\u{1b}[0m"
        }
    }
}
