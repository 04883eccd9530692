import ArgumentParser
import Core
import Model

struct AccountList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the accounts of the config, without using the network.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        var table = Table(["account", "url", "username", "vault", "files", "connection"])
        var failures: [Failure] = []
        for account in try global.loadConfig().namedAccounts() {
            var connection = ConnectionState.offline
            do {
                if let reader = try account.reader() {
                    connection = try await reader.connection()
                    try reader.close()
                }
            } catch {
                failures.append(error)
            }
            let bookmark = account.bookmark
            if global.isJSON {
                console.print(JSONValue(bookmark, connection))
            } else {
                table.add([
                    bookmark.name, bookmark.url, bookmark.username ?? "-", bookmark.vault, bookmark.files,
                    connection.rawValue,
                ])
            }
        }
        for line in table.lines { console.print(line) }
        return failures
    }
}

extension JSONValue {
    init(_ bookmark: Bookmark, _ connection: ConnectionState) {
        self = .object([
            "account": .string(bookmark.name), "url": .string(bookmark.url), "username": .string(bookmark.username),
            "vault": .string(bookmark.vault), "files": .string(bookmark.files),
            "connection": .string(connection.rawValue),
        ])
    }
}
