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
                let known = try await account.withReader { reader throws(Failure) in try await reader.connection() }
                connection = known ?? .offline
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
