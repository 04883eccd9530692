import ArgumentParser
import Core
import Model

struct CalendarList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the known calendars, without using the network.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let reader = try global.loadConfig().oneAccount().reader()
        let calendars = try await reader?.calendars() ?? []
        let asked = Asked(try await reader?.loops() ?? [])
        try reader?.close()
        if global.isJSON {
            for calendar in calendars { console.print(JSONValue(calendar)) }
            return []
        }
        if calendars.isEmpty { console.note(asked.words(for: "calendars")) }
        var table = Table(["name", "objects", "id"], numbers: [1])
        for calendar in calendars {
            table.add([calendar.name ?? "-", "\(calendar.objects)", calendar.key.text])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}
